"""Adverbs: words on -ly that say how."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.diction import find_adverbs


@dataclass(frozen=True)
class Adverbs(CraftMetric):
    """Adverbs on -ly, per 100 words that are told."""

    check_prose = find_adverbs

    card = Card(
        title="Adverbs",
        family="check",
        direction="descriptive",
        low=0.0,
        paper=OWN,
        formula="100 · adverbs on -ly / told words",
        quirks=(
            "What stands in quotation marks, or is set off by emphasis, is not looked at.",
            "A list holds the words on -ly that are none, such as “family”; rare ones may be "
            "missing in it.",
            "English only.",
        ),
        cannot_see="Adverbs without -ly (“fast”, “very”), and whether one is needed.",
    )
