"""Batches for a reader: windows of texts packed into rows, and which of them an example needs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.training.batches import CLS, PAD, SEP
from fabula.learned.training.examples import ExampleSet
from fabula.learned.training.reader_recipe import ReaderRecipe, Stage, Task
from fabula.models.reading.windows import cut_evenly

Array = np.ndarray[Any, np.dtype[Any]]
Taken = tuple[str, int]  # a task, and the number of one of its examples
_OPEN_ROWS = 32


@dataclass(frozen=True)
class Row:
    """A window of a text, or a pair of sentences: its word pieces and whose it is."""

    ids: Sequence[int]  # with [CLS] and [SEP]
    owner: int
    second: int = 0  # where the second sentence of a pair begins; 0: there is none


@dataclass(frozen=True)
class Share:
    """The examples of one task in a batch: owners of their texts, and targets."""

    task: str
    group: int
    owners: Array  # (n, texts of an example)
    targets: Array  # (n, outputs)


@dataclass(frozen=True)
class ReaderBatch:
    """Rows of tokens in which windows stand side by side."""

    ids: Array  # (B, T)
    segments: Array  # (B, T), numbered from 1 in every row, 0 where nothing is
    positions: Array  # (B, T)
    kinds: Array  # (B, T)
    windows: Array  # (B, T), the window that a token belongs to, the number of windows for none
    firsts: Array  # (windows,), where each window's [CLS] stands in the flat batch
    owners: Array  # (windows,), the text that a window is of
    texts: int
    shares: tuple[Share, ...] = ()


def windows_of(
    ids: Sequence[int], size: int, *, overlap: bool = False, most: int = 0, rng: random.Random
) -> list[range]:
    """Part a text into windows as a reader does; of more than `most`, so many are drawn."""
    found = cut_evenly(len(ids), size, overlap=overlap)
    return found if not most or len(found) <= most else sorted(rng.sample(found, most), key=min)


def text_rows(
    ids: Sequence[int],
    owner: int,
    size: int,
    *,
    overlap: bool = False,
    most: int = 0,
    rng: random.Random,
) -> list[Row]:
    """Give the rows of a text's windows."""
    return [
        Row([CLS, *ids[place.start : place.stop], SEP], owner)
        for place in windows_of(ids, size, overlap=overlap, most=most, rng=rng)
    ]


def pair_row(first: Sequence[int], second: Sequence[int], owner: int) -> Row:
    """Give the row of two sentences."""
    return Row([CLS, *first, SEP, *second, SEP], owner, second=len(first) + 2)


def packed(rows: Sequence[Row], size: int, texts: int, shares: Sequence[Share]) -> ReaderBatch:
    """Lay rows side by side into as few lines of `size` tokens as the first that has room."""
    lines: list[list[int]] = []
    still: list[tuple[int, int]] = []
    for number in sorted(range(len(rows)), key=lambda i: -len(rows[i].ids)):
        need = len(rows[number].ids)
        for place, (line, room) in enumerate(still):
            if need <= room:
                lines[line].append(number)
                still[place] = (line, room - need)
                break
        else:
            lines.append([number])
            still.append((len(lines) - 1, size - need))
            if len(still) > _OPEN_ROWS:
                still.remove(min(still, key=lambda found: found[1]))
    return _filled(lines, rows, size, texts=texts, shares=shares)


def _filled(
    lines: Sequence[Sequence[int]],
    rows: Sequence[Row],
    size: int,
    *,
    texts: int,
    shares: Sequence[Share],
) -> ReaderBatch:
    ids = np.full((len(lines), size), PAD, dtype=np.int64)
    segments, positions, kinds = (np.zeros_like(ids) for _ in range(3))
    windows = np.full_like(ids, len(rows))
    firsts = np.zeros(len(rows), dtype=np.int64)
    count = np.arange(size)
    for line, numbers in enumerate(lines):
        at = 0
        for segment, number in enumerate(numbers, 1):
            row = rows[number]
            end = at + len(row.ids)
            ids[line, at:end] = row.ids
            segments[line, at:end] = segment
            positions[line, at:end] = count[: end - at]
            kinds[line, at + row.second : end] = row.second > 0
            windows[line, at:end] = number
            firsts[number] = line * size + at
            at = end
    owners = np.array([row.owner for row in rows], dtype=np.int64)
    return ReaderBatch(
        ids, segments, positions, kinds, windows, firsts, owners, texts, tuple(shares)
    )


def batch_of(
    taken: Sequence[Sequence[Taken]],
    examples: Mapping[str, ExampleSet],
    recipe: ReaderRecipe,
    *,
    stage: Stage,
    rng: random.Random,
) -> ReaderBatch:
    """Make the batch of a step: the examples that each group takes."""
    laid = _Laid(recipe, stage.windows, rng)
    shares = []
    for group, chosen in enumerate(taken):
        for name in dict.fromkeys(one for one, _ in chosen):
            numbers = [number for one, number in chosen if one == name]
            lay = laid.ordered if recipe.tasks[name].kind == "order" else laid.plain
            owners, targets = lay(examples[name], name, numbers)
            shares.append(Share(name, group, np.array(owners), targets))
    return packed(laid.rows, recipe.window + 2, laid.texts, shares)


class _Laid:
    """Rows of a batch in the making, and which text each is of."""

    def __init__(self, recipe: ReaderRecipe, most: int, rng: random.Random) -> None:
        self.rows: list[Row] = []
        self.texts = 0
        self._recipe, self._most, self._rng = recipe, most, rng
        self._owners: dict[Taken, int] = {}

    def plain(
        self, examples: ExampleSet, name: str, numbers: Sequence[int]
    ) -> tuple[list[list[int]], Array]:
        """Lay the texts of examples, each text once."""
        members = examples.members[np.array(numbers)].tolist()
        owners = [[self._owner(examples, name, one) for one in some] for some in members]
        return owners, examples.targets[np.array(numbers)]

    def ordered(
        self, examples: ExampleSet, _: str, numbers: Sequence[int]
    ) -> tuple[list[list[int]], Array]:
        """Lay pairs of sentences, every other one turned round."""
        owners, targets = [], examples.targets[np.array(numbers)].copy()
        for place, number in enumerate(numbers):
            turned = self._rng.random() < 0.5
            members = examples.members[number].tolist()[:: -1 if turned else 1]
            first, second = (examples.text(one) for one in members)
            targets[place] = not turned
            self.rows.append(pair_row(first, second, self.texts))
            owners.append([self.texts])
            self.texts += 1
        return owners, targets

    def _owner(self, examples: ExampleSet, name: str, text: int) -> int:
        if (name, text) not in self._owners:
            ids, self._owners[name, text] = examples.text(text), self.texts
            self.rows += text_rows(
                ids, self.texts, self._recipe.window,
                overlap=self._recipe.overlap, most=self._most, rng=self._rng,
            )  # fmt: skip
            self.texts += 1
        return self._owners[name, text]


class Deck:
    """Examples of a group's tasks in an order of their own each epoch, dealt a step at a time.

    What a step gets follows from the seed and its number alone, so that a run can be resumed.
    """

    def __init__(
        self, sizes: Mapping[str, int], tasks: Mapping[str, Task], *, rows: int, seed: str
    ) -> None:
        self._cards: list[Taken] = [
            (name, number)
            for name, size in sizes.items()
            for _ in range(tasks[name].repeat)
            for number in range(size)
        ]
        if not self._cards:
            raise InputError(f"{', '.join(sizes)}: no example is left to learn from", "add data")
        self._seed, self.rows = seed, min(rows, len(self._cards))
        self._epoch, self._order = -1, list[Taken]()

    @property
    def steps(self) -> int:
        """Steps in an epoch; the last few examples are left for another."""
        return len(self._cards) // self.rows

    def dealt(self, step: int) -> list[Taken]:
        """Give the examples of a step, counted from 0."""
        epoch, place = divmod(step, self.steps)
        if epoch != self._epoch:
            self._order = self._cards[:]
            random.Random(f"{self._seed} {epoch}").shuffle(self._order)
            self._epoch = epoch
        return self._order[place * self.rows : (place + 1) * self.rows]


def reading_batches(
    rows: Sequence[Row], window: int, texts: int, *, lines: int = 64
) -> Iterator[ReaderBatch]:
    """Give batches of rows to be read without learning, of about so many lines each."""
    part, held = list[Row](), 0
    for row in rows:
        if part and held + len(row.ids) > lines * (window + 2):
            yield packed(part, window + 2, texts, ())
            part, held = [], 0
        part.append(row)
        held += len(row.ids)
    if part:
        yield packed(part, window + 2, texts, ())
