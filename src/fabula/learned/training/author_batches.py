"""Rows that a co-author learns from: stories as tokens, cut into pieces and packed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import SettingError
from fabula.learned.training.batches import pack

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
Piece = tuple[int, int, int]  # start and end in the flat array, and where its story's text begins


@dataclass(frozen=True)
class StoryTokens:
    """Stories end to end: story i is `flat[offsets[i] : offsets[i + 1]]`, prompt before text.

    `begins[i]` is where in `flat` its text begins, after the prompt and the signs before it.
    `kinds` say of every token which combination of marks it belongs to, where that is told.
    """

    flat: Array
    offsets: Array
    begins: Array
    kinds: Array | None = None

    def __len__(self) -> int:
        return len(self.begins)

    def describe(self) -> dict[str, Any]:
        """Counts and a digest, for the record."""
        digest = hashlib.sha256()
        arrays = [(self.flat, "<i4"), (self.offsets, "<i8"), (self.begins, "<i8")]
        arrays += [] if self.kinds is None else [(self.kinds, "<i4")]
        for array, kind in arrays:
            digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
        return {
            "stories": len(self),
            "with_prompt": int((self.begins - self.offsets[:-1] > 1).sum()),
            "tokens": len(self.flat),
            "sha256": digest.hexdigest(),
        }

    def pieces(self, window: int) -> list[Piece]:
        """Cut stories into pieces of at most `window` tokens.

        A piece begins with the last token of the one before it, so that every token but a story's
        first is foretold once.
        """
        pieces = []
        for (start, end), begin in zip(
            pairwise(self.offsets.tolist()), self.begins.tolist(), strict=True
        ):
            while end - start > 1:
                pieces.append((start, min(start + window, end), begin))
                start += window - 1
        return pieces


@dataclass(frozen=True)
class AuthorBatch:
    """Rows of packed pieces, all arrays (B, T).

    `segments` number the pieces of a row, from 1; fillers have 0. `counts` says whether a token is
    learned from, that is foretold from those before it in its piece.
    """

    ids: Array
    positions: Array
    segments: Array
    counts: Array
    stories: Array  # number of the piece that a token is of, over the whole batch
    kinds: Array  # which combination of marks a token belongs to

    @property
    def size(self) -> int:
        """Tokens that are no filler."""
        return int((self.segments > 0).sum())

    def rows(self, start: int, stop: int) -> AuthorBatch:
        """Give some of the rows, as long as their longest."""
        longest = int((self.segments[start:stop] > 0).sum(axis=1).max())
        arrays = (
            self.ids, self.positions, self.segments, self.counts, self.stories, self.kinds
        )  # fmt: skip
        return AuthorBatch(*(array[start:stop, :longest] for array in arrays))


def pack_pieces(pieces: Sequence[Piece], window: int, *, open_rows: int) -> list[list[Piece]]:
    """Put pieces into rows of `window` tokens; without open rows, each into one of its own."""
    if not open_rows:
        return [[piece] for piece in pieces]
    rows = pack([end - start for start, end, _ in pieces], window, open_rows=open_rows)
    return [[pieces[number] for number in row] for row in rows]


def fill_rows(
    rows: Sequence[Sequence[Piece]], tokens: StoryTokens, *, with_prompt: bool
) -> AuthorBatch:
    """Write the tokens of pieces into rows; `with_prompt`, prompts are learned from as well."""
    longest = max(sum(end - start for start, end, _ in row) for row in rows)
    arrays = np.zeros((6, len(rows), longest), dtype=np.int64)
    ids, positions, segments, counts, stories, kinds = arrays
    number = 0
    for row, pieces in enumerate(rows):
        at = 0
        for segment, (start, end, begin) in enumerate(pieces, 1):
            place = slice(at, at + end - start)
            ids[row, place] = tokens.flat[start:end]
            positions[row, place] = np.arange(end - start)
            segments[row, place] = segment
            counts[row, place] = True if with_prompt else np.arange(start, end) >= begin
            counts[row, at] = False  # nothing stands before it
            stories[row, place] = number
            if tokens.kinds is not None:
                kinds[row, place] = tokens.kinds[start:end]
            at, number = at + end - start, number + 1
    return AuthorBatch(ids, positions, segments, counts.astype(bool), stories, kinds)


def part_attention(segments: Tensor, kind: torch.dtype) -> Tensor:
    """Let a token see those before it in its own piece: 0, else the least number (B, 1, T, T)."""
    import torch

    length = segments.shape[1]
    same = segments[:, :, None] == segments[:, None, :]
    before = torch.ones(length, length, dtype=torch.bool, device=segments.device).tril()
    mask = torch.zeros(same.shape, dtype=kind, device=segments.device)
    return mask.masked_fill(~(same & before), torch.finfo(kind).min)[:, None]


def require_parting(net: Any, name: str, device: torch.device) -> None:
    """Refuse a causal model whose tokens cannot be kept from seeing another piece of their row.

    Some read masks of another form, and some, as state space models, no mask: tried on two rows
    that differ in their first piece alone.
    """
    import torch

    def put(rows: list[list[int]]) -> Tensor:
        return torch.tensor(rows, device=device)

    rows, pieces = put([[1, 2, 3, 4], [2, 1, 3, 4]]), put([[0, 0, 1, 1]] * 2)
    was_training, weights = net.training, next(net.parameters())
    net.eval()
    try:
        with torch.no_grad():
            mask = part_attention(pieces, weights.dtype)
            places = put([[0, 1, 0, 1]] * 2)
            read = net(rows, attention_mask=mask, position_ids=places, use_cache=False)
        one, other = read.logits[:, 2:].float()
        is_parted, why = torch.allclose(one, other, rtol=0, atol=1e-3), "it sees beyond its piece"
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        is_parted, why = False, str(error).strip().partition("\n")[0]
    net.train(was_training)
    if not is_parted:
        problem = f"{name} cannot learn from stories that share a row ({why})"
        raise SettingError(problem, "take a model that reads masks of attention, such as a Llama")
