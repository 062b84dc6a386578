"""Sentence rhythm: how much sentences differ in length."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.openings import measure_rhythm


@dataclass(frozen=True)
class SentenceRhythm(CraftMetric):
    """How much the lengths of sentences vary, and the longest run of about one length."""

    check_prose = measure_rhythm

    card = Card(
        title="Sentence rhythm",
        family="check",
        direction="descriptive",
        low=0.0,
        aspects=("variation", "run"),
        paper=OWN,
        formula="variation = standard deviation / mean of the words of sentences; run = the "
        "longest run of told sentences of four words or more whose lengths differ by at most two "
        "words or a fifth",
        quirks=("Sentences are parted by punctuation.",),
        cannot_see="Where the stresses fall; a long sentence may be built of short ones.",
    )
