"""Stories as points: what a metric says, and what people say."""

from __future__ import annotations

import numpy as np

from fabula.reports.correlations import NAMES, table_order
from fabula.reports.run_data import ReportColumn
from fabula.reports.study_blocks import Block, ScatterBlock, Section, StudyStories
from fabula.reports.study_view import View


def section(view: View) -> Section:
    """Let the reader choose a metric and an aspect, and open the story behind any point."""
    pooled = view.found.of(level="pooled")
    coefficients: dict[tuple[str, str], dict[str, float]] = {}
    names = {column.label for column in view.metrics.columns}
    for one in pooled:
        label = one.metric if one.metric in names else f"{one.metric} {one.aspect}"
        values = coefficients.setdefault((label, one.aspect), {})
        values[NAMES[one.coefficient]] = one.value
    block: Block = ScatterBlock(
        "Metric and gold, story by story",
        "Every point is a story: click it, or reach it by keyboard, to read it with what people "
        "and metrics say of it.",
        coefficients,
        "over all stories, turned so that more is better",
        metric=next((name for name in table_order(pooled) if name in names), ""),
        aspect=view.aspects[0],
    )
    return Section("scatter", "Story by story", [block])


def study_stories(view: View) -> StudyStories:
    """Give the stories that were compared, with scores and ratings."""
    layout = view.metrics.layout
    stories = [story for story in view.dataset.stories if story.id in layout.places]
    raw = dict(zip(view.raw.columns, view.raw.values, strict=True))
    grid = view.metrics
    columns = [
        ReportColumn(
            column.scorer, column.aspect, view.card(column).direction, view.card(column).family
        )
        for column in grid.columns
    ]
    places = [layout.places[story.id] for story in stories]
    items, systems = np.array(places).T
    values = np.stack(
        [
            raw.get(column, turned)[items, systems]
            for column, turned in zip(grid.columns, grid.values, strict=True)
        ],
        axis=1,
    )
    ids = {story.id for story in stories}
    ratings = [one for one in view.dataset.ratings if one.story in ids]
    return StudyStories(stories, columns, values, ratings)
