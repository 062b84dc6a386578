"""The parts of a review: what is said of a story, and where in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.learned.comments.composer import Observation
from fabula.learned.comments.evidence import Evidence
from fabula.learned.writers import (
    USUAL_SCORES,
    USUAL_SHORT_SCORES,
    Audience,
    WriterOpinion,
    find_parting,
)
from fabula.scoring.review.marks import (
    GAUGES,
    LEAST_COHERENCE,
    SHORT_STORY,
    STEP_CHANCES,
    STEP_SHARES,
    Gauge,
)
from fabula.text.odd_words import OddWords, describe_odd_words
from fabula.text.repetition import Repetition, Span

if TYPE_CHECKING:
    from fabula.scoring.review.judging import JudgedStory
    from fabula.scoring.review.pictures import PicturedStory

WRITERS = "writers"
_SHIPPED_WRITERS = "writers(interval=True)"  # its weights have scored human stories


@dataclass(frozen=True)
class PlacedTransition:
    """From one sentence to the next: their places, and how likely the second is to follow.

    `rarity` is the share of such steps of human stories that are as unlikely; NaN where that is not
    known.
    """

    first: Span
    second: Span
    probability: float
    rarity: float = math.nan


UNLIKELY = 0.05  # a step as unlikely as 1 in 20 of human stories
_STANDS_OUT = 0.02  # that a story of as many steps has one as unlikely
_SPEECH_MARKS = frozenset('"“”«»')


def rate_step(text: str, step: PlacedTransition) -> PlacedTransition:
    """Add how rare a step as unlikely is among those of its kind in human stories."""
    shares = np.interp(step.probability, STEP_CHANCES[find_kind(text, step)], STEP_SHARES)
    return replace(step, rarity=float(shares))


def find_kind(text: str, step: PlacedTransition) -> tuple[bool, bool]:
    """Say whether the first and the second sentence of a step hold speech."""
    places = (step.first, step.second)
    first, second = (bool(_SPEECH_MARKS.intersection(text[slice(*place)])) for place in places)
    return first, second


@dataclass(frozen=True)
class MissingPart:
    """A part that cannot be had: why, and what to do."""

    part: str
    why: str


@dataclass(frozen=True)
class Opinions:
    """What everyone says of a story: scores by part and aspect, transitions, what is missing.

    `usual` is what raters give each aspect as a rule; `doubts` are, by part and aspect, why a value
    tells nothing of a story; `odd` are words that no vocabulary holds; `unlike` says why a text is
    hardly a story, and nobody was asked; `unlearned` is what the weights could have learned, and
    have not.
    """

    scores: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)
    transitions: tuple[PlacedTransition, ...] = ()
    missing: tuple[MissingPart, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)
    usual: Mapping[str, float] = field(default_factory=dict)
    doubts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unlike: str = ""
    unlearned: tuple[MissingPart, ...] = ()
    odd: OddWords = field(default_factory=OddWords)

    def value(self, part: str, aspect: str = "") -> float:
        """Give a value; NaN where there is none, or where it tells nothing."""
        score = self.scores.get(part, {}).get(aspect)
        told = score is not None and not self.doubt(part, aspect)
        return score.value if score is not None and told else math.nan

    def doubt(self, part: str, aspect: str) -> str:
        """Say why a value tells nothing of the story; "" where it may."""
        return self.doubts.get(part, {}).get(aspect, "")

    def values(self, part: str) -> dict[str, float]:
        """Give the values of a part by aspect, those that are there and may tell something."""
        return {
            aspect: score.value
            for aspect, score in self.scores.get(part, {}).items()
            if score.ok and not self.doubt(part, aspect)
        }


@dataclass(frozen=True)
class AspectReview:
    """One aspect: how sure we are that readers would speak of it, its rating, and a comment."""

    name: str
    confidence: float
    rating: float
    evidence: Evidence
    comment: str = ""
    by: str = ""
    usual: float = 3.0  # what raters give it as a rule
    unrated: str = ""  # why no rating is given, where a reader was asked

    def plain(self) -> dict[str, Any]:
        """Write it as plain values."""
        evidence = self.evidence
        quoted = {
            "quote": evidence.quote,
            "start": evidence.start,
            "end": evidence.end,
            "how": evidence.how,
            "words": list(evidence.words),
        }
        return {
            "name": self.name,
            "confidence": or_none(self.confidence),
            "rating": or_none(self.rating),
            "usual": self.usual if math.isfinite(self.rating) else None,
            "unrated": self.unrated or None,
            "comment": self.comment or None,
            "by": self.by or None,
            "evidence": quoted if evidence.found else None,
            "reason": evidence.reason or None,
        }


@dataclass(frozen=True)
class Review:
    """One story and every opinion on it; what is not there is NaN, and `missing` says why.

    `order` is how likely each sentence is to follow the one before it, on average; `prompt` how
    close the story is to its prompt. `left_out` are values that would tell nothing of this story,
    and why; `unlike` is why the text is hardly a story at all: no opinion was asked for then.
    `warnings` are what the preference says of itself, `notes` what the other metrics say.
    `pictured` is the story beside its pictures, where it has some that could be looked at;
    `writers` is what professional writers would say, where the weights have learned it;
    `spoken` are the aspects that the reader itself chose to speak of, the surest first;
    `observations` what was measured that few human stories do, the weightiest first; None where it
    was not asked for.
    """

    story: Story
    preference: float
    percentile: float
    interval: tuple[float, float]
    coherence: float
    criteria: Mapping[str, float]
    aspects: tuple[AspectReview, ...]
    transitions: tuple[PlacedTransition, ...]
    repetition: tuple[Repetition, ...]
    statistics: Mapping[str, float]
    warnings: tuple[str, ...]
    missing: tuple[MissingPart, ...]
    signatures: Mapping[str, str]
    order: float = math.nan
    prompt: float = math.nan
    left_out: tuple[MissingPart, ...] = ()
    unlike: str = ""
    notes: tuple[str, ...] = ()
    pictured: PicturedStory | None = None
    judged: JudgedStory | None = None
    spoken: tuple[str, ...] = ()
    observations: tuple[Observation, ...] | None = None
    writers: WriterOpinion | None = None

    @property
    def parting(self) -> Audience:
        """Who would think more of it, where readers and writers part."""
        return find_parting(self.percentile, self.interval, self.writers)

    @cached_property
    def weakest(self) -> int | None:
        """Number of the step that stands out as unlikely, from 0; None where none does.

        Every story has a least likely step: it stands out where hardly a human story of as many
        steps has one like it. Where nothing is known of others, it is the least likely.
        """
        steps = self.transitions
        if not steps:
            return None
        if any(math.isnan(step.rarity) for step in steps):
            return min(range(len(steps)), key=lambda at: steps[at].probability)
        lowest = min(range(len(steps)), key=lambda at: steps[at].rarity)
        has_one = 1 - (1 - steps[lowest].rarity) ** len(steps)
        return lowest if has_one <= _STANDS_OUT else None

    @property
    def unlikely(self) -> tuple[PlacedTransition, ...]:
        """Steps as unlikely as 1 in 20 of human stories; none where that is not known."""
        return tuple(step for step in self.transitions if step.rarity <= UNLIKELY)

    @cached_property
    def gauges(self) -> tuple[Gauge, ...]:
        """What is measured beside the criteria, as far as it is there."""
        gauges = []
        for asked, value in zip(GAUGES, (self.coherence, self.order, self.prompt), strict=True):
            if math.isfinite(value):
                known = [asked[spec] for spec in asked if spec in self.signatures]
                gauge = [*known, *asked.values()][0]
                peers = (gauge.short if self.is_short else gauge.long) if known else None
                gauges.append(replace(gauge, value=value, peers=peers))
        return tuple(gauges)

    @property
    def is_short(self) -> bool:
        """Whether it is held against stories of five sentences."""
        return self.statistics.get("words", math.inf) < SHORT_STORY

    @property
    def is_incoherent(self) -> bool:
        """Whether its coherence is lower than 39 of 40 human stories have it.

        Very plain stories are that low as well: their steps are likelier than those of others.
        """
        if any(
            gauge.name == "sentence order" and gauge.peers and gauge.value > gauge.peers.usual[1]
            for gauge in self.gauges
        ):
            return False
        known = [LEAST_COHERENCE[spec] for spec in LEAST_COHERENCE if spec in self.signatures]
        return any(self.coherence < least[self.is_short] for least in known)

    @property
    def is_loose(self) -> bool:
        """Whether coherence and sentence order are both lower than nine of ten human stories."""
        known = {gauge.name: gauge for gauge in self.gauges if gauge.peers}
        both = [known[name] for name in ("coherence", "sentence order") if name in known]
        low = [gauge.peers and gauge.value < gauge.peers.usual[0] for gauge in both]
        return len(low) == 2 and all(low)

    def plain(self) -> dict[str, Any]:
        """Write it as plain values, as JSON wants them; what is not there is None."""
        low, high = map(or_none, self.interval)
        text = self.story.text
        return {
            "story": self.story.id,
            "unlike": self.unlike or None,
            "preference": or_none(self.preference),
            "percentile": or_none(self.percentile),
            "interval": None if low is None or high is None else [low, high],
            "writers": self.writers.plain() if self.writers else None,
            "coherence": or_none(self.coherence),
            "order": or_none(self.order),
            "prompt": or_none(self.prompt),
            "criteria": dict(self.criteria),
            "observations": [observation.plain() for observation in self.observations or ()],
            "aspects": [aspect.plain() for aspect in self.aspects],
            "spoken": list(self.spoken),
            "transitions": [
                {
                    "first": text[slice(*transition.first)],
                    "second": text[slice(*transition.second)],
                    "probability": or_none(transition.probability),
                }
                for transition in self.transitions
            ],
            "weakest": self.weakest,
            "repetition": [_plain_repetition(run) for run in self.repetition],
            "pictures": self.pictured.plain() if self.pictured else None,
            "judge": self.judged.plain() if self.judged else None,
            "statistics": dict(self.statistics),
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "missing": [vars(lack) for lack in self.missing],
            "left_out": [vars(lack) for lack in self.left_out],
            "signatures": dict(self.signatures),
        }


def read_writers(review: Review, opinions: Opinions) -> WriterOpinion | None:
    """Give what writers would say; of prose that looks spoiled their opinion is withheld."""
    score, place, low, high = (
        opinions.value(WRITERS, aspect) for aspect in ("", "percentile", "low", "high")
    )
    if not math.isfinite(score):
        return None
    if why := _describe_spoiled(review, opinions.odd):
        return WriterOpinion(math.nan, withheld=why)
    usual = USUAL_SHORT_SCORES if review.is_short else USUAL_SCORES
    known = _SHIPPED_WRITERS in review.signatures
    return WriterOpinion(score, place, (low, high), usual if known else None)


def _describe_spoiled(review: Review, odd: OddWords) -> str:
    """Say why a text may not be sound prose; "" where it may be."""
    if odd.are_many:
        return describe_odd_words(odd)
    if review.is_incoherent:
        return "its coherence is lower than that of 39 of 40 human stories"
    return "its sentences hardly hold together" if review.is_loose else ""


def _plain_repetition(run: Repetition) -> dict[str, Any]:
    places = [list(at) for at in run.places]
    return {"text": run.text, "count": run.count, "share": run.share, "exact": run.exact} | {
        "places": places
    }


def or_none(value: float) -> float | None:
    """Give a value as it is, and NaN as None."""
    return value if math.isfinite(value) else None
