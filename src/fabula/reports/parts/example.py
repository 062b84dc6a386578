"""One item with what people and metrics say of its stories."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.core.story import Story
from fabula.reports.study_blocks import Block, Section, TableBlock, Words
from fabula.reports.study_view import View
from fabula.reports.tables import Cell

_CUT = 400


def section(view: View) -> Section | None:
    """Show the ratings and scores of some stories of one item."""
    asked = view.options("example")
    item, systems = asked.get("item"), asked.get("systems", ())
    stories = [one for one in view.dataset.stories if one.item == item and one.system in systems]
    if not stories:
        return None
    stories.sort(key=lambda story: systems.index(story.system))
    blocks: list[Block] = [Words(_texts(stories)), _ratings(view, stories)]
    blocks.append(_scores(view, stories, asked.get("metrics", ())))
    if note := asked.get("note"):
        blocks.append(Words([note]))
    return Section("example", "An example", blocks)


def _texts(stories: Sequence[Story]) -> list[str]:
    prompt = stories[0].prompt or "–"
    return [f"**Prompt.** {_plain(prompt)}"] + [
        f"**{story.system}.** {_plain(_begin(story.text))}" for story in stories if story.text
    ]


def _begin(text: str) -> str:
    return text if len(text) <= _CUT else text[:_CUT].rsplit(" ", 1)[0] + " …"


def _plain(text: str) -> str:
    """Take out what would be read as marks."""
    return text.replace("**", "").replace("`", "")


def _ratings(view: View, stories: Sequence[Story]) -> TableBlock:
    aspects = view.aspects
    given: dict[tuple[str, str], dict[str, float]] = {}
    for score in view.dataset.ratings:
        given.setdefault((score.story, score.scorer), {})[score.aspect] = score.value
    rows = [
        (story.system or "", scorer.removeprefix("human:"), *(values.get(a) for a in aspects))
        for story in stories
        for (of, scorer), values in given.items()
        if of == story.id
    ]
    return TableBlock(
        view.numbered("example", "Ratings of the example"),
        ("story", "rater", *aspects),
        rows,
        "example_ratings",
    )


def _scores(view: View, stories: Sequence[Story], metrics: Sequence[str]) -> TableBlock:
    found = {(score.scorer, score.story): score.value for score in view.dataset.scores}
    rows: list[list[Cell | str]] = [
        [metric, *(Cell(found.get((metric, story.id))) for story in stories)] for metric in metrics
    ]
    heads = ("metric", *(story.system or "" for story in stories))
    title = view.numbered("example", "Scores of the example")
    return TableBlock(title, heads, rows, "example_scores", decimals=4)
