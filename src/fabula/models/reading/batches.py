"""Rows of tokens through a model, in batches of about one length that fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from fabula.core.errors import UserError
from fabula.models._runtime import package

if TYPE_CHECKING:
    from fabula.core.model import Array

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
    while todo:
        batch = todo.pop()
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
