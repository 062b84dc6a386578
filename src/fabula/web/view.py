"""A browser of run folders: what was scored, how it went, and two runs item by item.

An app of its own, for one's own machine: it reads run folders and writes nothing. Runs are named
by where they lie below the folder, and none that was not found there can be named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from fabula.core.card import Direction
from fabula.core.errors import InputError, NotAllowed
from fabula.core.score import Summary
from fabula.reports.comparison import comparison_table
from fabula.reports.numbers import decimals_for, number_text
from fabula.reports.pages import html_table
from fabula.reports.summary import UNMARKED, summary_table
from fabula.reports.tables import Table
from fabula.scoring.catalogue import METRICS, label_scorers
from fabula.scoring.large_pairing import LargePairs
from fabula.scoring.pairing import ORDERS, ItemPage, ItemPair, PairedRuns
from fabula.scoring.run_list import FoundRun
from fabula.web import view_stories
from fabula.web.errors import add_error_answers
from fabula.web.pages import static
from fabula.web.run_shelf import RunShelf, Shelf, show
from fabula.web.security import Gate, is_loopback
from fabula.web.settings import Rate, Settings

router = APIRouter(include_in_schema=False)
Name = Annotated[str, Query(max_length=4000)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
_ITEMS_A_PAGE = 20


def create_view(folder: Path) -> FastAPI:
    """Make the app over a folder of runs."""
    app = FastAPI(title="Fabula runs", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.shelf = RunShelf(folder)
    add_error_answers(app)
    for pages in (router, view_stories.router):
        app.include_router(pages, dependencies=[Depends(_refuse_others)])
    app.include_router(static.router)
    unhurried = Settings(rate_address=Rate(0))
    app.add_middleware(Gate, settings=unhurried, observer=_Unwatched())
    return app


class _Unwatched:
    """Counts nothing: nobody watches over one's own machine."""

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Take a request that was answered."""


async def _refuse_others(request: Request) -> None:
    """Refuse whoever does not ask from this machine: nobody signs in here."""
    if request.client is None or not is_loopback(request.client.host):
        raise NotAllowed("runs are shown on their own machine only", "start `fabula view` on yours")


@router.get("/")
def list_all(shelf: Shelf, q: Name = "", state: Name = "") -> Response:
    """List the runs: those in which all words of `q` stand somewhere."""
    runs = shelf.list_runs()
    chosen = [run for run in runs if state in ("", run.state) and _matches(run, q)]
    return show("runs.html", shelf, runs=chosen, total=len(runs), q=q, state=state)


def _matches(run: FoundRun, words: str) -> bool:
    told = " ".join([run.name, run.input, *run.metrics, *run.systems]).casefold()
    return all(word in told for word in words.casefold().split())


@router.get("/state")
def tell_state(shelf: Shelf) -> Response:
    """Tell which runs there are and how far those have come that are going on."""
    told = {}
    for run in shelf.list_runs():
        done = shelf.follow(run).stories if run.state == "going" else None
        told[run.name] = {"state": run.state, "moment": run.moment, "stories": done}
    return JSONResponse(told, headers={"Cache-Control": "no-store"})


@router.get("/run")
def show_run(shelf: Shelf, name: Name) -> Response:
    """Show a run: its means, or how far it has come."""
    run = shelf.need_run(name)
    others = [other for other in shelf.list_runs() if other.record and other.name != name]
    return show("run.html", shelf, run=run, others=others, **_describe(shelf, run))


@router.get("/run/part")
def show_part(shelf: Shelf, name: Name) -> Response:
    """Give the part of a run's page that changes while it is going on."""
    run = shelf.need_run(name)
    return show("run_part.html", shelf, run=run, **_describe(shelf, run))


def _describe(shelf: RunShelf, run: FoundRun) -> dict[str, Any]:
    follower = shelf.follow(run) if run.state == "going" else None
    table: Table | None = None
    if follower is not None:
        record: Mapping[str, Any] = {"metrics": []}
        directions = _find_directions(run)
        for scorer, _ in follower.summary.cells:
            directions.setdefault(scorer, "descriptive")
        table = summary_table(follower.summary, directions, record, stories=follower.stories)
    elif run.record is not None:
        summary = Summary.from_rows(run.record.get("summary", ()))
        directions = _find_directions(run)
        stories = run.stories or 0
        table = summary_table(summary, directions, run.record, stories=stories)
    return {
        "follower": follower,
        "table": Markup(html_table(table)) if table and table.cells else None,
        "notes": [note for note in map(str, table.notes) if note != UNMARKED] if table else [],
        "cite": table.cite if table and follower is None else "",
    }


def _find_directions(run: FoundRun) -> dict[str, Direction]:
    """Which way is better, by metric; one of a package that is not here claims nothing."""
    known: dict[str, Direction] = dict.fromkeys(run.metrics, "descriptive")
    if run.record:
        known |= {entry["spec"]: entry["direction"] for entry in run.record["metrics"]}
    for spec in (run.begun or {}).get("metrics", ()):
        if spec.partition("(")[0] in METRICS.names():
            known[spec] = METRICS.build(spec).direction
    return known


@router.get("/report")
def show_report(shelf: Shelf, name: Name) -> Response:
    """Show the report of a run as `fabula report` would write it; nothing is written."""
    page, policy = shelf.report(shelf.need_done(name))
    policy = f"{policy}; frame-ancestors 'none'"
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})


@dataclass(frozen=True)
class _Sides:
    """Two runs, and the system of each that is looked at."""

    runs: tuple[FoundRun, FoundRun]
    paired: PairedRuns | LargePairs
    systems: tuple[str, str]

    @property
    def columns(self) -> dict[tuple[str, str], str]:
        """Scorers and aspects with what people call them."""
        return label_scorers(self.paired.keys)


def _choose_sides(shelf: RunShelf, a: str, b: str, left: str, right: str) -> _Sides:
    runs = shelf.need_done(a), shelf.need_done(b)
    paired = shelf.pair(runs)
    names = list(paired.systems)
    if len(names) < 2:
        raise InputError(f"{a!r} has one system: nothing to compare", "choose another run")
    first = left if left in paired.systems else names[0]
    rest = [name for name in names if name != first]
    second = right if right in rest else rest[-1]
    return _Sides(runs, paired, (first, second))


@router.get("/compare")
def show_comparison(
    shelf: Shelf,
    a: Name,
    b: Name,
    left: Name = "",
    right: Name = "",
    metric: Name = "",
    order: Name = "first",
    offset: Offset = 0,
) -> Response:
    """Compare two runs: metric by metric, then item by item."""
    sides = _choose_sides(shelf, a, b, left, right)
    comparison = shelf.compare(sides.runs, sides.systems)
    signatures = {entry["spec"]: entry["signature"] for entry in sides.paired.metrics}
    table = comparison_table(comparison, signatures)
    columns = {
        f"{scorer} {aspect}".strip(): key for key in sides.columns for scorer, aspect in [key]
    }
    chosen = metric if metric in columns else next(iter(columns))
    order = order if order in ORDERS else "first"
    count, pairs = _page_pairs(sides, columns[chosen], ItemPage(order, offset, _ITEMS_A_PAGE))
    return show(
        "runs_compare.html",
        shelf,
        a=a,
        b=b,
        sides=sides,
        table=Markup(html_table(table)),
        words=table.notes,
        remarks=sides.paired.remarks,
        columns={name: sides.columns[key] for name, key in columns.items()},
        metric=chosen,
        order=order,
        offset=offset,
        count=count,
        step=_ITEMS_A_PAGE,
        pairs=[_spell_pair(pair) for pair in pairs],
    )


def _page_pairs(sides: _Sides, key: tuple[str, str], asked: ItemPage) -> tuple[int, list[ItemPair]]:
    directions = {entry["spec"]: entry["direction"] for entry in sides.paired.metrics}
    sign = -1.0 if directions.get(key[0]) == "lower" else 1.0
    return sides.paired.page_items(sides.systems, key, replace(asked, sign=sign))


def _spell_pair(pair: ItemPair) -> dict[str, Any]:
    decimals = decimals_for(pair.values)
    first, second = (number_text(value, decimals) for value in pair.values)
    ahead = "" if not pair.difference else "first" if pair.difference > 0 else "second"
    return {
        "item": pair.item,
        "prompt": pair.first.prompt or pair.second.prompt,
        "stories": [(pair.first, first), (pair.second, second)],
        "ahead": "" if math.isnan(pair.difference) else ahead,
        "difference": number_text(pair.difference, decimals, sign=True),
    }
