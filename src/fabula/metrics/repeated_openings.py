"""Repeated openings: sentences that begin like the one before."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.openings import find_repeated_openings


@dataclass(frozen=True)
class RepeatedOpenings(CraftMetric):
    """How often sentences in a row begin with the same word."""

    check_prose = find_repeated_openings

    card = Card(
        title="Repeated openings",
        family="check",
        direction="descriptive",
        low=0.0,
        aspects=("share", "sentences", "paragraphs"),
        paper=OWN,
        formula="share = told sentences that begin with the word of the sentence before / told "
        "sentences that follow a told one; sentences, paragraphs = the longest run that "
        "begins with one word",
        quirks=(
            "A sentence or paragraph that begins with speech ends a run.",
            "Paragraphs are lines, or blocks where lines are wrapped: of a text without line "
            "breaks their run is 1.",
        ),
        cannot_see="Whether the repetition is meant, as in a litany; that a name and a pronoun are "
        "one person.",
    )
