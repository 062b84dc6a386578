"""Learn how the sentences of a story follow one another, from stories beside the same spoiled.

No opinion is learned from. What is learned is linear in the states of an encoder that stays as it
is, and has one best solution: there is neither a seed nor a schedule.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.protocols import watch
from fabula.learned.reader.config import Head, Pin, ReaderConfig, Scale, Term, write_config
from fabula.learned.reader.network import save_packed
from fabula.learned.reader.sequence import ORDER, STATES, STEPS, describe_sequences
from fabula.learned.training.choices import Choices
from fabula.learned.training.folder import MODEL, TrainingFolder, find_versions, plain_values
from fabula.learned.training.left_out import fit_preference, measure_columns
from fabula.learned.training.loop import Report
from fabula.learned.training.made_choices import gather_made
from fabula.learned.training.reader_scales import describe_beside
from fabula.learned.training.recipe import require_least
from fabula.models import get_asset
from fabula.models.networks.encoder import load_pooled_bert

Array = np.ndarray[Any, np.dtype[Any]]

_AT_ONCE = 128
_LEAST = 1e-9


@dataclass(frozen=True)
class SequenceRecipe:
    """What weights of this kind depend on, besides their data: encoder, layer, penalty, judge.

    `made` are choices that nobody made, of which the better text is a story as it was written.
    """

    kind: str
    made: tuple[str, ...]
    encoder: str = "story_encoder"
    judge: str = "order"  # weights that tell which of two neighbouring sentences comes first
    layer: int = 4
    window: int = 254
    penalty: float = 1.0
    folds: int = 5
    licence: str = "research use; see weights/LICENSE"

    def __post_init__(self) -> None:
        require_least(self, layer=1, window=8, folds=2, penalty=1e-6)


def train_sequence(
    recipe: SequenceRecipe,
    *,
    out: Path,
    data: Path | None = None,
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Fit the head of a recipe, leave it in `out`, give training.json.

    Folds tell how many stretches of stories that it has not learned from it prefers to the same
    spoiled.
    """
    folder = TrainingFolder(out, resume=resume)
    if (finished := folder.open(recipe)) is not None:
        return finished
    made = gather_made(data, recipe.made)
    report(f"{sum(len(one.texts) for one in made):,} texts are read by {recipe.encoder}")
    read = {one.corpus: _read(recipe, one) for one in made}
    choices = [_keep_told(one, read[one.corpus]) for one in made]
    sides = np.concatenate([read[one.corpus][one.pairs.ravel()] for one in choices])
    mean, deviation = sides.mean(0), np.maximum(sides.std(0), _LEAST)
    columns = {name: (rows - mean) / deviation for name, rows in read.items()}
    weights = fit_preference(choices, columns, recipe.penalty)
    told = [columns[one.corpus][one.pairs[:, 0]] @ weights for one in choices]
    # The stretches as they were written are at 0, a deviation of theirs is 1.
    middle, spread = np.concatenate(told).mean(), np.concatenate(told).std()
    plain = weights / deviation / spread
    save_packed(out / MODEL, _name_tensors(plain, -float(plain @ mean) - middle / spread), {})
    record: dict[str, Any] = {"recipe": plain_values(recipe), "device": "cpu"}
    record["data"] = {one.corpus: {"choices": len(one)} for one in choices}
    record |= {"versions": find_versions(), "unseen": _cross_fit(recipe, choices, columns)}
    _write_config(out, recipe, record)
    folder.close(record)
    return record


def _read(recipe: SequenceRecipe, choices: Choices) -> Array:
    """Describe the texts of choices: (texts, columns)."""
    encoder = load_pooled_bert(recipe.encoder)
    watch.get().tell("reading")
    rows = []
    for start in range(0, len(choices.texts), _AT_ONCE):
        some = choices.texts[start : start + _AT_ONCE]
        rows.append(describe_sequences(encoder, some, layer=recipe.layer, window=recipe.window))
        watch.get().tell_detail(f"text {start + len(some):,} of {len(choices.texts):,}")
    return np.concatenate(rows)


def _keep_told(choices: Choices, rows: Array) -> Choices:
    """Leave out choices of which a text has no two sentences."""
    there = ~np.isnan(rows[choices.pairs, 0]).any(axis=1)
    kept = {name: getattr(choices, name)[there] for name in ("pairs", "units", "weights")}
    return replace(choices, **kept)


def _cross_fit(
    recipe: SequenceRecipe, choices: list[Choices], columns: dict[str, Array]
) -> dict[str, Any]:
    """Say of every corpus how many choices agree with heads that had not learned from them."""
    said = {one.corpus: np.zeros((len(one.texts), 1)) for one in choices}
    folds = {one.corpus: one.units % recipe.folds for one in choices}
    for fold in range(recipe.folds):
        rest = [replace(one, weights=one.weights * (folds[one.corpus] != fold)) for one in choices]
        weights = fit_preference(rest, columns, recipe.penalty)
        for one in choices:
            held = one.pairs[folds[one.corpus] == fold].ravel()
            said[one.corpus][held, 0] = columns[one.corpus][held] @ weights
    return {
        held.corpus: {
            "figure": "accuracy", "value": held.accuracy.plain(), "n": held.choices,
            "baseline": held.name, "gain": held.gain.plain(),
        }
        for held in measure_columns(choices, said)
    }  # fmt: skip


def _name_tensors(weights: Array, bias: float) -> dict[str, Any]:
    import torch

    return {
        f"head.{STATES}.weight": torch.from_numpy(weights[None]),
        f"head.{STATES}.bias": torch.tensor([bias], dtype=torch.float64),
    }


def _write_config(out: Path, recipe: SequenceRecipe, record: dict[str, Any]) -> None:
    training = {name: record[name] for name in ("data", "versions")}
    training |= {"licence": recipe.licence, "validation": {"tasks": record["unseen"]}}
    config = ReaderConfig(
        kind=recipe.kind,
        encoder=Pin(recipe.encoder, get_asset(recipe.encoder).tree_sha256),
        window=recipe.window,
        heads={name: Head((name,)) for name in (STATES, STEPS)},
        scales={name: Scale((Term(name),)) for name in (STATES, STEPS)},
        training=training,
        layer=recipe.layer,
        sequence=True,
        **describe_beside(recipe.judge, [ORDER]),
    )
    write_config(out, config)
