"""Filter words: someone sees, hears or feels what could just be there."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.diction import find_filter_words


@dataclass(frozen=True)
class FilterWords(CraftMetric):
    """Places where a person sees, hears, feels or notices, per 100 words that are told."""

    check_prose = find_filter_words

    card = Card(
        title="Filter words",
        family="check",
        direction="descriptive",
        low=0.0,
        paper=OWN,
        formula="100 · (person, at most two words such as “could”, verb of sensing) / told words",
        quirks=(
            "What stands in quotation marks, or is set off by emphasis, is not looked at.",
            "A person is I, he, she, we, they or a name; “the old man saw” is not found.",
            "English only.",
        ),
        cannot_see="Whether perceiving is what happens: “he saw her at last” is no filter.",
    )
