"""Writers: how professional writers would score a piece of prose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from fabula.core.card import Card
from fabula.learned.reader.metric import EitherWeights, StandingMetric

Ends = tuple[float, float]
Audience = Literal["readers", "writers", ""]

# So many human stories lie between two percentiles that part.
_FAR_APART = 30.0
_HIGH, _LOW = 90.0, 10.0  # percentiles at the ends of what eight of ten have
# What eight of ten human stories are scored with the weights that Fabula ships: 120 of StoryER and
# WritingPrompts, and 60 short ones of ROCStories (benchmarks/review.py --spoiled).
USUAL_SCORES, USUAL_SHORT_SCORES = (5.5, 6.5), (5.2, 5.9)


@dataclass(frozen=True)
class Writers(StandingMetric):
    """How professional writers would score the prose, and where that stands among people's stories.

    `storyer` and `criteria` speak for readers; this one learned from people who write for a
    living. The two may part, up to the sign: neither is the quality of a story.
    """

    card = Card(
        title="Writers: the prose as professionals score it",
        label="Writers",
        family="learned",
        direction="higher",
        aspects=("", "percentile"),
        assets=("minilm", "permissive"),
        paper="Scores: Chakrabarty, Laban and Wu (2025). Can AI writing be salvaged? Mitigating "
        "idiosyncrasies and improving human-AI alignment in the writing process through edits. "
        "CHI. The model is ours.",
        formula="a head's output, mean over the story's windows, moved to the writers' scale and "
        "bounded by 1 and 10; percentile: share of human stories below that value, 0 to 100",
        quirks=(
            "The writers scored paragraphs of 100 to 300 words, most of them by a language model, "
            "before and after an edit: it is the sentences that they judged, not a plot.",
            "The release names neither writer nor model, so that no figure is by writers left out.",
            "By default there is no percentile: the human stories of those weights are HANNA's 96, "
            "and nearly all prose stands above them. With weights='large' percentiles are among "
            "StoryER's stories, as those of storyer: hold readers and writers against each other "
            "with these.",
            "Measured, Spearman with the writers' scores of 2,036 paragraphs, by heads that had "
            "not seen the paragraph nor its edit, one seed: .284 [.240, .328], where nothing that "
            "can be counted tells anything; of a paragraph and its edit it finds the better in "
            ".791 [.764, .817] (`fabula verify`). weights='large' .356.",
            "It learned from sound prose alone, of which smooth sentences were marked down: "
            "mistyped words, and words out of order within their sentences, raise it (for all of "
            "24 stories). Ask it only about prose that `coherence` does not mark down.",
            "A review withholds it where the text looks spoiled, and says why.",
            "Of two stories on one prompt the one that readers voted for scores higher in .506 "
            "[.458, .549] of StoryER's 1,000 pairs, as chance would have it (`fabula verify`).",
            "Where the weights have no head for it, the value is missing and the note says so.",
        ),
        cannot_see="Whether anything happens, whether a story holds together, and whether readers "
        "would enjoy it: what readers vote for has nothing to do with it.",
    )

    small = "permissive"

    weights: EitherWeights = "permissive"

    @property
    def scales(self) -> tuple[str, ...]:
        """The one scale."""
        return ("writers",)

    @property
    def absence(self) -> str:
        """Why there is no value: weights that cannot be had, or that no writer has taught."""
        lack = super().absence or self.find_lack()
        return lack and f"{lack}; name weights with a scale `writers`" if self.at_hand else lack


@dataclass(frozen=True)
class WriterOpinion:
    """What professional writers would say: a score from 1 to 10, and where it stands.

    `usual` are the scores of eight of ten human stories, where that is known; `withheld` is why
    there is no score of this text.
    """

    score: float
    percentile: float = math.nan
    interval: Ends = (math.nan, math.nan)
    usual: Ends | None = None
    withheld: str = ""

    @property
    def tenth(self) -> Literal["highest", "lowest", ""]:
        """The tenth of human stories by their scores that this one lies in, at either end."""
        if self.usual is None or math.isnan(self.score):
            return ""
        low, high = self.usual
        return "lowest" if self.score < low else "highest" if self.score > high else ""

    def plain(self) -> dict[str, Any]:
        """Write it as plain values; what is not there is None."""
        place = {"percentile": _or_none(self.percentile), "interval": _ends_or_none(self.interval)}
        known = {"usual": list(self.usual) if self.usual else None}
        return {"score": _or_none(self.score), **place, **known, "withheld": self.withheld or None}


def find_parting(percentile: float, interval: Ends, writers: WriterOpinion | None) -> Audience:
    """Say who would think more of a story, where readers and writers part.

    They part where their intervals lie apart; where one is not known, by percentiles that are far
    apart, of which the other's interval does not hold the second.
    """
    if writers is None:
        return ""
    place, ends = writers.percentile, [*interval, *writers.interval]
    if math.isnan(place) and writers.tenth:
        place = _HIGH if writers.tenth == "highest" else _LOW
    gap = percentile - place
    if all(map(math.isfinite, ends)):
        apart = ends[0] > ends[3] or ends[2] > ends[1]
    else:
        apart = abs(gap) >= _FAR_APART and not interval[0] <= place <= interval[1]
    return ("readers" if gap > 0 else "writers") if apart else ""


def _ends_or_none(ends: Ends) -> list[float] | None:
    return [*ends] if all(map(math.isfinite, ends)) else None


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
