"""For admins: who is in the studio, and which co-authors it offers."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import RedirectResponse, Response

from fabula.authors import AUTHORS
from fabula.studio.links import MOST_HOURS
from fabula.studio.machines import STATUSES, list_machines
from fabula.studio.people import Profile, list_people
from fabula.web.identity import Reader
from fabula.web.pages import make_page_router, show
from fabula.web.pages._paging import PageNumber, make_pager

router = make_page_router()
PER_PAGE = 50
ROLE_WORDS = (
    ("author", "writes and rates"),
    ("annotator", "judges texts of others"),
    ("researcher", "sees all games and exports them"),
    ("admin", "may do everything"),
)
STATUS_WORDS = {
    "active": "writes, and is given new stories",
    "draining": "writes for the stories it has, and gets no others",
    "inactive": "rests: its stories go to others",
}


@router.get("/people")
def show_people(
    call: Reader,
    wanted: Annotated[str, Query(alias="q", max_length=254)] = "",
    page: PageNumber = 1,
) -> Response:
    """List people, by name; those that a search finds."""
    if call.web.settings.is_local:
        return RedirectResponse("/machines", 303)
    everyone = list_people(call.studio, call.person)
    found = [profile for profile in everyone if _matches(profile, wanted)]
    pager = make_pager("/people", {"q": wanted}, page=page, total=len(found), size=PER_PAGE)
    begin = (page - 1) * PER_PAGE
    return show(
        call,
        "people.html",
        wanted=wanted,
        pager=pager,
        profiles=found[begin : begin + PER_PAGE],
        found=len(found),
        total=len(everyone),
        roles=ROLE_WORDS,
        most_hours=MOST_HOURS,
    )


@router.get("/machines")
def show_machines(call: Reader) -> Response:
    """List the co-authors on offer, and what they wrote this month."""
    call.person.need("admin")
    return show(
        call,
        "machines.html",
        machines=list_machines(call.studio, call.person),
        kinds=AUTHORS.names(),
        statuses=[(status, STATUS_WORDS[status]) for status in STATUSES],
    )


def _matches(profile: Profile, wanted: str) -> bool:
    """Whether all words of a search are in what is known of a person."""
    known = " ".join(
        (profile.person.name, profile.display, profile.email or "", *profile.person.roles)
    ).casefold()
    return all(word in known for word in wanted.casefold().split())
