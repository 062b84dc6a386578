"""The dashboard: how good co-authors are, by what people say and by what they keep."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Request
from starlette.responses import Response, StreamingResponse

from fabula.core.errors import InputError, NotAllowed, NotFound
from fabula.studio.diffs import EditPage, list_edits, stream_edits
from fabula.studio.filters import EVERYTHING, Filter, parse_filter
from fabula.studio.machines import list_machines
from fabula.studio.people import Person
from fabula.web.dashboard.board import Board, Question, read_period
from fabula.web.dashboard.edits import (
    FILE_POLICY,
    LEGEND,
    list_values,
    mark_block,
    show_blocks,
    spell_moment,
    write_edits_csv,
    write_edits_page,
)
from fabula.web.errors import Unauthenticated
from fabula.web.identity import Call, Visit, find_call, find_passer
from fabula.web.pages import make_page_router, show

router = make_page_router()
EDITS_A_PAGE = 10
_KINDS = {"svg": "image/svg+xml", "csv": "text/csv; charset=utf-8"}


@dataclass(frozen=True)
class Viewer:
    """Who looks, and what they may see: `person` reads figures, `reader` edits; None is the
    public, which sees figures and ten edits without a name. `is_own`: their own writing alone."""

    visit: Visit
    person: Person | None = None
    reader: Person | None = None
    is_own: bool = False

    @property
    def sees_all_edits(self) -> bool:
        """Whether all edits may be read."""
        return self.reader is not None


def find_viewer(request: Request) -> Viewer:
    """Find out who looks: by a token, by the cookie, or nobody, where the public may."""
    visit = find_call(request) if "authorization" in request.headers else find_passer(request)
    is_public = visit.web.settings.public_dashboard
    if not isinstance(visit, Call):
        if not is_public:
            raise Unauthenticated("nobody is signed in", "sign in")
        return Viewer(visit)
    person = visit.person
    if person.may("researcher"):
        return Viewer(visit, person, person)
    if "user_edits" in person.scopes:
        return Viewer(visit, None, person)
    if person.may("author"):
        return Viewer(visit, person, person, is_own=True)
    if is_public:
        return Viewer(visit)
    raise NotAllowed("the dashboard is for researchers", "ask an admin for the role researcher")


AnyViewer = Annotated[Viewer, Depends(find_viewer)]


def read_question(viewer: Viewer) -> Question:
    """Read what is asked out of the address."""
    params = viewer.visit.request.query_params
    beside = params.get("beside", "")
    if beside not in ("", "storium"):
        raise InputError(f"beside: there is nothing of {beside[:50]!r}", "take storium")
    chosen = parse_filter(params.multi_items())
    if viewer.is_own and viewer.person:
        chosen = replace(chosen, author=viewer.person.id)
    return Question(
        chosen,
        viewer.person,
        is_researcher=viewer.person is not None and not viewer.is_own,
        quality=params.get("quality", "") or "USER",
        by=read_period(params.get("by", "")),
        beside=bool(beside),
    )


def spell_query(question: Question, **more: str) -> str:
    """Spell the address of the same question, with what stands there beside the filter."""
    given: dict[str, Any] = dict(question.chosen.query())
    given |= {"quality": question.quality} if question.quality != "USER" else {}
    given |= {"by": question.by} if question.by else {}
    given |= {"beside": "storium"} if question.beside else {}
    query = urlencode({name: value for name, value in (given | more).items() if value}, doseq=True)
    return f"?{query}" if query else ""


@router.get("/dashboard/")
def show_dashboard(viewer: AnyViewer) -> Response:
    """Show all figures that a filter is about; one that will not do is told beside its form."""
    visit = viewer.visit
    board, page, problem, question = None, None, None, Question(EVERYTHING, viewer.person)
    try:
        question = read_question(viewer)
        board = visit.web.boards.get(question)
        page = _read_edits(viewer, question.chosen)
    except InputError as error:
        problem = error
    return show(
        visit,
        "dashboard.html",
        status=422 if problem else 200,
        viewer=viewer,
        board=board,
        question=question,
        problem=problem,
        form=_read_form(visit.request, viewer, board),
        query=spell_query(question),
        edits=page,
        turn=_turn_pages(page, question) if page else {},
        is_empty=board is not None and board.is_empty and not question.chosen.query(),
        **_TOOLS,
    )


_TOOLS = {
    "legend": LEGEND,
    "mark_block": mark_block,
    "show_blocks": show_blocks,
    "list_values": list_values,
    "spell_moment": spell_moment,
}


def _read_form(request: Request, viewer: Viewer, board: Board | None) -> dict[str, Any]:
    """What the form of filters offers, and what was given, whether it will do or not."""
    params = request.query_params
    names = ("status", "measure", "from", "to", "game", "at_least", "at_most", "quality", "by")
    switches = ("with_excluded", "without_flagged", "commented", "beside")
    return {
        **{name: params.get(name, "") for name in (*names, *switches)},
        "machine": params.getlist("machine"),
        "machines": [each.name for each in list_machines(viewer.visit.studio, None)],
        "labels": board.labels if board else ("USER",),
    }


def _read_edits(viewer: Viewer, chosen: Filter) -> EditPage:
    text = viewer.visit.request.query_params.get("page", "") or "1"
    if not text.isdecimal() or not 1 <= int(text[:9]) <= 10_000_000:
        raise InputError(f"page is {text[:20]!r}", "give a whole number, 1 or more")
    offset = EDITS_A_PAGE * (int(text) - 1)
    return list_edits(viewer.visit.studio, viewer.reader, chosen, offset=offset, limit=EDITS_A_PAGE)


def _turn_pages(page: EditPage, question: Question) -> dict[str, Any]:
    """Where one is among the pages of edits, and the addresses of those beside."""
    here, last = page.offset // EDITS_A_PAGE + 1, max(1, -(-page.total // EDITS_A_PAGE))
    turn: dict[str, Any] = {"here": here, "last": last}
    if here > 1:
        turn["newer"] = spell_query(question, page=str(min(here - 1, last)))
    if here < last:
        turn["older"] = spell_query(question, page=str(here + 1))
    return turn


@router.get("/dashboard/events")
async def tell_changes(viewer: AnyViewer) -> StreamingResponse:
    """Tell, by server-sent events, when the figures may be others than they were."""
    changes = viewer.visit.web.changes
    changes.need_room()
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(changes.listen(), media_type="text/event-stream", headers=headers)


@router.get("/dashboard/edits.html")
def download_edits(viewer: AnyViewer) -> Response:
    """Give one file with all edits, to be read without the studio."""
    question = read_question(viewer)
    edits = stream_edits(viewer.visit.studio, _need_reader(viewer), question.chosen)
    about = f"What became of suggestions, newest first. {_describe_filter(question)}"
    pages = write_edits_page(edits, about)
    headers = _name_file("edits.html") | {"Content-Security-Policy": FILE_POLICY}
    return StreamingResponse(pages, media_type="text/html; charset=utf-8", headers=headers)


@router.get("/dashboard/edits.csv")
def download_edit_rows(viewer: AnyViewer) -> Response:
    """Give all edits as a table."""
    question = read_question(viewer)
    reader = _need_reader(viewer)
    labels = viewer.visit.web.boards.get(question).labels
    edits = stream_edits(viewer.visit.studio, reader, question.chosen)
    rows = write_edits_csv(edits, labels)
    return StreamingResponse(rows, media_type=_KINDS["csv"], headers=_name_file("edits.csv"))


@router.get("/dashboard/{part_file}")
def download_part(viewer: AnyViewer, part_file: str) -> Response:
    """Give a part's chart as SVG or its numbers as CSV, of the same filter as the page."""
    name, _, kind = part_file.rpartition(".")
    part = viewer.visit.web.boards.get(read_question(viewer)).find(name)
    if part is None or kind not in _KINDS:
        raise NotFound("there is nothing at this address")
    if kind == "svg" and part.draw is None:
        raise NotFound("there is no chart of this", part.missing)
    text = part.write_svg() if kind == "svg" else part.write_csv()
    return Response(text, media_type=_KINDS[kind], headers=_name_file(part_file))


def _need_reader(viewer: Viewer) -> Person:
    if viewer.reader is None:
        raise NotAllowed("all edits are for researchers", "ask an admin for the role researcher")
    return viewer.reader


def _name_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="fabula-{name}"'}


def _describe_filter(question: Question) -> str:
    said = [
        f"{name} {', '.join(value) if isinstance(value, list) else value}"
        for name, value in question.chosen.query().items()
    ]
    return f"Of these alone: {'; '.join(said)}." if said else ""
