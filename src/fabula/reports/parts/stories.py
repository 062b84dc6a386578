"""Single stories: as points to explore, and one item as an example."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.core.story import Story
from fabula.meta.grid import GridColumn
from fabula.reports.correlations import NAMES, table_order
from fabula.reports.study_blocks import (
    Block,
    ScatterBlock,
    Section,
    TableBlock,
    Words,
)
from fabula.reports.study_view import View, column_labels
from fabula.reports.tables import Cell

_CUT = 400
# More are not listed one by one.
_MOST_RATERS = 5


def scatter(view: View) -> Section:
    """Let the reader choose a metric and an aspect, and open the story behind any point."""
    pooled = view.result.of(level="pooled")
    coefficients: dict[tuple[str, str], dict[str, float]] = {}
    names = {column.label for column in view.metrics.columns}
    for line in pooled:
        label = line.metric if line.metric in names else f"{line.metric} {line.aspect}"
        values = coefficients.setdefault((label, line.aspect), {})
        values[NAMES[line.coefficient]] = line.estimate.value
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


def example(view: View) -> Section | None:
    """Show the ratings and scores of some stories of one item."""
    asked, stories = view.options("example"), view.example_stories
    if not stories:
        return None
    blocks: list[Block] = [Words(_texts(stories))]
    if view.aspects:
        blocks.append(_ratings(view, stories))
    blocks.append(_scores(view, stories, asked.get("metrics") or column_labels(view.raw)))
    if note := asked.get("note"):
        blocks.append(Words([note]))
    return Section("example", "An example", [*blocks, *view.paper_blocks("example")])


def _texts(stories: Sequence[Story]) -> list[str]:
    prompt = stories[0].prompt
    # Stories of pictures have none.
    told = [f"**Prompt.** {_plain(prompt or '–')}"] if prompt or not stories[0].images else []
    return told + [
        f"**{story.system}.** {_plain(_begin(story.text))}" for story in stories if story.text
    ]


def _begin(text: str) -> str:
    return text if len(text) <= _CUT else text[:_CUT].rsplit(" ", 1)[0] + " …"


def _plain(text: str) -> str:
    """Take out what would be read as marks."""
    return text.replace("**", "").replace("`", "")


def _ratings(view: View, stories: Sequence[Story]) -> TableBlock:
    """Table what every rater said; of more raters than fit, the means and the votes."""
    aspects = view.aspects
    given: dict[str, dict[str, dict[str, float]]] = {}
    for score in view.dataset.ratings:
        by_rater = given.setdefault(score.story, {}).setdefault(score.scorer, {})
        by_rater[score.aspect] = score.value
    title = view.numbered("example", "Ratings of the example")
    if max(len(given.get(story.id, {})) for story in stories) > _MOST_RATERS:
        return _mean_ratings(view, stories, title)
    rows = [
        (story.system or "", scorer.removeprefix("human:"), *(values.get(a) for a in aspects))
        for story in stories
        for scorer, values in given.get(story.id, {}).items()
    ]
    return TableBlock(title, ("story", "rater", *aspects), rows, "example_ratings")


def _mean_ratings(view: View, stories: Sequence[Story], title: str) -> TableBlock:
    layout = view.gold.layout
    labels = [name for name, card in view.dataset.scorers.items() if card.family == "label"]
    values = {(score.scorer, score.story): score.value for score in view.dataset.scores}
    rows = [
        (
            story.system or "",
            *view.gold.values[:, *layout.places[story.id]].tolist(),
            *(values.get((name, story.id)) for name in labels),
        )
        for story in stories
        if story.id in layout.places
    ]
    heads = ("story", *view.aspects, *labels)
    return TableBlock(title, heads, rows, "example_ratings", "Means of all raters.", decimals=2)


def _scores(view: View, stories: Sequence[Story], metrics: Sequence[str]) -> TableBlock:
    values_by_story = {
        (GridColumn(score.scorer, score.aspect).label, score.story): score.value
        for score in view.dataset.scores
    }
    rows: list[list[Cell | str]] = [
        [metric, *(Cell(values_by_story.get((metric, story.id))) for story in stories)]
        for metric in metrics
    ]
    heads = ("metric", *(story.system or "" for story in stories))
    title = view.numbered("example", "Scores of the example")
    return TableBlock(title, heads, rows, "example_scores", decimals=4)
