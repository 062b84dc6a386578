"""StoryER's ten aspects: a rating of each, or which of them a reader would speak of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from fabula.core.card import Card
from fabula.core.score import Reading, Score, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.reader.metric import ScaleMetric, Weights


@dataclass(frozen=True)
class Aspects(ScaleMetric):
    """Ratings from 1 to 5 of ten aspects of a story, as readers gave them (Chen et al., 2022).

    With `confidence`, the share of each aspect in what readers would choose to speak of. What the
    weights cannot tell from what raters give as a rule is missing, and the note says why.
    """

    revision = 4
    card = Card(
        title="StoryER: ratings of aspects",
        label="Aspects",
        family="learned",
        direction="higher",
        low=0.0,
        high=5.0,
        aspects=ASPECTS,
        assets=("story_encoder", "reader"),
        paper="Chen, Vo, Takamura, Miyao and Nakayama (2022). StoryER: Automatic story evaluation "
        "via ranking, rating and reasoning. EMNLP, 1739–1753.",
        formula="rating: a head's output, mean over the story's windows, moved to the raters' "
        "scale and bounded by 1 and 5; confidence: softmax over ten such outputs of another head",
        compat="The same numbers: the weights of the release cannot be had.",
        quirks=(
            "Ratings go from 1 to 5, as raters gave them; in the paper's model from 0 to 1.",
            "Shares (confidence=True) go from 0 to 1 and sum to 1; they say what a story is about "
            "for a reader, not how good it is.",
            "Missing is an aspect whose scale hardly moves, whose agreement with readers on unseen "
            "stories may be chance (Fisher's 95 % interval, Bonferroni over the ten), or which "
            "would be the same number as another. Of the weights that Fabula ships that are all "
            "ten, ratings and shares: guesses=True gives what they would be.",
            "A rater rated only the three to five aspects they were most sure of, so that a "
            "rating of an aspect with a low share is a guess at what nobody would say.",
            "Measured on the 100 rated stories by readers that had not seen the prompt: the mean "
            "of a story's ratings correlates with the raters' at .108 [-.093, .311]; of eight "
            "aspects one, scene, is told beyond chance (.367 [.078, .592], 38 stories; middle "
            ".167, opening .078), as may happen by chance among eight. "
            "For ending, character and novelty everyone would be given the raters' mean.",
            "Shares hardly differ between stories, for nothing could be learned of them: recall "
            "of the aspects that raters spoke of is .193, .528 and .798 at 1, 3 and 5, as by the "
            "raters' overall shares.",
            "Ratings are one impression of the story, from heads that learned elsewhere, moved to "
            "each aspect's usual rating.",
        ),
        cannot_see="Why a reader would rate so. All ten ratings come of one vector of the story, "
        "so that they may lean on one impression of it.",
    )

    weights: Weights = "reader"
    confidence: bool = False
    guesses: Annotated[bool, Means("also give what cannot be told from chance")] = False

    @property
    def scales(self) -> tuple[str, ...]:
        """Ratings, or confidences before they are shares."""
        head = "confidence" if self.confidence else "aspects"
        return tuple(f"{head}.{name}" for name in ASPECTS)

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Give the ten ratings, or the ten shares; those that tell nothing are missing."""
        readings = self._share_out(stories) if self.confidence else super().compute(stories)
        doubts = [] if self.guesses else [*self.doubts().values()]
        if not any(doubts):
            return readings
        statuses = tuple(Status.UNDEFINED if why else Status.OK for why in doubts)
        return [
            replace(reading, statuses=statuses) if reading.status is Status.OK else reading
            for reading in readings
        ]

    def scores_of(self, story: Story, reading: Reading) -> list[Score]:
        """Write a reading as scores, and beside an aspect that is missing alone why it is."""
        scores = super().scores_of(story, reading)
        if not reading.statuses:
            return scores
        reasons = self.doubts()
        return [
            score if score.ok else replace(score, note=reasons[score.aspect]) for score in scores
        ]

    def doubts(self) -> dict[str, str]:
        """Say of each aspect why its value tells nothing; two that are one number tell nothing."""
        doubts = super().doubts()
        alike: dict[object, list[str]] = {}
        for aspect, name in zip(self.aspects, self.scales, strict=True):
            # How sure a scale is, and where people's stories lie on it, moves no value.
            scale = replace(self.model.scale(name), percentiles=None, error=None)
            alike.setdefault(scale, []).append(aspect)
        for names in alike.values():
            for aspect in names if len(names) > 1 else ():
                others = " and ".join(name for name in names if name != aspect)
                doubts[aspect] = doubts[aspect] or f"it would be the same number as {others}"
        return doubts

    def usual(self) -> dict[str, float]:
        """Give what raters say of each aspect of a story that nothing is known of."""
        return {name: self.model.scale(f"aspects.{name}").value(0.0) for name in self.card.aspects}

    def _share_out(self, stories: Sequence[Story]) -> list[Reading]:
        """Give the softmax over the ten outputs."""
        values = self.model.values(self.scales, [story.text for story in stories])
        grown = np.exp(values - values.max(axis=1, keepdims=True))
        shares = grown / grown.sum(axis=1, keepdims=True)
        return [self.make_reading(story, row) for story, row in zip(stories, shares, strict=True)]
