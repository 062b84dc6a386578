"""A data set: stories, what people said of them, and a card that says where it is from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from fabula.core.card import Direction
from fabula.core.story import Story
from fabula.core.table import ScoreTable


@dataclass(frozen=True)
class DatasetCard:
    """What a data set is, under which licence, where it is to be had and how to cite it.

    `files` say what each file holds; `checksums` are the SHA-256 of the releases we know, by file
    name, of the bytes without gzip. `counts` are what a whole release holds (`stories`, `items`,
    `systems`, `ratings`, `scores`, `pairs`). `scales` give lowest and highest rating by aspect; the
    aspect "" stands for all others. `reference_systems` wrote the references of the others:
    metrics compare them with themselves, so that meta-evaluation leaves them out. `columns` name
    the metrics whose scores come with a release, in its order. Where `raters_known` is false, the
    raters are places in a list, not people.
    """

    title: str
    about: str
    licence: str
    citation: str = ""
    source: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    checksums: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    quirks: tuple[str, ...] = ()
    reference_systems: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    raters_known: bool = True

    def scale(self, aspect: str) -> tuple[float, float] | None:
        """Lowest and highest rating of an aspect, if the data set says."""
        return self.scales.get(aspect, self.scales.get(""))


@dataclass(frozen=True)
class ScorerCard:
    """What is known of a scorer whose scores came with a data set.

    `family` is string, embedding, model, judge, baseline or label; `uses` is what it reads besides
    the story.
    """

    family: str
    direction: Direction
    uses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preference:
    """A choice between two stories: the ids of the better and the worse one, and who chose.

    `aspect` is what was asked, where it was several things. Where `is_tie`, neither is the better.
    """

    better: str
    worse: str
    rater: str = ""
    aspect: str = ""
    is_tie: bool = False


@dataclass(frozen=True)
class Annotation:
    """How a rating came about: how long the rater took for a story, and the character they named.

    `seconds` is what the platform counted, which may hold a coffee; NaN where it is not known.
    """

    story: str
    rater: str
    seconds: float = math.nan
    character: str = ""
    assignment: str = ""


@dataclass(frozen=True)
class Dataset:
    """Stories with human ratings, published scores of metrics, preferences, and a card.

    `annotations` tell of the work behind the ratings, where a release does.
    """

    name: str
    card: DatasetCard
    stories: tuple[Story, ...]
    ratings: ScoreTable = field(default_factory=ScoreTable)
    scores: ScoreTable = field(default_factory=ScoreTable)
    scorers: Mapping[str, ScorerCard] = field(default_factory=dict)
    preferences: tuple[Preference, ...] = ()
    annotations: tuple[Annotation, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How much it holds, by the names that cards use."""
        return {
            "stories": len(self.stories),
            "items": len({story.item for story in self.stories if story.item is not None}),
            "systems": len({story.system for story in self.stories if story.system is not None}),
            "ratings": len(self.ratings),
            "scores": len(self.scores),
            "pairs": len(self.preferences),
        }
