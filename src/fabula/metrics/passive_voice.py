"""Passive voice: how many sentences have a verb in the passive."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.diction import find_passives


@dataclass(frozen=True)
class PassiveVoice(CraftMetric):
    """Share of the sentences that tell the story and hold a passive."""

    check_prose = find_passives

    card = Card(
        title="Passive voice",
        family="check",
        direction="descriptive",
        low=0.0,
        high=1.0,
        paper=OWN,
        formula="told sentences with a form of “be” or “get”, at most two small words or adverbs, "
        "and a participle / told sentences",
        quirks=(
            "What stands in quotation marks, or is set off by emphasis, is not looked at.",
            "Participles that mostly tell a state (“was tired”, “was lost”) are left out by a "
            "list; a few others slip through, and passives without “be” are not found.",
            "English only.",
        ),
        cannot_see="Whether it matters who acts.",
    )
