"""Windows on texts longer than a model reads at once, and batches of them that fit into memory.

Encoders read windows that overlap (`cut_overlapping`) and take each token from one of them
(`assign_tokens`). Our own readers were trained on windows of even length (`cut_evenly`). Models
that read from left to right go on by strides behind a prefix (`Prefix`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from fabula.core.errors import SettingError, UserError
from fabula.core.protocols import watch
from fabula.models._runtime import package

if TYPE_CHECKING:
    from fabula.core.model import Array


def cut_overlapping(count: int, size: int, overlap: int) -> list[range]:
    """Cut so many tokens: all are covered, neighbours share at least `overlap` of them.

    The last window ends with the text and is moved back to be as long as the others, which gives
    its tokens more context; so all are of one size, unless the text itself is shorter. No tokens,
    no windows.
    """
    if not 0 <= overlap < size:
        raise SettingError(
            f"overlap {overlap} does not fit a window of {size} tokens",
            f"take an overlap from 0 to {max(size - 1, 0)}",
        )
    if count <= size:
        return [range(count)] if count else []
    starts = [*range(0, count - size, size - overlap), count - size]
    return [range(start, start + size) for start in starts]


def assign_tokens(windows: Sequence[range]) -> list[range]:
    """Give each window the tokens that are most central in it; together all, each once.

    That is where a token has the most context on its poorer side.
    """
    if not windows:
        return []
    bounds = [
        # Half of what neighbours share goes to each; the odd token to the earlier one.
        (left.stop + right.start + 1) // 2
        for left, right in pairwise(windows)
    ]
    starts, stops = [windows[0].start, *bounds], [*bounds, windows[-1].stop]
    return [range(start, stop) for start, stop in zip(starts, stops, strict=True)]


def cut_evenly(count: int, size: int, *, overlap: bool = False) -> list[range]:
    """Cut into as few windows as hold all tokens, begun at even distances.

    Each ends where the next begins, or, with overlap, is as long as can be. No tokens, no windows.
    """
    number = -(-count // size)
    starts = [index * count // number for index in range(number)]
    if overlap:
        return [range(start, min(start + size, count)) for start in starts]
    return [range(start, stop) for start, stop in pairwise([*starts, count])]


@dataclass(frozen=True)
class Stride:
    """One window over a text: tokens from `start` to `stop`, scored from `new` on."""

    start: int
    new: int
    stop: int


@dataclass(frozen=True)
class Prefix:
    """What stands before the text in every window, and how the text is gone through behind it."""

    ids: tuple[int, ...]
    room: int
    step: int

    def strides(self, count: int) -> list[Stride]:
        """Windows over a text of so many tokens: the first is full, each later one adds a step."""
        strides = [Stride(0, 0, min(count, self.room))] if count else []
        while strides and (done := strides[-1].stop) < count:
            stop = min(count, done + self.step)
            strides.append(Stride(stop - self.room, done, stop))
        return strides


def fit_prefix(
    beginning: Sequence[int], context: Sequence[int], *, window: int, stride: int
) -> Prefix:
    """Divide a window: the beginning, then the context, then room for the text.

    Of a context that would take more than half of the window, the end is kept. The step shrinks
    with the room, so that later windows still see the text before.
    """
    space = max(window // 2 - len(beginning), 0)
    end_of_context = context[max(len(context) - space, 0) :]
    room = window - len(beginning) - len(end_of_context)
    return Prefix((*beginning, *end_of_context), room, max(1, stride * room // window))


T = TypeVar("T")
# Rows of guesses that are turned into probabilities at once.
ROWS = 256


def batch_by_length(lengths: Sequence[int], *, budget: int) -> list[list[int]]:
    """Indices in batches, the longest first; a batch padded to its longest is within the budget.

    One that is over the budget by itself is a batch of its own. Each index is in one batch.
    """
    batches: list[list[int]] = []
    room = 0
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if not batches or len(batches[-1]) >= room:
            batches.append([])
            room = max(budget // max(lengths[index], 1), 1)
        batches[-1].append(index)
    return batches


def run_batches(
    run: Callable[[list[int]], list[T]], lengths: Sequence[int], *, budget: int
) -> list[T]:
    """Run all in batches of about one length; `run` takes numbers and gives a result for each.

    A batch for which memory does not suffice is halved, again and again if need be.
    """
    results: dict[int, T] = {}
    todo = batch_by_length(lengths, budget=budget)
    looking = watch.get()
    while todo:
        batch = todo.pop()
        if len(lengths) > 1:
            looking.tell_detail(f"window {len(results) + 1:,} of {len(lengths):,}")
        try:
            results.update(zip(batch, run(batch), strict=True))
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if len(batch) == 1:
                raise UserError(
                    f"memory does not suffice for {lengths[batch[0]]} tokens at once",
                    "take a smaller window, dtype='bf16' or another device",
                ) from error
            middle = len(batch) // 2
            todo += [batch[:middle], batch[middle:]]
    return [results[number] for number in range(len(lengths))]


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory did not suffice; torch says so in words on a CPU."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in words or "can't allocate" in words


@dataclass(frozen=True)
class Frame:
    """What a model puts around the tokens of a text and between two texts; how much it reads."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    after: tuple[int, ...]
    longest: int  # tokens at once, those above included

    @property
    def room(self) -> int:
        """Tokens of a text that it reads at once."""
        return self.longest - len(self.before) - len(self.after)

    @property
    def pair_room(self) -> int:
        """Tokens that it reads of either text of a pair."""
        return (self.room - len(self.between)) // 2

    def put_around(self, ids: Sequence[int]) -> list[int]:
        """Give a text as the model reads it."""
        return [*self.before, *ids, *self.after]

    def join_pair(self, first: Sequence[int], second: Sequence[int]) -> tuple[list[int], int]:
        """Give two texts as the model reads them together, and where the second one begins."""
        left = [*self.before, *first, *self.between]
        return [*left, *second, *self.after], len(left)


def pad_rows(rows: Sequence[Sequence[int]], filler: int, device: Any) -> tuple[Any, Any]:
    """Rows of one length, filled up on the right, and a mask of what is not filler."""
    torch = package("torch")
    longest = max(map(len, rows))
    ids = [[*row, *[filler] * (longest - len(row))] for row in rows]
    mask = [[1] * len(row) + [0] * (longest - len(row)) for row in rows]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)  # (B, T) each


def gather_logs(logits: Any, targets: Sequence[int]) -> tuple[Array, Array]:
    """Logs of the targets and entropies of the guesses: (T, vocabulary) → (T,) each."""
    torch = package("torch")
    wanted = torch.tensor(list(targets), device=logits.device)
    logs, entropies = [], []
    for start in range(0, len(wanted), ROWS):
        # A few rows at a time: in full precision a whole window's guesses take too much room.
        guesses = logits[start : start + ROWS].float().log_softmax(-1)
        logs.append(guesses.gather(-1, wanted[start : start + ROWS, None])[:, 0])
        entropies.append(torch.special.entr(guesses.exp()).sum(-1))
    return _to_array(torch, logs), _to_array(torch, entropies)


def _to_array(torch: Any, parts: list[Any]) -> Array:
    joined = torch.cat(parts) if parts else torch.zeros(0)
    array: Array = joined.double().cpu().numpy()
    return array
