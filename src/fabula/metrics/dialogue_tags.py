"""Dialogue tags: who said it, and how much more than that is told."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.diction import find_tag_verbs


@dataclass(frozen=True)
class DialogueTags(CraftMetric):
    """Shares of the tags beside speech with another verb than “said” or “asked”, or an adverb."""

    check_prose = find_tag_verbs

    card = Card(
        title="Dialogue tags",
        family="check",
        direction="descriptive",
        low=0.0,
        high=1.0,
        aspects=("verbs", "adverbs"),
        paper=OWN,
        formula="verbs = tags whose verb is neither “say” nor “ask” / tags; adverbs = tags with an "
        "adverb on -ly beside the verb / tags",
        quirks=(
            "A tag is a verb of speaking, of a list, within four words of a speech and beside "
            "a pronoun, a name or a noun; gestures (“he smiled”) are none.",
            "A story with fewer than five tags has no value.",
            "English only.",
        ),
        cannot_see="Speech that shows its speaker without a tag; whether the verb is right.",
    )
