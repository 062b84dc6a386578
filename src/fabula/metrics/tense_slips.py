"""Tense slips: how often the telling goes from past to present and back."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.telling import find_tense_slips


@dataclass(frozen=True)
class TenseSlips(CraftMetric):
    """How often the tense changes between sentences that tell the story."""

    check_prose = find_tense_slips

    card = Card(
        title="Tense slips",
        family="check",
        direction="lower",
        low=0.0,
        high=1.0,
        aspects=("switches", "share"),
        paper=OWN,
        formula="switches = changes of tense between following told sentences that show one / such "
        "steps; share = told sentences in the rarer tense / those that show one",
        quirks=(
            "What stands in quotation marks, or is set off by emphasis, is not looked at.",
            "A sentence shows the tense of its first clear verb: “was”, “is”, “has”, or a "
            "verb right after a pronoun.",
            "Fewer than five sentences that show a tense have no value.",
            "English only.",
        ),
        cannot_see="Whether a change is meant: a frame, a memory, a truth that still holds.",
    )
