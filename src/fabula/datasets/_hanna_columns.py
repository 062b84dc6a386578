"""Columns of HANNA's metric file: what each says of whom, and which way is better."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fabula.core.card import Direction
from fabula.core.dataset import ScorerCard
from fabula.core.errors import InputError, closest
from fabula.datasets._lines import TextFile
from fabula.datasets._release import field, file_rows, rating
from fabula.datasets._rows import Row

# In the order of the stories' ids: 96 of each.
SYSTEMS = tuple(
    "Human|BertGeneration|CTRL|GPT|GPT-2 (tag)|GPT-2|RoBERTa|XLNet|Fusion|HINT|TD-VAE".split("|")
)
ITEMS = 96
CRITERIA = {
    "RE": "relevance",
    "CH": "coherence",
    "EM": "empathy",
    "SU": "surprise",
    "EG": "engagement",
    "CX": "complexity",
}
SCALE = (1.0, 5.0)
_FAMILIES = {"§": "string", "ε": "embedding", "Δ": "model"}
_PARTS = ("Recall", "Precision", "F-Score")
_ROUGES = [f"ROUGE-{kind} {part}" for kind in "1 2 3 4 L W-1.2 S* SU*".split() for part in _PARTS]


def _cards(
    glyphs: str, direction: Direction, uses: str, *names: str
) -> Iterator[tuple[str, ScorerCard]]:
    for name in names:
        yield name, ScorerCard(_FAMILIES[glyphs[1]], direction, (uses,) if uses else ())


METRICS: Mapping[str, ScorerCard] = dict(
    [
        *_cards("Ξ§", "higher", "reference", "BLEU", *_ROUGES, "METEOR", "chrF", "CIDEr"),
        *_cards("Ξε", "higher", "reference", *(f"ROUGE-WE-3 {part}" for part in _PARTS)),
        *_cards("Ξε", "higher", "reference", "BERTScore Precision", "BERTScore Recall"),
        *_cards("Ξε", "higher", "reference", "BERTScore F1", "MoverScore"),
        *_cards("Ξε", "lower", "reference", "DepthScore", "BaryScore-W"),
        *_cards("Ξε", "lower", "reference", "BaryScore-SD-10", "BaryScore-SD-5", "BaryScore-SD-1"),
        *_cards("Ξε", "lower", "reference", "BaryScore-SD-0.5", "BaryScore-SD-0.1"),
        *_cards("Ξε", "lower", "reference", "BaryScore-SD-0.01", "BaryScore-SD-0.001"),
        *_cards("ΞΔ", "higher", "reference", "S3-Pyramid", "S3-Responsiveness", "SummaQA"),
        *_cards("ΞΔ", "lower", "reference", "InfoLM-FisherRao", "InfoLM-R-FisherRao"),
        *_cards("ΞΔ", "lower", "reference", "InfoLM-Sim-FisherRao"),
        *_cards("ΞΔ", "higher", "reference", "BARTScore-SH", "BARTScore-HS"),
        *_cards("ΞΔ", "higher", "reference", "SUPERT-Golden", "BLANC-Golden"),
        *_cards("¤§", "descriptive", "prompt", "Coverage", "Density", "Compression"),
        *_cards("¤§", "descriptive", "", "Text length"),
        *_cards("¤§", "higher", "prompt", "Novelty-1", "Novelty-2", "Novelty-3"),
        *_cards("¤§", "lower", "", "Repetition-1", "Repetition-2", "Repetition-3"),
        *_cards("¤ε", "higher", "prompt", "SUPERT-PS", "SUPERT-SS"),
        *_cards("¤Δ", "higher", "prompt", "BLANC-Tune-PS", "BLANC-Help-PS"),
        *_cards("¤Δ", "higher", "prompt", "BLANC-Tune-SS", "BLANC-Help-SS"),
        *_cards("¤Δ", "higher", "prompt", "BARTScore-PS", "BARTScore-SP"),
    ]
)
JUDGE = ScorerCard("judge", "higher", ("prompt",))
_GLYPHS = {a + b for a in "Ξ¤" for b in _FAMILIES}


@dataclass(frozen=True)
class Column:
    """Whose opinion a column holds, and on what: a score, a person's rating or their mean."""

    kind: Literal["score", "rating", "mean"]
    scorer: str
    aspect: str = ""


Values = dict[Column, dict[str, list[float]]]


def column_of(name: str, where: str) -> Column | None:
    """Tell what a column holds; None for means that can be had from others."""
    if name.lower() in CRITERIA.values():
        return Column("mean", "human:mean", name.lower())
    head, _, last = name.rpartition(" ")
    if last in _GLYPHS:
        if head not in METRICS:
            raise InputError(
                f"{where}: no metric of the release is {head!r}", closest(head, METRICS)
            )
        return Column("score", head)
    if head.startswith("Human Avg "):
        return None
    if head.startswith("Human ") and last in CRITERIA:
        return Column("rating", f"human:{head.removeprefix('Human ')}", CRITERIA[last])
    model, _, criterion = head.rpartition(" ")
    if last.isdecimal() and model and criterion in {*CRITERIA, "AVG"}:
        aspect = CRITERIA.get(criterion)
        return Column("score", f"judge:{model}/{last}", aspect) if aspect else None
    raise InputError(f"{where}: column {name!r} is not of the release", "fetch it again")


def read_columns(file: TextFile) -> Values:
    """Read the values of every column by system: lists of one value per prompt."""
    found: Values = {}
    columns: dict[str, Column] = {}
    seen: set[str] = set()
    for where, row in file_rows(file):
        system = _system(row, where, seen)
        for name, cell in row.items():
            if name not in columns and name != "Model":
                if (column := column_of(name, where)) is None:
                    continue
                columns[name] = column
            if name in columns:
                place = f"{where}, column {name!r}"
                values = _values(cell, place, checked=columns[name].kind != "score")
                found.setdefault(columns[name], {})[system] = values
    if missing := [system for system in SYSTEMS if system not in seen]:
        raise InputError(f"{file.label}: no row of {', '.join(missing)}", "fetch it again")
    return found


def _system(row: Row, where: str, seen: set[str]) -> str:
    system = str(field(row, "Model", where))
    if system not in SYSTEMS:
        raise InputError(
            f"{where}: no system of the release is {system!r}", closest(system, SYSTEMS)
        )
    if system in seen:
        raise InputError(f"{where}: a second row of {system!r}", "keep one")
    seen.add(system)
    return system


def _values(cell: Any, where: str, *, checked: bool) -> list[float]:
    try:
        found = json.loads(str(cell).replace("nan", "NaN"))
    except ValueError:
        raise InputError(f"{where}: not a list of numbers", "fetch it again") from None
    if not isinstance(found, list) or len(found) != ITEMS:
        size = f"{len(found)} values" if isinstance(found, list) else "no list"
        raise InputError(f"{where}: {size} where there are {ITEMS} prompts", "fetch it again")
    if checked:
        return [rating(one, f"{where}, value {i}", SCALE) for i, one in enumerate(found, 1)]
    for place, one in enumerate(found, 1):
        if one is not None and type(one) not in (int, float):
            raise InputError(f"{where}, value {place}: {one!r} is no number", "fetch it again")
    return [math.nan if one is None else one for one in found]
