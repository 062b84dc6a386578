"""Batches of a masked language model: windows of stories, hidden tokens, and guesses at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.learned.training.batches import (
    CLS,
    MASK,
    PAD,
    SEP,
    TokenBatch,
    Window,
    fill_rows,
    pack,
)
from fabula.learned.training.examples import TokenSet
from fabula.learned.training.loop import Sampler
from fabula.meta.resampling import Estimate

if TYPE_CHECKING:
    from torch import Tensor

    from fabula.learned.training.encoder import EncoderRecipe

Array = np.ndarray[Any, np.dtype[Any]]
Span = tuple[int, int, int]  # start and end in the flat array of a token set, and the text it is of

_OPEN_ROWS = 16
_Z = 1.959964


@dataclass(frozen=True)
class Masked:
    """Tokens with some hidden; `places` are those in the flat batch, `labels` what stood there."""

    batch: TokenBatch
    ids: Array  # (B, T)
    places: Array  # (M,)
    labels: Array  # (M,)

    @property
    def size(self) -> int:
        """Tokens that are no filler."""
        return self.batch.size


def cut_spans(tokens: TokenSet, window: int, rng: np.random.Generator | None = None) -> list[Span]:
    """Cut texts into spans for windows of `window` tokens; with `rng`, the first cut is anywhere.

    Epochs then part long texts at other places.
    """
    room = window - 2
    spans = []
    ends = tokens.offsets.tolist()
    shifts = rng.integers(1, room + 1, len(tokens)).tolist() if rng else [room] * len(tokens)
    for owner, (start, end) in enumerate(pairwise(ends)):
        cut = start + (shifts[owner] if end - start > room else room)
        while start < end:
            spans.append((start, min(cut, end), owner))
            start, cut = cut, cut + room
    return spans


def pack_spans(spans: Sequence[Span], window: int) -> list[list[Span]]:
    """Pack spans, with [CLS] and [SEP] around each, into rows of `window` tokens."""
    rows = pack([end - start + 2 for start, end, _ in spans], window, open_rows=_OPEN_ROWS)
    return [[spans[number] for number in row] for row in rows]


def fill_spans(rows: Sequence[Sequence[Span]], tokens: TokenSet, window: int) -> TokenBatch:
    """Write the tokens of spans into the rows of a batch."""
    windows = [
        Window([CLS, *tokens.flat[start:end].tolist(), SEP], owner)
        for start, end, owner in chain.from_iterable(rows)
    ]
    ends = np.cumsum([0, *map(len, rows)]).tolist()
    return fill_rows([range(*both) for both in pairwise(ends)], windows, window)


def sample_rows(tokens: TokenSet, recipe: EncoderRecipe) -> Sampler[list[Span]]:
    """Sample rows of spans; what an epoch holds follows from the seed and its number alone."""

    def order(epoch: int) -> list[list[Span]]:
        rng = np.random.default_rng([recipe.seed, epoch])
        spans = cut_spans(tokens, recipe.window, rng)
        rows = pack_spans([spans[i] for i in rng.permutation(len(spans))], recipe.window)
        return [rows[i] for i in rng.permutation(len(rows))]

    return Sampler(order, recipe.rows)


def join_sets(sets: Sequence[TokenSet]) -> TokenSet:
    """Make one set of several."""
    if not sets:
        return TokenSet(np.zeros(0, dtype=np.uint16), np.zeros(1, dtype=np.int64))
    shifts = np.cumsum([0, *(tokens.offsets[-1] for tokens in sets)])
    offsets = [tokens.offsets[:-1] + shift for tokens, shift in zip(sets, shifts, strict=False)]
    return TokenSet(
        np.concatenate([tokens.flat for tokens in sets]), np.concatenate([*offsets, shifts[-1:]])
    )


def mask_tokens(
    batch: TokenBatch, rng: np.random.Generator, *, rate: float, vocabulary: int | None
) -> Masked:
    """Hide `rate` of the tokens, none of them special.

    With a vocabulary, for training: of ten, eight become [MASK], one any token, one stays. Without
    one, for evaluation: all become [MASK].
    """
    flat = batch.ids.reshape(-1)
    plain = np.flatnonzero((flat != PAD) & (flat != CLS) & (flat != SEP))
    count = round(rate * len(plain))
    places = np.sort(rng.permutation(plain)[:count])
    labels = flat[places]
    hidden = flat.copy()
    if vocabulary is None:
        hidden[places] = MASK
    else:
        chance = rng.random(count)
        other = rng.integers(0, vocabulary, count)
        hidden[places] = np.where(chance < 0.8, MASK, np.where(chance < 0.9, other, labels))
    return Masked(batch, hidden.reshape(batch.ids.shape), places, labels)


def held_out_batches(tokens: TokenSet, recipe: EncoderRecipe) -> list[Masked]:
    """Hide `mask_rate` of the tokens behind [MASK]: always the same ones, whatever the seed."""
    rows = pack_spans(cut_spans(tokens, recipe.window), recipe.window)
    batches = []
    for start in range(0, len(rows), recipe.rows):
        batch = fill_spans(rows[start : start + recipe.rows], tokens, recipe.window)
        rng = np.random.default_rng([start, 1])
        batches.append(mask_tokens(batch, rng, rate=recipe.mask_rate, vocabulary=None))
    return batches


@dataclass(frozen=True)
class Guessed:
    """Share of hidden tokens that are the first guess, or among the first five."""

    top1: Estimate
    top5: Estimate
    tokens: int
    stories: int

    def plain(self) -> dict[str, Any]:
        """Give plain values for JSON."""
        shares = {"top1": self.top1.plain(), "top5": self.top5.plain()}
        return {**shares, "tokens": self.tokens, "stories": self.stories}


def evaluate_guesses(batches: Sequence[Masked], guess: Callable[[Masked], Tensor]) -> Guessed:
    """Count the guesses that are right, story by story; `guess` gives logits: (M, V)."""
    owners, first, among = [], [], []
    for masked in batches:
        best = guess(masked).topk(5).indices.cpu().numpy()  # (M, 5)
        right = best == masked.labels[:, None]
        windows = masked.batch.windows.reshape(-1)[masked.places]
        owners.append(masked.batch.owners[windows])
        first.append(right[:, 0])
        among.append(right.any(axis=1))
    owner = np.concatenate(owners)
    counts = np.bincount(owner)
    return Guessed(
        share_of(np.bincount(owner, np.concatenate(first)), counts),
        share_of(np.bincount(owner, np.concatenate(among)), counts),
        len(owner),
        int((counts > 0).sum()),
    )


def share_of(hits: Array, counts: Array) -> Estimate:
    """Ratio of sums, with the linearised standard error of a ratio over stories."""
    total, stories = counts.sum(), (counts > 0).sum()
    value = float(hits.sum() / total)
    spread = float(((hits - value * counts) ** 2).sum())
    error = _Z * sqrt(spread * stories / max(1, stories - 1)) / float(total)
    return Estimate(value, max(0.0, value - error), min(1.0, value + error), int(stories))
