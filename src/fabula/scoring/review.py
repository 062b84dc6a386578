"""A review: one story, every opinion, and comments on the aspects that readers would speak of.

Scores come first (`scored_review`), comments after them (`comment_on`), for these may take long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.comments.composer import Comment, compose_comment
from fabula.learned.comments.evidence import Evidence, StorySentences, find_evidence
from fabula.scoring._review_opinions import (
    BASELINES,
    ORDER_WEIGHTS,
    PREFERENCE,
    WEIGHTS,
    opinions_on,
)
from fabula.scoring._review_parts import AspectReview, Opinions, Review
from fabula.scoring._review_repetition import repetitions

# Readers of StoryER spoke of three to five of the ten aspects.
LEAST_COMMENTS, MOST_COMMENTS = 3, 5


class Commenting(Protocol):
    """Writes comments, for so long in all."""

    def deadline(self) -> float:
        """When the time is spent, if it begins now."""
        ...

    def comment(
        self,
        text: str,
        evidence: Evidence,
        rating: float,
        *,
        until: float,
        usual: float = 3.0,
        seed: int = 0,
    ) -> Comment | None:
        """Give a comment on a story's aspect; None without evidence."""
        ...


def review(
    story: Story,
    *,
    weights: str = WEIGHTS,
    order: str = ORDER_WEIGHTS,
    comments: bool = True,
    commenter: Commenting | None = None,
    seed: int = 0,
    cache: bool | str | Path = False,
) -> Review:
    """Review a story: scores, evidence, and comments, composed unless somebody writes them."""
    found = scored_review(story, opinions_on(story, weights=weights, order=order, cache=cache))
    if not comments:
        return found
    for later in comment_on(found, commenter, seed=seed):
        found = later
    return found


def scored_review(story: Story, opinions: Opinions) -> Review:
    """Put together all but the comments, from what everyone says."""
    weakest = min(
        range(len(opinions.steps)), key=lambda at: opinions.steps[at].probability, default=None
    )
    return Review(
        story=story,
        preference=opinions.value(PREFERENCE),
        percentile=opinions.value(PREFERENCE, "percentile"),
        interval=opinions.interval,
        coherence=opinions.value("coherence"),
        criteria=opinions.values("criteria"),
        aspects=_aspects(story, opinions),
        steps=opinions.steps,
        weakest=weakest,
        repetition=repetitions(story.text),
        statistics=opinions.values(BASELINES),
        warnings=_warnings(opinions),
        lacks=opinions.lacks,
        signatures=opinions.signatures,
    )


def comment_on(
    found: Review, commenter: Commenting | None = None, *, seed: int = 0
) -> Iterator[Review]:
    """Add a comment at a time, on the aspects we are surest of; give the review after each."""
    until = commenter.deadline() if commenter else math.inf
    for one in commented_aspects(found):
        if commenter is None:
            comment = compose_comment(
                found.story.text, one.evidence, one.rating, usual=one.usual, seed=seed
            )
        else:
            comment = commenter.comment(
                found.story.text, one.evidence, one.rating, until=until, usual=one.usual, seed=seed
            )
        if comment is not None:
            told = replace(one, comment=comment.text, by=comment.by)
            aspects = tuple(told if other.name == one.name else other for other in found.aspects)
            found = replace(found, aspects=aspects)
            yield found


def commented_aspects(found: Review) -> list[AspectReview]:
    """Choose the aspects to comment on: rated, with evidence, and surer than an even share.

    At least three, where there are so many, and at most five.
    """
    ready = [one for one in found.aspects if one.evidence.found and math.isfinite(one.rating)]
    ready.sort(key=lambda one: -one.confidence if math.isfinite(one.confidence) else 0.0)
    even = 1 / len(ASPECTS)
    sure = sum(one.confidence > even for one in ready)
    return ready[: min(max(sure, LEAST_COMMENTS), MOST_COMMENTS)]


def _aspects(story: Story, opinions: Opinions) -> tuple[AspectReview, ...]:
    sentences = StorySentences(story.text)
    return tuple(
        AspectReview(
            name,
            opinions.value("confidence", name),
            opinions.value("aspects", name),
            find_evidence(sentences, name),
            usual=opinions.usual.get(name, 3.0),
        )
        for name in ASPECTS
    )


def _warnings(opinions: Opinions) -> tuple[str, ...]:
    """What scores say of themselves, each once; of a missing model the lacks speak."""
    lacking = {lack.why for lack in opinions.lacks}
    notes: dict[str, list[str]] = {}
    for part, scores in opinions.scores.items():
        for score in scores.values():
            if score.note and score.note not in lacking:
                parts = notes.setdefault(score.note, [])
                name = score.scorer.partition("(")[0] if part == BASELINES else part
                if name not in parts:
                    parts.append(name)
    return tuple(f"{', '.join(parts)}: {note}" for note, parts in notes.items())
