"""A data set: stories, what people said of them, and a card that says where it is from."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabula.core.story import Story
from fabula.core.table import ScoreTable


@dataclass(frozen=True)
class DatasetCard:
    """What a data set is, under which licence, and how to cite it."""

    title: str
    about: str
    licence: str
    citation: str = ""
    source: str = ""


@dataclass(frozen=True)
class Dataset:
    """Stories with human ratings (a table of scores) and a card."""

    name: str
    card: DatasetCard
    stories: tuple[Story, ...]
    ratings: ScoreTable = field(default_factory=ScoreTable)
