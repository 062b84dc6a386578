"""The library: what one is writing, one's games, and ways to begin; a welcome for strangers."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from starlette.responses import HTMLResponse

from fabula.studio.shelf import list_unfinished, search_games
from fabula.web.identity import Call, Passer
from fabula.web.pages import make_page_router, show
from fabula.web.pages._paging import PageNumber, make_pager, spell_address

router = make_page_router()
GAMES_SHOWN, DRAFTS_SHOWN, MOST_DRAFTS = 24, 4, 200


@router.get("/")
def show_library(
    visit: Passer,
    q: Annotated[str, Query(max_length=200)] = "",
    part: Literal["", "narrator", "player", "reader"] = "",
    archived: bool = False,
    drafts: Literal["", "all"] = "",
    page: PageNumber = 1,
) -> HTMLResponse:
    """Show somebody their library, and a stranger what this is."""
    if not isinstance(visit, Call):
        may_sign_up = visit.web.settings.sign_up == "open"
        return show(visit, "welcome.html", may_sign_up=may_sign_up)
    person = visit.person
    place = {"offset": (page - 1) * GAMES_SHOWN, "limit": GAMES_SHOWN}
    games, total = search_games(
        visit.studio, person, search=q, part=part or None, is_archived=archived, **place
    )
    query = {"q": q, "part": part, "archived": "true" if archived else ""}
    unfinished, number = list_unfinished(
        visit.studio, person, limit=MOST_DRAFTS if drafts else DRAFTS_SHOWN
    )
    return show(
        visit,
        "library.html",
        games=games,
        pager=make_pager("/", query, page=page, total=total, size=GAMES_SHOWN),
        drafts=unfinished,
        drafts_total=number,
        all_drafts=spell_address("/", **query, drafts="all"),
        q=q,
        part=part,
        is_archive=archived,
        is_filtered=bool(q or part),
        largest_import=visit.web.settings.max_inflated,
        may_begin=person.may("author"),
        may_import=person.may("author", "researcher"),
    )
