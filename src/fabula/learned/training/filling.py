"""Negatives by guesswork: words of a few sentences are hidden, and guessed from the rest of each.

Such sentences read well by themselves and do not go together, which is how machine stories fail.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.learned.training.batches import CLS, MASK, PAD, SEP
from fabula.learned.training.bert import Shape, encode, guess
from fabula.learned.training.examples import ExampleSet, example_set
from fabula.learned.training.loop import mix_precision

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Array = np.ndarray[Any, np.dtype[Any]]

_SHARES = (0.25, 0.4, 0.55)  # of a sentence's words
_COUNTS = (1, 1, 2, 2, 3)  # sentences of a story
_STOPS = frozenset((1012, 1029, 999))  # . ? !
_FIRST_WORD = 999  # word pieces below are signs and marks
_TOP, _TEMPERATURE = 50, 0.9
_ROWS = 1024
_LONGEST = 254


def fill_words(
    runs: ExampleSet,
    weights: Mapping[str, Tensor],
    shape: Shape,
    *,
    device: torch.device,
    seed: int,
) -> ExampleSet:
    """Make examples of stories (1) and of the same with guessed words (0)."""
    stories = [[runs.text(number) for number in range(*run)] for run in runs.members.tolist()]
    filler = _Filler({k: v.to(device) for k, v in weights.items()}, shape, device, seed)
    changed = filler.stories(stories)
    places = [
        i for i, (story, told) in enumerate(zip(stories, changed, strict=True)) if story != told
    ]
    texts = [_join(source[i]) for source in (stories, changed) for i in places]
    labels = [[1.0]] * len(places) + [[0.0]] * len(places)
    items = [runs.items[i] for i in places] * 2
    return example_set(texts, [[i] for i in range(len(texts))], labels, items=items, ids=[])


def _join(story: Sequence[Sequence[int]]) -> list[int]:
    return [piece for sentence in story for piece in sentence]


class _Filler:
    def __init__(
        self, weights: Mapping[str, Tensor], shape: Shape, device: torch.device, seed: int
    ) -> None:
        import torch

        self._weights, self._shape, self._device = weights, shape, device
        self._rng = random.Random(seed)
        self._draw = torch.Generator(device).manual_seed(seed)

    def stories(self, stories: Sequence[Sequence[Sequence[int]]]) -> list[list[list[int]]]:
        """Give every story with some sentences changed."""
        changed = [[list(sentence) for sentence in story] for story in stories]
        wanted = [
            (sentence, hidden)
            for story in changed
            for sentence in self._choose_sentences(story)
            if (hidden := self._choose_words(sentence))
        ]
        wanted.sort(key=lambda pair: len(pair[0]))
        for start in range(0, len(wanted), _ROWS):
            part = wanted[start : start + _ROWS]
            # In two goes, so that half of the guesses know the other half.
            self._fill(part, [hidden[::2] for _, hidden in part], [h[1::2] for _, h in part])
            self._fill(part, [hidden[1::2] for _, hidden in part], [[] for _ in part])
        return changed

    def _choose_sentences(self, story: Sequence[list[int]]) -> list[list[int]]:
        """Draw sentences after the first."""
        count = min(len(story) - 1, self._rng.choice(_COUNTS))
        self._share = self._rng.choice(_SHARES)
        chosen = [story[place] for place in self._rng.sample(range(1, len(story)), count)]
        return [sentence for sentence in chosen if len(sentence) <= _LONGEST]

    def _choose_words(self, sentence: Sequence[int]) -> list[int]:
        return [
            place
            for place, piece in enumerate(sentence)
            if self._rng.random() < self._share and piece not in _STOPS
        ]

    def _fill(
        self,
        part: Sequence[tuple[list[int], list[int]]],
        guessed: Sequence[Sequence[int]],
        hidden: Sequence[Sequence[int]],
    ) -> None:
        """Put guesses into sentences; other places are hidden too, but left."""
        cells = [(row, place) for row, places in enumerate(guessed) for place in places]
        if not cells:
            return
        ids = np.full(
            (len(part), max(len(sentence) for sentence, _ in part) + 2), PAD, dtype=np.int64
        )
        for row, (sentence, _) in enumerate(part):
            ids[row, : len(sentence) + 2] = [CLS, *sentence, SEP]
            ids[row, [place + 1 for place in (*guessed[row], *hidden[row])]] = MASK
        for (row, place), piece in zip(cells, self._guesses(ids, cells), strict=True):
            part[row][0][place] = piece

    def _guesses(self, ids: Array, cells: Sequence[tuple[int, int]]) -> list[int]:
        import torch

        there = torch.from_numpy(ids).to(self._device)
        positions = torch.arange(ids.shape[1], device=self._device).expand_as(there)
        at = torch.tensor(cells, device=self._device)
        with torch.no_grad(), mix_precision(self._device):
            states = encode(
                self._weights, there, positions, (there != PAD).long(), shape=self._shape
            )
            logits = guess(self._weights, states[at[:, 0], at[:, 1] + 1], self._shape).float()
        logits[:, :_FIRST_WORD] = -torch.inf
        best = logits.topk(_TOP)
        drawn = torch.multinomial((best.values / _TEMPERATURE).softmax(-1), 1, generator=self._draw)
        pieces: list[int] = best.indices.gather(1, drawn)[:, 0].tolist()
        return pieces
