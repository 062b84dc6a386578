"""RoViST-C: how well each sentence of a story follows the one before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from fabula.core.card import Card
from fabula.core.score import Reading, Status
from fabula.core.story import Story
from fabula.learned.reader.metric import ReaderMetric, Weights
from fabula.text.detokenise import split_any_case
from fabula.text.layout import Span, lay_out, read_plain

if TYPE_CHECKING:
    from fabula.core.model import Array

    Pair = tuple[str, str]

# The logit of identical neighbours, whose probability is 0: odds of 1 to 99.
IDENTICAL_LOGIT = -math.log(99)


@dataclass(frozen=True)
class Transition:
    """Two neighbouring sentences, and the probability that they stand in their own order.

    `places` say where each stands in the story as it was given.
    """

    first: str
    second: str
    probability: float
    places: tuple[Span, Span]


@dataclass(frozen=True)
class RovistC(ReaderMetric):
    """Mean probability that neighbouring sentences are in their own order (Wang et al., 2022)."""

    revision = 3
    card = Card(
        title="RoViST-C: coherence by the order of sentences",
        family="learned",
        direction="higher",
        assets=("story_encoder", "order"),
        paper="Wang, Han and Poon (2022). RoViST: Learning robust metrics for visual "
        "storytelling. Findings of NAACL, 2691–2702.",
        formula="mean over neighbouring sentences a, b of p(a before b), from 0 to 1; with "
        "by='logit' the mean of log(p / (1 − p)), without bounds; with context='story' a is the "
        "story so far, as much of it as 120 tokens hold",
        compat="The same numbers: the model of the release, an ALBERT, is another; its rule for "
        "identical neighbours is the default here too.",
        quirks=(
            "Identical neighbours have probability 0, and the model is not asked: it could not "
            "tell their order, and repetition is no coherence. With by='logit' they count as odds "
            f"of 1 to 99 ({IDENTICAL_LOGIT:.1f}), because the logit of 0 is no number.",
            "A story of one sentence has no neighbours and no value; in the release it is NaN.",
            "Of either sentence of a pair the first 120 tokens are read; where one is longer, the "
            "coverage says so.",
            "Sentences are Fabula's, in the release NLTK's.",
            "The values published for human VIST stories go with neighbours hardly beyond the "
            "first pair, and well with each sentence beside all before it: context='story' is for "
            "who compares with them.",
            "Sure answers pull the mean probability to 0 and 1; the mean logit keeps how sure.",
            "Measured on neighbours of stories that it did not learn from, either way round: told "
            "right .844 [.837, .851] of ROCStories' (2,029 stories), .691 [.686, .696] of those of "
            "VIST's test references (5,045). Spearman with the values published for 2,000 human "
            "VIST stories: .501 [.468, .535] by='logit', .385 [.346, .421] by probability; with "
            "context='story' .640 [.610, .668] and .630 [.599, .660]. The mean of three trainings' "
            "weights.",
        ),
        cannot_see="Whether sentences far from each other belong together, and whether the story "
        "is worth telling: a list of steps in order scores high.",
    )

    weights: Weights = "order"
    by: Literal["probability", "logit"] = "probability"
    context: Literal["sentence", "story"] = "sentence"

    def transitions(self, story: Story) -> list[Transition]:
        """Give every pair of neighbouring sentences with its probability, in the story's order."""
        pairs, places = _neighbours(story), pairwise(_place_sentences(story))
        chances = _probabilities(self._logits(self._add_context(pairs), pairs), pairs)
        return [
            Transition(*pair, float(chance), spans)
            for pair, chance, spans in zip(pairs, chances, places, strict=True)
        ]

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Ask about the pairs of all stories at once."""
        by_story = [_neighbours(story) for story in stories]
        asked = [pair for pairs in by_story for pair in self._add_context(pairs)]
        logits = self._logits(asked, [pair for pairs in by_story for pair in pairs])
        ends = np.cumsum([len(pairs) for pairs in by_story])[:-1]
        return [
            self._average(story, pairs, of_pairs)
            for story, pairs, of_pairs in zip(
                stories, by_story, np.split(logits, ends), strict=True
            )
        ]

    def _average(self, story: Story, pairs: list[Pair], logits: Array) -> Reading:
        if not pairs:
            return self.missing(Status.UNDEFINED, "one sentence has no neighbour")
        values = logits if self.by == "logit" else _probabilities(logits, pairs)
        coverage = self.model.pair_coverage([pairs[0][0], *(second for _, second in pairs)])
        return self.make_reading(story, [float(values.mean())], coverage=coverage)

    def _add_context(self, pairs: list[Pair]) -> list[Pair]:
        """Give what each sentence is held against: the one before it, or the story so far."""
        if self.context == "sentence":
            return pairs
        sentences = [first for first, _ in pairs]
        lengths = self.model.source.lengths(sentences)
        room, begin, size = self.model.source.pair_room, 0, 0
        asked = []
        for place, (_, second) in enumerate(pairs):
            size += lengths[place]
            while size > room and begin < place:
                size -= lengths[begin]
                begin += 1
            asked.append((" ".join(sentences[begin : place + 1]), second))
        return asked

    def _logits(self, asked: list[Pair], pairs: list[Pair]) -> Array:
        """Logits of all pairs; the model is asked about those of two different sentences."""
        logits = np.full(len(pairs), IDENTICAL_LOGIT)
        places = [place for place, (first, second) in enumerate(pairs) if first != second]
        if places:
            outputs = self.model.pair_outputs([asked[place] for place in places], "order")
            logits[places] = outputs[:, 0]  # (pairs, 1) → (pairs,)
        return logits


def _neighbours(story: Story) -> list[Pair]:
    return list(pairwise(split_any_case(lay_out(story.text, "plain"))))


def _place_sentences(story: Story) -> list[Span]:
    """Give where the sentences that are read stand in the story as it was given."""
    plain, end = read_plain(story.text), 0
    spans = []
    for sentence in split_any_case(plain.text):
        start = plain.text.index(sentence, end)
        end = start + len(sentence)
        spans.append(plain.find_origin(start, end))
    return spans


def _probabilities(logits: Array, pairs: list[Pair]) -> Array:
    different = np.array([first != second for first, second in pairs], dtype=bool)
    # Written by tanh, which does not overflow.
    chances: Array = np.where(different, 0.5 + 0.5 * np.tanh(logits / 2), 0.0)
    return chances
