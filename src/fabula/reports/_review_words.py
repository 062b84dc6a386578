"""A review in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fabula.scoring._review_parts import AspectReview, Lack, Review

ASPECT_WORDS = {
    "opening": "opening",
    "middle": "middle",
    "ending": "ending",
    "character": "character",
    "scene": "scene",
    "heartwarming": "warmth",
    "sad": "sadness",
    "horror": "horror",
    "funny": "humour",
    "novelty": "idea",
}
_DECIMALS = {"mattr": 2, "type_token_ratio": 2, "word_length": 2}


def standing_words(review: Review) -> str:
    """Say where a story stands among those that people wrote."""
    if not math.isfinite(review.percentile):
        if math.isfinite(review.preference):
            return f"Preference {number(review.preference)}; no percentile is known for it."
        return "There is no preference for this story."
    low, high = review.interval
    words = f"Liked better than about {review.percentile:.0f} of 100 human stories"
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{words}."
    if round(low) == round(high):
        return f"{words}; another training would say the same."
    return f"{words}; between {low:.0f} and {high:.0f}."


def flow_words(review: Review) -> str:
    """Say where the story holds together least."""
    if review.weakest is None:
        return "There is no step from sentence to sentence to look at."
    step = review.steps[review.weakest]
    return (
        f"The weakest of {len(review.steps):,} steps from one sentence to the next is number "
        f"{review.weakest + 1:,}: the second sentence is given {step.probability:.0%} to follow "
        "the first."
    ).replace("%", " %")


def lack_words(lacks: Sequence[Lack]) -> list[str]:
    """Say what cannot be had, and what to do: once for all parts with the same reason."""
    parts: dict[str, list[str]] = {}
    for one in lacks:
        parts.setdefault(one.why, []).append(one.part)
    return [f"No {', '.join(names)}: {why}" for why, names in parts.items()]


def aspect_reason(one: AspectReview) -> str:
    """Say why an aspect has no comment."""
    if not one.evidence.found:
        return f"No comment: {one.evidence.reason}."
    return ""


def number(value: float, decimals: int = 1) -> str:
    """Write a number with a true minus sign; what is not there is a dash."""
    return "–" if not math.isfinite(value) else f"{value:.{decimals}f}".replace("-", "−")


def statistic(name: str, value: float) -> str:
    """Write a statistic: counts whole, others with the digits that tell something."""
    if value == int(value) and name not in _DECIMALS:
        return f"{int(value):,}".replace("-", "−")
    return number(value, _DECIMALS.get(name, 2))


def label(name: str) -> str:
    """Write the name of a statistic without underscores."""
    return name.replace("_", " ")
