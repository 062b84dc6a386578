"""Said twice: sentences that say what an earlier one said."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.metrics._craft import OWN, CraftMetric
from fabula.text.craft.echoes import find_said_twice


@dataclass(frozen=True)
class SaidTwice(CraftMetric):
    """Share of the sentences that say again what an earlier sentence said."""

    check_prose = find_said_twice

    card = Card(
        title="Said twice",
        family="check",
        direction="lower",
        low=0.0,
        high=1.0,
        paper=OWN,
        formula="sentences that share at least four content stems with an earlier one, three "
        "quarters of those of the shorter and half of all that the two have / sentences",
        quirks=(
            "Stems are those of Porter (1980); word order does not count.",
            "English only.",
        ),
        cannot_see="The same said in other words; whether a refrain is meant.",
    )
