"""How the sentences of a story follow one another, told in two ways that no opinion has taught.

`states` looks at an encoder that stays as it was before any person's opinion was learned from;
`steps` asks the judge of sentence order about every two neighbours. So both can be measured on
every set of ratings. Weights of this kind are read beside others, whose layers have been trained.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.core.plain import read_tensors
from fabula.learned.reader.config import REMEDY, ReaderConfig
from fabula.learned.reader.network import FILE, HeadLayers, count_unknown, read_head
from fabula.models.networks.encoder import load_pooled_bert
from fabula.models.reading.windows import cut_evenly
from fabula.text.detokenise import split_any_case

if TYPE_CHECKING:
    from fabula.core.model import Array, TokenCount
    from fabula.learned.reader.relation import ReaderDtype
    from fabula.models.networks.encoder import PooledBert

    Outputs = Mapping[str, Array]

STATES, STEPS = "states", "steps"
ORDER = "order"  # the head of the judge of sentence order
# Parts of a story's row, each as wide as a state: four of neighbours, three of single sentences.
PARTS = 7
# No step counts for more than odds of 20 to 1; a sentence that is said again counts as the worst.
STEP_BOUND = 3.0
# States of so many characters are held at once, some 40 MB; a longer text is read by itself.
_CHARACTERS_AT_ONCE = 100_000


class PairReader(Protocol):
    """Who tells of two neighbouring sentences whether they are in their own order."""

    def pair_outputs(self, pairs: Sequence[tuple[str, str]], head: str) -> Array:
        """Give what a head says of every pair of texts: (pairs, outputs)."""


@dataclass(frozen=True)
class SequenceNetwork:
    """The two opinions on how sentences follow one another."""

    encoder: PooledBert = field(repr=False)
    head: HeadLayers = field(repr=False)
    judge: PairReader = field(repr=False)
    window: int
    layer: int

    @property
    def pair_room(self) -> int:
        """Tokens that are read of either text of a pair: none."""
        return 0

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of every text."""
        return [len(self.encoder.ids(text)) for text in texts]

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and those that are not in the vocabulary."""
        return count_unknown(self.encoder, texts)

    def pair_outputs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Outputs]:
        """Refuse: it tells of stories."""
        raise SettingError("these weights read no pairs of texts", "take others")

    def window_outputs(self, texts: Sequence[str]) -> Iterator[Outputs]:
        """Give for every text both opinions on it: (1, 1) each, or none: (0, 1).

        Of a text of fewer than two sentences nothing can be said.
        """
        import torch

        for some in _part_texts(texts):
            rows = describe_sequences(self.encoder, some, layer=self.layer, window=self.window)
            with torch.inference_mode():
                states = self.head(torch.from_numpy(rows)).numpy()
            steps = judge_steps(self.judge, some)[:, None]
            for at in range(len(some)):
                stop = at if np.isnan(states[at] + steps[at]) else at + 1
                yield {STATES: states[at:stop], STEPS: steps[at:stop]}


def open_sequence(
    folder: Path, config: ReaderConfig, judge: PairReader, dtype: ReaderDtype
) -> SequenceNetwork:
    """Read the head of a folder, and open the encoder that it looks at."""
    encoder = load_pooled_bert(config.encoder.name, dtype=dtype)
    layers = len(encoder.bert.stack)
    if not 1 <= config.layer <= layers or config.window > encoder.room:
        problem = f"{folder}: layer {config.layer} or windows of {config.window} are not for it"
        raise InputError(problem, f"the encoder has {layers} layers and reads {encoder.room}")
    if set(config.heads) != {STATES, STEPS}:
        raise InputError(f"{folder}: the heads of a sequence are {STATES} and {STEPS}", REMEDY)
    tensors = read_tensors(folder / FILE, remedy=REMEDY)
    in_double = {name: tensor.double() for name, tensor in tensors.items()}
    width = PARTS * encoder.bert.width
    head = read_head(folder / FILE, STATES, config.heads[STATES], in_double, width)
    return SequenceNetwork(encoder, head, judge, config.window, config.layer)


def _part_texts(texts: Sequence[str]) -> Iterator[list[str]]:
    """Give texts in their order, so many at once that their states have room."""
    part, size = list[str](), 0
    for text in texts:
        if part and size + len(text) > _CHARACTERS_AT_ONCE:
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part


def judge_steps(judge: PairReader, texts: Sequence[str]) -> Array:
    """Give the mean over a text's neighbouring sentences of the log odds of their order: (texts,).

    NaN where there are no two sentences.
    """
    pairs = [[*pairwise(split_any_case(text))] for text in texts]
    asked = list(dict.fromkeys(pair for row in pairs for pair in row if pair[0] != pair[1]))
    logits = judge.pair_outputs(asked, ORDER)[:, 0] if asked else ()
    odds = dict(zip(asked, np.clip(logits, -STEP_BOUND, STEP_BOUND), strict=True))
    return np.array(
        [np.mean([odds.get(pair, -STEP_BOUND) for pair in row]) if row else np.nan for row in pairs]
    )


def describe_sequences(
    encoder: PooledBert, texts: Sequence[str], *, layer: int, window: int
) -> Array:
    """Give a row for every text: (texts, PARTS × width); NaN where it has no two sentences.

    Of a layer's states every sentence has three: the mean over its tokens, the first and the last.
    Parts are means: over neighbouring sentences the products and the distances of their means, and
    those of the last state of one and the first of the next; and over sentences their three.
    """
    cut = [[ids for ids in map(encoder.ids, split_any_case(text)) if ids] for text in texts]
    whole = [[number for ids in sentences for number in ids] for sentences in cut]
    places = [cut_evenly(len(ids), window) for ids in whole]
    windows = [
        ids[place.start : place.stop]
        for ids, of_text in zip(whole, places, strict=True)
        for place in of_text
    ]
    states = [one.numpy() for one in encoder.states(windows, layer)]
    ends = accumulate(map(len, places), initial=0)
    rows = np.full((len(texts), PARTS * encoder.bert.width), np.nan)
    for number, (start, stop) in enumerate(pairwise(ends)):
        if len(cut[number]) > 1:
            of_text = np.concatenate(states[start:stop]).astype(np.float64)  # (tokens, width)
            rows[number] = _describe(of_text, [len(ids) for ids in cut[number]])
    return rows


def _describe(states: Array, lengths: Sequence[int]) -> Array:
    counts = np.array(lengths)
    stops = np.cumsum(counts)
    starts = stops - counts
    means = np.add.reduceat(states, starts, axis=0) / counts[:, None]  # (sentences, width)
    firsts, lasts = states[starts], states[stops - 1]
    parts = (
        means[:-1] * means[1:], abs(means[:-1] - means[1:]),
        lasts[:-1] * firsts[1:], abs(lasts[:-1] - firsts[1:]),
        means, firsts, lasts,
    )  # fmt: skip
    return np.concatenate([part.mean(axis=0) for part in parts])
