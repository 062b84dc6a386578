"""A metric's card: what it declares about itself, from which its page is written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Direction = Literal["higher", "lower", "descriptive"]
Family = Literal["string", "check", "baseline", "embedding", "model", "learned", "judge"]
Need = Literal["reference", "prompt", "images"]
Batch = Literal["system", "run"]

ARROWS: Mapping[Direction, str] = {"higher": "↑", "lower": "↓", "descriptive": "–"}


@dataclass(frozen=True)
class Card:
    """What a metric is, what it needs and how to read its values.

    `published` names the columns of a release that the metric regenerates:
    release → column → (spec, aspect). `typical` are the specs that sets of metrics take;
    without any it is the metric with its default settings. `assets` are those of the asset store
    that some of its settings need. `label` is what tables call it, settings in braces: `ROUGE-{n}`;
    without one it is the title up to a colon.
    """

    title: str
    family: Family
    direction: Direction
    paper: str
    formula: str
    low: float = -math.inf
    high: float = math.inf
    needs: tuple[Need, ...] = ()
    uses: tuple[Need, ...] = ()
    aspects: tuple[str, ...] = ("",)
    batch: Batch | None = None
    assets: tuple[str, ...] = ()
    references: str = ""
    compat: str = "The same numbers: there is no earlier release to agree with."
    quirks: tuple[str, ...] = ()
    cannot_see: str = ""
    typical: tuple[str, ...] = ()
    label: str = ""
    published: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)

    @property
    def arrow(self) -> str:
        """Sign of the direction: ↑, ↓ or –."""
        return ARROWS[self.direction]
