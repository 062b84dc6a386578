"""Grids: what scorers say, as arrays of columns × items × systems that statistics work on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.arrays import Values


class GridColumn(NamedTuple):
    """One scorer on one aspect."""

    scorer: str
    aspect: str = ""

    @property
    def label(self) -> str:
        """Scorer and aspect."""
        return f"{self.scorer} {self.aspect}".strip()


@dataclass(frozen=True)
class Layout:
    """Which story stands where: items × systems. Stories without an item stand alone."""

    items: tuple[str, ...]
    systems: tuple[str, ...]
    places: dict[str, tuple[int, int]]  # story id -> item, system

    @classmethod
    def of(cls, stories: Iterable[Story], without: Collection[str] = ()) -> Layout:
        """Lay out the stories, leaving out those of some systems."""
        items: dict[str, int] = {}
        systems: dict[str, int] = {}
        places: dict[str, tuple[int, int]] = {}
        taken: dict[tuple[int, int], str] = {}
        for story in stories:
            system = story.system or ""
            if system in without:
                continue
            item = story.item if story.item is not None else f"story {story.id}"
            cell = items.setdefault(item, len(items)), systems.setdefault(system, len(systems))
            if cell in taken:
                raise InputError(
                    f"stories {taken[cell]!r} and {story.id!r} are both of item {story.item!r} and "
                    f"system {story.system!r}",
                    "give every story of an item its own system",
                )
            taken[cell] = story.id
            places[story.id] = cell
        return cls(tuple(items), tuple(systems), places)

    @classmethod
    def of_single(cls, stories: Iterable[Story]) -> Layout:
        """Lay out every story as an item of its own, whatever it says of items and systems."""
        places = {story.id: (number, 0) for number, story in enumerate(stories)}
        return cls(tuple(places), ("",), places)

    @property
    def shape(self) -> tuple[int, int]:
        """Items and systems."""
        return len(self.items), len(self.systems)


@dataclass(frozen=True)
class Grid:
    """Values of columns, laid out; NaN where there is none."""

    layout: Layout
    columns: tuple[GridColumn, ...]
    values: Values  # (columns, items, systems)

    @classmethod
    def of(cls, scores: Iterable[Score], layout: Layout) -> Grid:
        """Lay out scores: one per story, scorer and aspect."""
        tables: dict[GridColumn, Values] = {}
        for score in scores:
            place = layout.places.get(score.story)
            if place is None:
                continue
            column = GridColumn(score.scorer, score.aspect)
            if column not in tables:
                tables[column] = np.full(layout.shape, np.nan)
            if not np.isnan(tables[column][place]):
                raise InputError(
                    f"two scores of {column.label!r} for story {score.story!r}", "keep one of them"
                )
            tables[column][place] = score.value
        return cls._stack(layout, tables)

    @classmethod
    def of_gold(cls, ratings: ScoreTable | Iterable[Score], layout: Layout) -> Grid:
        """Lay out the gold: means over the raters of a story, aspect by aspect."""
        totals: dict[str, Values] = {}
        counts: dict[str, Values] = {}
        for score in ratings:
            place = layout.places.get(score.story)
            if place is None or not score.ok:
                continue
            if score.aspect not in totals:
                totals[score.aspect] = np.zeros(layout.shape)
                counts[score.aspect] = np.zeros(layout.shape)
            totals[score.aspect][place] += score.value
            counts[score.aspect][place] += 1
        with np.errstate(invalid="ignore"):
            means = {GridColumn("gold", key): totals[key] / counts[key] for key in totals}
        return cls._stack(layout, means)

    @classmethod
    def _stack(cls, layout: Layout, tables: dict[GridColumn, Values]) -> Grid:
        values = np.stack(list(tables.values())) if tables else np.empty((0, *layout.shape))
        return cls(layout, tuple(tables), values)

    def select(self, columns: Sequence[GridColumn]) -> Grid:
        """Give the grid of some of its columns, in the order asked for."""
        places = [self.columns.index(column) for column in columns]
        return Grid(self.layout, tuple(columns), self.values[places])

    def orient(self, lower: Collection[str]) -> Grid:
        """Turn the columns of scorers for which lower is better, so that more is better."""
        signs = np.array([-1.0 if column.scorer in lower else 1.0 for column in self.columns])
        return Grid(self.layout, self.columns, self.values * signs[:, None, None])
