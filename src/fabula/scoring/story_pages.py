"""Pages of a run's stories: searched, of one system, in an order, some of them at a time."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.errors import NotFound
from fabula.core.story import Story
from fabula.scoring.column_names import ColumnNames
from fabula.scoring.lazy_run import LazyRun


@dataclass(frozen=True)
class StoryQuery:
    """Which stories are asked for: those that hold the words, of a system, sorted by a column.

    The better end comes first, or the other one where `turned`; what has no value comes last.
    Without a column they come as they lie in the run.
    """

    words: str = ""
    system: str | None = None
    column: str = ""
    turned: bool = False
    offset: int = 0
    step: int = 20


@dataclass(frozen=True)
class StoryRow:
    """A story of a page: its place in the run, and its values by column."""

    place: int
    story: Story
    values: list[float | None]


def page_stories(run: LazyRun, query: StoryQuery) -> tuple[int, list[StoryRow]]:
    """Count the stories that are asked for, and give those of one page."""
    wanted, given = ["true"], []
    if query.system is not None:
        wanted.append("system = ?")
        given.append(query.system)
    if query.words.strip():
        wanted.append(f"place IN (FROM {run.find_words(query.words)})")
    where = " AND ".join(wanted)
    count = int(run.query(f"SELECT count(*) FROM run WHERE {where}", given).fetchall()[0][0])
    values = "".join(f", c{number}" for number in range(len(run.keys)))
    sql = f"SELECT place{values} FROM run WHERE {where} ORDER BY {_order(run, query)}"
    rows = run.query(f"{sql} LIMIT {query.step} OFFSET {query.offset}", given).fetchall()
    stories = run.read_stories(row[0] for row in rows)
    return count, [
        StoryRow(row[0], story, list(row[1:])) for row, story in zip(rows, stories, strict=True)
    ]


def read_story(run: LazyRun, place: int) -> StoryRow:
    """Give the story at a place, with its values."""
    if not 0 <= place < run.count:
        raise NotFound(f"there is no story {place} in this run", f"the last is {run.count - 1}")
    [story] = run.read_stories([place])
    block = run.read_block(place, place + 1)[0].tolist()
    return StoryRow(place, story, [value if value == value else None for value in block])


def _order(run: LazyRun, query: StoryQuery) -> str:
    if not query.column:
        return f"place{' DESC' if query.turned else ''}"
    number = ColumnNames(run.keys).find(query.column)
    directions = {metric["spec"]: metric["direction"] for metric in run.record["metrics"]}
    rising = (directions.get(run.keys[number][0]) == "lower") != query.turned
    return f"c{number} {'ASC' if rising else 'DESC'} NULLS LAST, place"
