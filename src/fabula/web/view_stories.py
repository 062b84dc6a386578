"""The stories of a run in the browser of runs: page by page, searched, sorted, and one alone."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from fabula.core.card import ARROWS
from fabula.reports.numbers import decimals_for, number_text
from fabula.scoring.column_names import ColumnNames
from fabula.scoring.lazy_run import LazyRun
from fabula.scoring.story_pages import StoryQuery, StoryRow, page_stories, read_story
from fabula.web.run_shelf import Shelf, show

router = APIRouter(include_in_schema=False)
_Name = Annotated[str, Query(max_length=4000)]
_Place = Annotated[int, Query(ge=0, le=1_000_000_000)]
_STORIES_A_PAGE = 20
_PREVIEW = 240


@router.get("/stories")
def list_stories(
    shelf: Shelf,
    name: _Name,
    q: _Name = "",
    system: _Name = "",
    sort: _Name = "",
    turned: bool = False,
    offset: _Place = 0,
) -> Response:
    """Show a page of a run's stories: those that hold some words, of a system, in an order."""
    run = shelf.open(shelf.need_done(name))
    # A system without a name is chosen like the others, by a name that no system has.
    wanted = None if not system else "" if system == "\x00" else system
    asked = StoryQuery(q, wanted, sort, turned, offset, _STORIES_A_PAGE)
    count, rows = page_stories(run, asked)
    names = ColumnNames(run.keys)
    # What they are sorted by stands first.
    chosen = names.find(sort) if sort else -1
    order = sorted(range(len(run.keys)), key=lambda number: number != chosen)
    columns = _list_columns(run, names)
    return show(
        "run_stories.html",
        shelf,
        run=name,
        query={"name": name, "q": q, "system": system, "sort": sort, "turned": int(turned)},
        systems=run.systems,
        columns=[columns[number] for number in order],
        rows=[_spell_row(row, order) for row in rows],
        count=count,
        total=run.count,
        offset=offset,
        step=_STORIES_A_PAGE,
    )


@router.get("/story")
def show_story(shelf: Shelf, name: _Name, place: _Place) -> Response:
    """Show one story of a run whole, with all its scores."""
    run = shelf.open(shelf.need_done(name))
    row = read_story(run, place)
    names = ColumnNames(run.keys)
    values = zip(_list_columns(run, names), _spell_values(row.values), strict=True)
    return show(
        "run_story.html", shelf, run=name, story=row.story, values=list(values), place=place,
        last=run.count - 1,
    )  # fmt: skip


def _spell_row(row: StoryRow, order: list[int]) -> dict[str, Any]:
    return {
        "place": row.place,
        "story": row.story,
        "preview": row.story.text[:_PREVIEW].strip(),
        "values": _spell_values([row.values[number] for number in order]),
    }


def _list_columns(run: LazyRun, names: ColumnNames) -> list[dict[str, Any]]:
    directions = {metric["spec"]: metric["direction"] for metric in run.record["metrics"]}
    return [
        {
            "name": dotted,
            "label": label,
            "arrow": ARROWS[directions.get(scorer, "descriptive")],
        }
        for dotted, label, (scorer, _) in zip(names.dotted, names.labels, run.keys, strict=True)
    ]


def _spell_values(values: list[float | None]) -> list[str]:
    return ["–" if value is None else number_text(value, decimals_for([value])) for value in values]
