"""Who says how well a noun is seen in a picture.

A `Grounder` looks at pictures with some nouns in mind and gives, for each picture, its regions and
how like each noun each of them is. What makes one number of a story of it is `text/grounding.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from fabula.core.model import Picture, Region
from fabula.text.nouns import Noun

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class Sight:
    """A picture as a grounder saw it with some nouns in mind.

    `similarities` are regions × nouns, from −1 to 1; a noun that the grounder does not know has
    NaN everywhere. `notes` say what speaks against believing it: a drawing, no region found.
    """

    picture: Picture
    regions: tuple[Region, ...]
    similarities: Array = field(repr=False, compare=False)
    notes: tuple[str, ...] = ()


class Grounder(Protocol):
    """Says how well nouns are seen in pictures."""

    @property
    def signature(self) -> str:
        """What its values depend on: detector, encoder, weights, word vectors."""
        ...

    @property
    def absence(self) -> str:
        """What it lacks to look at any picture, with the command that gets it; empty if nothing."""
        ...

    def look(self, pictures: Sequence[Picture], nouns: Sequence[str]) -> list[Sight]:
        """Give one sight a picture, in order; each picture and each noun is encoded once a run."""
        ...


@dataclass(frozen=True)
class GroundedNoun:
    """A noun of a story and where it is seen best: the match, and the place of picture and region.

    A noun that the grounder does not know, or a story without regions, has NaN and no place.
    """

    noun: Noun
    weight: float
    match: float
    picture: int | None = None
    region: int | None = None


@dataclass(frozen=True)
class GroundedStory:
    """A story beside its pictures: what was seen in each, and where each noun is seen best."""

    sights: tuple[Sight, ...]
    nouns: tuple[GroundedNoun, ...]
