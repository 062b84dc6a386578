"""Person slips: an “I” in a story that nobody tells as “I”."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.telling import find_person_slips


@dataclass(frozen=True)
class PersonSlips(CraftMetric):
    """Share of the sentences that say “I” outside of speech in a story told in the third person."""

    check_prose = find_person_slips

    card = Card(
        title="Person slips",
        family="check",
        direction="lower",
        low=0.0,
        high=1.0,
        paper=OWN,
        formula="told sentences with I, me, my, mine or myself / told sentences, where they are "
        "fewer than 15 in 100",
        quirks=(
            "What stands in quotation marks, or is set off by emphasis, is not looked at.",
            "English only.",
        ),
        cannot_see="Slips of a story told by an “I”: a “he” may be anybody, so that it has "
        "no value. Thoughts that nothing sets off look like slips.",
    )
