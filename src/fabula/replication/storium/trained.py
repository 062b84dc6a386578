"""Trainings on games that differ in what is shown or in how it is learned, from their figures.

Of every variant there may be several seeds: what an entry lost is then their mean. Variants are
held against each other on the entries that all of them showed whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fabula.core.errors import InputError
from fabula.core.plain import read_json
from fabula.learned.training.author_figures import AuthorFigures, EntryLosses, read_figures

PACKINGS = ("none", "greedy", "cassowary")
# What has to be the same for figures to be of one experiment.
_SHARED = ("model", "budget", "compat")
# Which tokens are learned from, and where marks' embeddings are kept, in words.
LOSSES = {"story": "loss of the entry", "all": "loss of all tokens"}
SEGMENTS = {"own": "marks in a table of their own", "tokens": "marks among the tokens"}
_REMEDY = "name the folder of one experiment's trainings"
EntryKey = tuple[str, str]
VariantKey = tuple[str, int, str, str]  # packing, history, loss, segments


@dataclass(frozen=True)
class TrainedVariant:
    """One packing, history, loss and place of marks, trained with one or several seeds."""

    key: VariantKey
    name: str
    trainings: tuple[AuthorFigures, ...]

    def average_losses(self, part: str, *, before: bool = False) -> EntryLosses:
        """Give what the entries of a part lost, on average over seeds."""
        measured = [_choose_part(each, part, before=before) for each in self.trainings]
        first = measured[0]
        keys = (first.games, first.entries, first.tokens)
        if any((each.games, each.entries, each.tokens) != keys for each in measured):
            raise InputError(f"{self.name}: its seeds were measured on other entries", _REMEDY)
        mean = np.mean([each.losses for each in measured], axis=0)
        whole = (all(flags) for flags in zip(*(each.whole for each in measured), strict=True))
        return replace(first, losses=tuple(mean.tolist()), whole=tuple(whole))


def _choose_part(figures: AuthorFigures, part: str, *, before: bool) -> EntryLosses:
    parts = figures.before if before else figures.parts
    if part not in parts:
        raise InputError(
            f"{figures.variant}, seed {figures.seed}: no losses of the part {part!r}",
            f"set part to one of {', '.join(parts) or 'none'}",
        )
    return parts[part]


def gather_variants(paths: Iterable[Path]) -> list[TrainedVariant]:
    """Read the figures of files, and of all folders below others; without packing first.

    Figures of another model or budget are no part of the experiment and are refused, and so are two
    trainings of one variant and seed.
    """
    found: dict[VariantKey, dict[int, tuple[Path, AuthorFigures]]] = {}
    first: tuple[Path, AuthorFigures] | None = None
    for path in _find_figures(paths):
        figures = read_figures(path)
        first = first or (path, figures)
        _refuse_other(first, (path, figures))
        key = figures.packing, figures.history, figures.loss, figures.segments
        seeds = found.setdefault(key, {})
        if figures.seed in seeds:
            other = seeds[figures.seed][0]
            twice = f"{path} and {other} are both {figures.variant}, seed {figures.seed}"
            raise InputError(twice, "keep one of them")
        seeds[figures.seed] = path, figures
    return [
        TrainedVariant(key, _name(key, found), tuple(found[key][seed][1] for seed in sorted(seeds)))
        for key, seeds in sorted(found.items(), key=lambda item: _order(item[0]))
    ]


def _order(key: VariantKey) -> tuple[tuple[int, str], int, tuple[int, str], tuple[int, str]]:
    packing, history, loss, segments = key

    def place(names: Sequence[str], name: str) -> tuple[int, str]:
        return (names.index(name) if name in names else len(names), name)

    kept = place(list(SEGMENTS), segments)
    return place(PACKINGS, packing), history, place(list(LOSSES), loss), kept


def _name(key: VariantKey, keys: Iterable[VariantKey]) -> str:
    """Call a variant by packing and history, and by that in which others differ from it."""
    packing, history, loss, segments = key
    losses, kept = ({each[place] for each in keys} for place in (2, 3))
    more = [LOSSES.get(loss, loss)] if len(losses) > 1 else []
    more += [SEGMENTS.get(segments, segments)] if len(kept) > 1 else []
    return ", ".join([packing, f"history {history}", *more])


def _find_figures(paths: Iterable[Path]) -> list[Path]:
    """List files with figures: those that are named, and those below folders, by what they hold."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            below = (file for file in sorted(path.rglob("*.json")) if not file.name.startswith("."))
            found += [file for file in below if _holds_figures(file)]
        elif path.exists():
            found.append(path)
        else:
            raise InputError(f"{path} is not there", _REMEDY)
    return list(dict.fromkeys(file.resolve() for file in found))


def _holds_figures(file: Path) -> bool:
    """Whether a JSON file is of a training on games; records of all kinds may lie beside it."""
    with file.open(encoding="utf-8", errors="replace") as opened:
        if '"packing"' not in opened.read(10_000):
            return False
    value = read_json(file)
    return isinstance(value, dict) and {"packing", "history", "parts"} <= value.keys()


def _refuse_other(one: tuple[Path, AuthorFigures], other: tuple[Path, AuthorFigures]) -> None:
    for name in _SHARED:
        values = [getattr(figures, name) for _, figures in (one, other)]
        if values[0] != values[1]:
            problem = f"{one[0]} has {name} {values[0]!r} and {other[0]} {values[1]!r}"
            raise InputError(f"trainings of two experiments: {problem}", _REMEDY)


def keep_shared(losses: Sequence[EntryLosses]) -> list[EntryLosses]:
    """Give of every variant's losses the entries that all showed whole, in one order."""
    shown: list[dict[EntryKey, int]] = [
        {
            key: row
            for row, key in enumerate(zip(each.games, each.entries, strict=True))
            if each.whole[row]
        }
        for each in losses
    ]
    keys = [key for key in shown[0] if all(key in rows for rows in shown)]
    kept = [
        each.keep([rows[key] for key in keys]) for each, rows in zip(losses, shown, strict=True)
    ]
    if any(each.tokens != kept[0].tokens for each in kept):
        raise InputError("the same entries have other tokens: other models", _REMEDY)
    return kept


def choose_entries(losses: EntryLosses, others: EntryLosses) -> EntryLosses:
    """Give the entries that others hold, in their order."""
    rows = {key: row for row, key in enumerate(zip(losses.games, losses.entries, strict=True))}
    return losses.keep([rows[key] for key in zip(others.games, others.entries, strict=True)])


def combine_losses(one: EntryLosses, other: EntryLosses) -> EntryLosses:
    """Add the losses of two variants entry by entry; both have the same entries."""
    return replace(one, losses=tuple(map(sum, zip(one.losses, other.losses, strict=True))))
