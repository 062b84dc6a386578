"""Batches of one shape: windows of texts, several of them side by side in a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fabula.learned.training.recipe import Recipe
from fabula.learned.training.tokens import TokenSet

Array = np.ndarray[Any, np.dtype[Any]]

PAD, CLS, SEP, MASK = 0, 101, 102, 103
_OPEN_ROWS = 16


@dataclass(frozen=True)
class Window:
    """A stretch of one text: where it lies in the flat array, and whose it is."""

    start: int
    end: int
    owner: int

    @property
    def size(self) -> int:
        """Tokens it takes, with [CLS] and [SEP]."""
        return self.end - self.start + 2


@dataclass(frozen=True)
class Batch:
    """Rows of tokens. `segments` number the windows in a row, 0 where nothing is."""

    ids: Array  # (B, T)
    segments: Array  # (B, T)
    positions: Array  # (B, T), counted from the start of the window
    owners: Array  # (B, T), the text that a token belongs to, -1 where nothing is


def windows_of(
    tokens: TokenSet, window: int, rng: np.random.Generator | None = None
) -> list[Window]:
    """Cut texts into windows of at most `window` tokens; with `rng`, the first cut is anywhere.

    Epochs then part long texts at other places.
    """
    room = window - 2
    found = []
    ends = tokens.offsets.tolist()
    shifts = rng.integers(1, room + 1, len(tokens)).tolist() if rng else [room] * len(tokens)
    for owner, (start, end) in enumerate(pairwise(ends)):
        cut = start + (shifts[owner] if end - start > room else room)
        while start < end:
            found.append(Window(start, min(cut, end), owner))
            start, cut = cut, cut + room
    return found


def packed_rows(windows: Sequence[Window], size: int) -> list[list[Window]]:
    """Lay windows into rows of at most `size` tokens: each into the first open row with room."""
    rows: list[list[Window]] = []
    still: list[tuple[int, int]] = []  # open rows: their number and the room left
    for one in windows:
        for place, (row, room) in enumerate(still):
            if one.size <= room:
                rows[row].append(one)
                still[place] = (row, room - one.size)
                break
        else:
            rows.append([one])
            still.append((len(rows) - 1, size - one.size))
            if len(still) > _OPEN_ROWS:
                still.remove(min(still, key=lambda found: found[1]))
    return rows


def batch_of(rows: Sequence[Sequence[Window]], tokens: TokenSet, size: int) -> Batch:
    """Fill in the tokens of some rows."""
    ids = np.full((len(rows), size), PAD, dtype=np.int64)
    segments = np.zeros((len(rows), size), dtype=np.int64)
    positions = np.zeros((len(rows), size), dtype=np.int64)
    owners = np.full((len(rows), size), -1, dtype=np.int64)
    count = np.arange(size)
    for row, windows in enumerate(rows):
        at = 0
        for number, one in enumerate(windows, 1):
            end = at + one.size
            ids[row, at], ids[row, end - 1] = CLS, SEP
            ids[row, at + 1 : end - 1] = tokens.flat[one.start : one.end]
            segments[row, at:end] = number
            positions[row, at:end] = count[: one.size]
            owners[row, at:end] = one.owner
            at = end
    return Batch(ids, segments, positions, owners)


def joined(sets: Sequence[TokenSet]) -> TokenSet:
    """Make one set of several."""
    if not sets:
        return TokenSet(np.zeros(0, dtype=np.uint16), np.zeros(1, dtype=np.int64))
    shifts = np.cumsum([0, *(one.offsets[-1] for one in sets)])
    offsets = [one.offsets[:-1] + shift for one, shift in zip(sets, shifts, strict=False)]
    return TokenSet(
        np.concatenate([one.flat for one in sets]), np.concatenate([*offsets, shifts[-1:]])
    )


def training_batches(
    tokens: TokenSet, recipe: Recipe, *, start: tuple[int, int] = (0, 0)
) -> Iterator[tuple[tuple[int, int], Batch]]:
    """Give batches without end, each with the place (epoch, batch) to go on from after it.

    What an epoch holds follows from the seed and its number alone. Its last rows, too few for a
    batch, are left for another epoch.
    """
    epoch, skip = start
    while True:
        rng = np.random.default_rng([recipe.seed, epoch])
        windows = windows_of(tokens, recipe.window, rng)
        laid = packed_rows([windows[i] for i in rng.permutation(len(windows))], recipe.window)
        laid = [laid[i] for i in rng.permutation(len(laid))]
        rows = min(recipe.rows, len(laid))
        for number in range(skip, len(laid) // rows):
            taken = laid[number * rows : (number + 1) * rows]
            yield (epoch, number + 1), batch_of(taken, tokens, recipe.window)
        epoch, skip = epoch + 1, 0
