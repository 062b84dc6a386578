"""Batches: windows of texts packed into rows of tokens, and the examples that a step takes.

Windows stand side by side in a row, numbered as segments; attention does not cross segments.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.training.examples import ExampleSet
from fabula.learned.training.loop import Sampler
from fabula.learned.training.recipe import Group, ReaderRecipe, Stage, Task
from fabula.models.reading.windows import Frame, cut_evenly

Array = np.ndarray[Any, np.dtype[Any]]
Example = tuple[str, int]  # a task, and the number of one of its examples

PAD, CLS, SEP, MASK = 0, 101, 102, 103
_OPEN_ROWS = 32


def bert_frame(longest: int) -> Frame:
    """Give what BERT puts around texts."""
    return Frame((CLS,), (SEP,), (SEP,), longest)


@dataclass(frozen=True)
class Window:
    """A stretch of a text, or a pair of sentences: its word pieces and whose it is."""

    ids: Sequence[int]  # with what the encoder puts around them
    owner: int
    second: int = 0  # where the second sentence of a pair begins; 0: there is none


@dataclass(frozen=True)
class TokenBatch:
    """Rows of tokens in which windows stand side by side."""

    ids: Array  # (B, T)
    segments: Array  # (B, T), numbered from 1 in every row, 0 where nothing is
    positions: Array  # (B, T), counted from the start of the window
    kinds: Array  # (B, T), 1 in the second sentence of a pair
    windows: Array  # (B, T), the window that a token belongs to, the number of windows for none
    firsts: Array  # (windows,), where each window begins in the flat batch
    lasts: Array  # (windows,), where its last token stands
    owners: Array  # (windows,), the text that a window is of

    @property
    def size(self) -> int:
        """Tokens that are no filler."""
        return int((self.segments > 0).sum())


def pack(sizes: Sequence[int], room: int, *, open_rows: int = _OPEN_ROWS) -> list[list[int]]:
    """Put windows of these sizes into rows: each into the first open row that has room for it.

    Of more than `open_rows` rows the fullest is closed. Give the numbers of every row's windows.
    """
    rows: list[list[int]] = []
    still_open: list[tuple[int, int]] = []  # number of a row, and the room left in it
    for window, size in enumerate(sizes):
        for place, (row, left) in enumerate(still_open):
            if size <= left:
                rows[row].append(window)
                still_open[place] = (row, left - size)
                break
        else:
            rows.append([window])
            still_open.append((len(rows) - 1, room - size))
            if len(still_open) > open_rows:
                still_open.remove(min(still_open, key=lambda row: row[1]))
    return rows


def fill_rows(rows: Sequence[Sequence[int]], windows: Sequence[Window], room: int) -> TokenBatch:
    """Write the tokens of windows into rows of `room` tokens."""
    ids = np.full((len(rows), room), PAD, dtype=np.int64)
    segments, positions, kinds = (np.zeros_like(ids) for _ in range(3))
    numbers = np.full_like(ids, len(windows))
    firsts, lasts = np.zeros((2, len(windows)), dtype=np.int64)
    count = np.arange(room)
    for row, members in enumerate(rows):
        at = 0
        for segment, number in enumerate(members, 1):
            window = windows[number]
            end = at + len(window.ids)
            ids[row, at:end] = window.ids
            segments[row, at:end] = segment
            positions[row, at:end] = count[: end - at]
            kinds[row, at + window.second : end] = window.second > 0
            numbers[row, at:end] = number
            firsts[number], lasts[number] = row * room + at, row * room + end - 1
            at = end
    owners = np.array([window.owner for window in windows], dtype=np.int64)
    return TokenBatch(ids, segments, positions, kinds, numbers, firsts, lasts, owners)


def text_windows(
    ids: Sequence[int],
    owner: int,
    size: int,
    *,
    overlap: bool = False,
    most: int = 0,
    rng: random.Random,
    frame: Frame,
) -> list[Window]:
    """Cut a text into windows as a reader does; of more than `most`, so many are drawn."""
    places = cut_evenly(len(ids), size, overlap=overlap)
    if 0 < most < len(places):
        places = sorted(rng.sample(places, most), key=min)
    return [Window(frame.put_around(ids[place.start : place.stop]), owner) for place in places]


def pair_window(first: Sequence[int], second: Sequence[int], owner: int, frame: Frame) -> Window:
    """Give the window of two sentences; of either as much as the encoder has room for."""
    room = frame.pair_room
    ids, second_at = frame.join_pair(first[:room], second[:room])
    return Window(ids, owner, second=second_at)


@dataclass(frozen=True)
class Share:
    """The examples of one task in a batch: owners of their texts, and targets."""

    task: str
    group: int
    owners: Array  # (n, texts of an example)
    targets: Array  # (n, outputs)


@dataclass(frozen=True)
class ReaderBatch:
    """What a reader reads in a step: tokens of texts, and the examples made of them."""

    tokens: TokenBatch
    texts: int
    shares: tuple[Share, ...] = ()

    @property
    def size(self) -> int:
        """Tokens that are no filler."""
        return self.tokens.size


def pack_texts(
    windows: Sequence[Window], room: int, texts: int, shares: Sequence[Share] = ()
) -> ReaderBatch:
    """Pack windows of texts, the longest first, into as few rows as may be."""
    room = max([room, *(len(window.ids) for window in windows)])
    order = sorted(range(len(windows)), key=lambda number: -len(windows[number].ids))
    rows = pack([len(windows[number].ids) for number in order], room)
    numbers = [[order[place] for place in row] for row in rows]
    return ReaderBatch(fill_rows(numbers, windows, room), texts, tuple(shares))


class BatchBuilder:
    """Builds the batch of a step out of the examples that each group of tasks takes."""

    def __init__(
        self, recipe: ReaderRecipe, stage: Stage, rng: random.Random, frame: Frame
    ) -> None:
        self._recipe, self._most, self._rng, self._frame = recipe, stage.windows, rng, frame
        self._windows: list[Window] = []
        self._texts = 0
        self._owners: dict[Example, int] = {}

    def build(
        self, chosen: Sequence[Sequence[Example]], examples: Mapping[str, ExampleSet]
    ) -> ReaderBatch:
        """Build the batch; `chosen` are the examples of each group."""
        shares = []
        for group, members in enumerate(chosen):
            for name in dict.fromkeys(task for task, _ in members):
                numbers = np.array([number for task, number in members if task == name])
                is_order = self._recipe.tasks[name].kind == "order"
                add = self._add_neighbours if is_order else self._add_texts
                owners, targets = add(examples[name], name, numbers)
                shares.append(Share(name, group, np.array(owners), targets))
        return pack_texts(self._windows, self._recipe.window + 2, self._texts, shares)

    def _add_texts(
        self, examples: ExampleSet, name: str, numbers: Array
    ) -> tuple[list[list[int]], Array]:
        """Add the texts of examples, each text once."""
        members = examples.members[numbers].tolist()
        owners = [[self._owner(examples, name, text) for text in texts] for texts in members]
        return owners, examples.targets[numbers]

    def _add_neighbours(
        self, examples: ExampleSet, _: str, numbers: Array
    ) -> tuple[list[list[int]], Array]:
        """Add pairs of sentences, every other one turned round."""
        owners, targets = [], examples.targets[numbers].copy()
        for place, number in enumerate(numbers.tolist()):
            is_turned = self._rng.random() < 0.5
            members = examples.members[number].tolist()[:: -1 if is_turned else 1]
            first, second = (examples.text(member) for member in members)
            targets[place] = not is_turned
            self._windows.append(pair_window(first, second, self._texts, self._frame))
            owners.append([self._texts])
            self._texts += 1
        return owners, targets

    def _owner(self, examples: ExampleSet, name: str, text: int) -> int:
        if (name, text) not in self._owners:
            self._owners[name, text] = self._texts
            self._windows += text_windows(
                examples.text(text), self._texts, self._recipe.window,
                overlap=self._recipe.overlap, most=self._most, rng=self._rng, frame=self._frame,
            )  # fmt: skip
            self._texts += 1
        return self._owners[name, text]


def sample_group(
    group: Group, sizes: Mapping[str, int], tasks: Mapping[str, Task], seed: str
) -> Sampler[Example]:
    """Sample the examples of a group's tasks, each as often in an epoch as its task says."""
    examples = [
        (name, number)
        for name in group.tasks
        for _ in range(tasks[name].repeat)
        for number in range(sizes[name])
    ]
    if not examples:
        problem = f"{', '.join(group.tasks)}: no example is left to learn from"
        raise InputError(problem, "add data")

    def shuffle(epoch: int) -> list[Example]:
        order = examples[:]
        random.Random(f"{seed} {epoch}").shuffle(order)
        return order

    return Sampler(shuffle, group.rows)


def reading_batches(
    windows: Sequence[Window], window: int, texts: int, *, rows: int = 64
) -> Iterator[ReaderBatch]:
    """Give batches of windows to be read without learning, of about so many rows each."""
    part, tokens = list[Window](), 0
    for one in windows:
        if part and tokens + len(one.ids) > rows * (window + 2):
            yield pack_texts(part, window + 2, texts)
            part, tokens = [], 0
        part.append(one)
        tokens += len(one.ids)
    if part:
        yield pack_texts(part, window + 2, texts)
