"""A story beside its pictures, as it is shown: nouns and regions, steps, repetitions, values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabula.core.story import Story
from fabula.learned.grounding.grounder import GroundedNoun, GroundedStory, Sight
from fabula.scoring.review.parts import PlacedTransition, or_none
from fabula.text.repetition import Repetition

# A match is weak that this share of nouns chosen blindly would have reached in the same pictures.
WEAK_SHARE = 0.2


@dataclass(frozen=True)
class PictureValue:
    """A value of RoViST: of which part, in which variant, by which metric; and what it notes."""

    part: str
    variant: str
    spec: str
    value: float
    note: str = ""


@dataclass(frozen=True)
class PicturedStory:
    """A story, what was seen of it in its pictures, and what else RoViST says of it.

    `chances` are, noun by noun, the shares of nouns chosen blindly that match the same pictures at
    least as well: NaN for a noun that is not known.
    """

    story: Story
    grounded: GroundedStory
    chances: tuple[float, ...]
    transitions: tuple[PlacedTransition, ...] = ()
    repetition: tuple[Repetition, ...] = ()
    values: tuple[PictureValue, ...] = ()

    @cached_property
    def nouns(self) -> tuple[SeenNoun, ...]:
        """The nouns in their order, each with how it stands."""
        pairs = zip(self.grounded.nouns, self.chances, strict=True)
        return tuple(SeenNoun(number, *pair) for number, pair in enumerate(pairs))

    @property
    def unknown(self) -> tuple[SeenNoun, ...]:
        """Nouns that the grounder does not know, or that have no region to be seen in."""
        return tuple(noun for noun in self.nouns if noun.place is None)

    @property
    def weak(self) -> tuple[SeenNoun, ...]:
        """Nouns that are matched no better than many chosen blindly."""
        return tuple(noun for noun in self.nouns if noun.is_weak)

    @property
    def seen(self) -> tuple[SeenNoun, ...]:
        """Nouns that are matched well, the best first."""
        seen = [noun for noun in self.nouns if noun.place is not None and not noun.is_weak]
        return tuple(sorted(seen, key=lambda noun: -noun.match))

    def find_nouns(self, picture: int, region: int) -> list[SeenNoun]:
        """Give the nouns that are seen best in a region, the best matched first."""
        here = [noun for noun in self.nouns if noun.place == (picture, region)]
        return sorted(here, key=lambda noun: -noun.match)

    def plain(self) -> dict[str, Any]:
        """Write it as plain values; what is not there is None."""
        return {
            "values": [
                {"metric": value.spec, "part": value.part, "variant": value.variant}
                | {"value": or_none(value.value), "note": value.note or None}
                for value in self.values
            ],
            "pictures": [_plain_sight(sight) for sight in self.grounded.sights],
            "nouns": [noun.plain() for noun in self.nouns],
        }


@dataclass(frozen=True)
class SeenNoun:
    """A noun of a story, its number, where it is seen best, and whether that says anything."""

    number: int
    grounded: GroundedNoun
    chance: float

    @property
    def text(self) -> str:
        """The noun as it was looked for."""
        return self.grounded.noun.text

    @property
    def span(self) -> tuple[int, int]:
        """Where it stands in the story."""
        return self.grounded.noun.start, self.grounded.noun.stop

    @property
    def match(self) -> float:
        """How like it its best region is; NaN where there is none."""
        return self.grounded.match

    @property
    def place(self) -> tuple[int, int] | None:
        """Numbers of its picture and region, from 0; None where there is none."""
        picture, region = self.grounded.picture, self.grounded.region
        return None if picture is None or region is None else (picture, region)

    @property
    def is_weak(self) -> bool:
        """Whether many nouns chosen blindly would have matched as well."""
        return self.place is not None and self.chance > WEAK_SHARE

    def plain(self) -> dict[str, Any]:
        """Write it as plain values; numbers of pictures and regions begin with 1, as on a page."""
        picture, region = self.place or (None, None)
        return {
            "noun": self.text,
            "start": self.span[0],
            "end": self.span[1],
            "sentence": self.grounded.noun.sentence + 1,
            "weight": or_none(self.grounded.weight),
            "match": or_none(self.match),
            "chance": or_none(self.chance),
            "weak": self.is_weak,
            "picture": None if picture is None else picture + 1,
            "region": None if region is None else region + 1,
        }


def _plain_sight(sight: Sight) -> dict[str, Any]:
    picture = sight.picture
    return {
        "picture": picture.name,
        "width": picture.width,
        "height": picture.height,
        "sha256": picture.digest,
        "notes": [*picture.notes, *sight.notes],
        "regions": [
            {"box": [round(edge, 1) for edge in region.box], "label": region.label or None}
            | {"confidence": or_none(region.confidence)}
            for region in sight.regions
        ],
    }


def compare_to_chance(matches: Sequence[float], blind: Sequence[float]) -> tuple[float, ...]:
    """Give for each match the share of blind matches that are as high or higher; NaN stays NaN."""
    known = [match for match in blind if math.isfinite(match)]
    if not known:
        return tuple(math.nan for _ in matches)
    return tuple(
        sum(other >= match for other in known) / len(known) if math.isfinite(match) else math.nan
        for match in matches
    )
