"""Figures of one training on games: what every held-out entry lost, so that others can compare.

A training with STORIUM's format leaves `figures.json`. Losses are sums of -log p (in nats) over an
entry's tokens, with the end of the text where it was shown whole. Two trainings are compared on
the entries that both showed whole: how much of an entry is left may depend on how it was packed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.core.files import write_text
from fabula.core.plain import from_plain, read_json
from fabula.meta.arrays import Values
from fabula.meta.resampling import (
    FEWEST_UNITS,
    Estimate,
    draw_counts,
    estimate,
    mean_draws,
    number_units,
    sum_units,
)

FIGURES = "figures.json"
RESAMPLES = 1000
_REMEDY = "train again, or name another file"


@dataclass(frozen=True)
class EntryLosses:
    """Columns with a row an entry: its game, its number, its tokens, their loss, and whether all
    of its text was there."""

    games: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    tokens: tuple[int, ...] = ()
    losses: tuple[float, ...] = ()
    whole: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        columns = (self.games, self.entries, self.tokens, self.losses, self.whole)
        if len({len(column) for column in columns}) != 1:
            raise InputError("the columns of the entries' losses differ in length", _REMEDY)

    def __len__(self) -> int:
        return len(self.games)

    def keep(self, rows: Sequence[int]) -> EntryLosses:
        """Give some of the rows."""
        return EntryLosses(
            tuple(self.games[row] for row in rows),
            tuple(self.entries[row] for row in rows),
            tuple(self.tokens[row] for row in rows),
            tuple(self.losses[row] for row in rows),
            tuple(self.whole[row] for row in rows),
        )


@dataclass(frozen=True)
class AuthorFigures:
    """What one training showed: how it was made, and losses by part, before and after.

    `parts` are `validation`, by which the best weights were chosen, and `test`.
    """

    packing: str
    history: int
    budget: int
    seed: int
    loss: str  # which tokens were learned from: those of the entry, or all
    segments: str  # where segments' embeddings were kept
    model: str
    data: Mapping[str, Any] = field(default_factory=dict)  # counts and digests
    step: int = 0  # of the weights that were measured
    compat: bool = False
    before: Mapping[str, EntryLosses] = field(default_factory=dict)
    parts: Mapping[str, EntryLosses] = field(default_factory=dict)

    @property
    def variant(self) -> str:
        """What a training is called beside others that differ in packing and history."""
        return f"{self.packing}, history {self.history}"

    def save(self, path: Path) -> None:
        """Write them into a file."""
        write_text(path, json.dumps(asdict(self), indent=None, separators=(",", ":")) + "\n")


def read_figures(path: Path) -> AuthorFigures:
    """Read figures that a training left: a file, or the folder that holds `figures.json`."""
    file = path / FIGURES if path.is_dir() else path
    value = read_json(file, remedy=_REMEDY)
    if not isinstance(value, dict) or "packing" not in value or "parts" not in value:
        raise InputError(f"{file} holds no figures of a training on games", _REMEDY)
    return from_plain(AuthorFigures, value, str(file), error=InputError)


def estimate_perplexity(
    losses: EntryLosses, *, resamples: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """Give exp of the mean loss of a token, its interval by drawing games again; n counts games.

    Of fewer than five games no interval is given.
    """
    if not len(losses):
        return Estimate()
    sums, sizes = _sum_games(losses, number_units(losses.games))
    value = math.exp(float(sums.sum() / sizes.sum()))
    if len(sizes) < FEWEST_UNITS:
        return Estimate(value, n=len(sizes))
    draws = mean_draws(draw_counts(len(sizes), resamples, seed), sums, sizes)
    return estimate(value, np.exp(draws), n=len(sizes))


def pair_entries(one: EntryLosses, other: EntryLosses) -> tuple[EntryLosses, EntryLosses]:
    """Give the entries that both have with all of their text, in the same order."""
    places = {key: row for row, key in enumerate(zip(other.games, other.entries, strict=True))}
    rows = [
        (row, places[key])
        for row, key in enumerate(zip(one.games, one.entries, strict=True))
        if key in places and one.whole[row] and other.whole[places[key]]
    ]
    paired = one.keep([row for row, _ in rows]), other.keep([row for _, row in rows])
    if paired[0].tokens != paired[1].tokens:
        raise InputError("the same entries have other tokens: other models", "compare one model's")
    return paired


def estimate_ratio(
    one: EntryLosses, other: EntryLosses, *, resamples: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """Give the perplexity of one training over that of another, on the entries that both showed
    whole; games are drawn together for both. Below 1 the first is better; n counts games."""
    first, second = pair_entries(one, other)
    if not len(first):
        return Estimate()
    units = number_units(first.games)
    sums, sizes = _sum_games(first, units)
    differences = sums - _sum_games(second, units)[0]
    value = math.exp(float(differences.sum() / sizes.sum()))
    if len(sizes) < FEWEST_UNITS:
        return Estimate(value, n=len(sizes))
    draws = mean_draws(draw_counts(len(sizes), resamples, seed), differences, sizes)
    return estimate(value, np.exp(draws), n=len(sizes))


def _sum_games(losses: EntryLosses, units: Any) -> tuple[Values, Values]:
    """Add up losses and tokens game by game."""
    sums, _ = sum_units(np.array(losses.losses, dtype=np.float64), units)
    sizes, _ = sum_units(np.array(losses.tokens, dtype=np.float64), units)
    return sums, sizes
