"""Late names: how far into a story its people are first named."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.telling import find_late_names


@dataclass(frozen=True)
class LateNames(CraftMetric):
    """How far into the story its people are first named, from 0 to 1."""

    check_prose = find_late_names

    card = Card(
        title="Late names",
        family="check",
        direction="descriptive",
        low=0.0,
        high=1.0,
        aspects=("lead", "latest"),
        paper=OWN,
        formula="words before the first time / words: lead = of the name that comes most often; "
        "latest = of the one that comes in last, of those that come three times",
        quirks=(
            "A name is a word that stands with a capital within a sentence and nowhere "
            "without one: places and things with capitals are among them.",
            "A story that names nobody three times has no value.",
        ),
        cannot_see="People without names, and two names of one person.",
    )
