"""Echoes: words that come again soon after themselves."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.echoes import find_echoes


@dataclass(frozen=True)
class WordEchoes(CraftMetric):
    """Content words that come again within 25 words, per 100 words that are told."""

    check_prose = find_echoes

    card = Card(
        title="Word echoes",
        family="check",
        direction="descriptive",
        low=0.0,
        paper=OWN,
        formula="100 · echoes / told words; an echo is a content word whose stem stood 4 to 25 "
        "words before",
        quirks=(
            "What stands in quotation marks, or is set off by emphasis, is not looked at.",
            "Words that are never written small count as names, and those that come more "
            "often than three times and than once in a hundred words as what the story is "
            "about: neither echoes.",
            "English only.",
        ),
        cannot_see="Whether a word is meant to ring twice, and other words for the same thing.",
    )
