"""Oneself: who one is here, where one is signed in, tokens, one's data and its end."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from fabula.studio.people import SCOPES, Person, read_profile
from fabula.studio.sessions import list_sessions
from fabula.studio.tables import now
from fabula.studio.tokens import list_tokens
from fabula.web.identity import Reader
from fabula.web.pages import make_page_router, show

router = make_page_router()
_DONE = {
    "profile": "Your profile is changed.",
    "password": "Your password is changed; you were signed out everywhere else.",
    "session": "That session has ended.",
    "sessions": "You are signed out everywhere else.",
    "token": "The token works no more.",
}
# What a token opens beside what its owner may do anyway.
SCOPE_WORDS = {
    "dataset": "download the data set",
    "judgement": "read contexts to be judged",
    "user_edits": "read all edits on the dashboard",
    "backend": "speak for a platform at STORIUM’s door",
    "metrics": "read the studio’s figures",
}


@router.get("/account")
def show_account(call: Reader, done: Annotated[str, Query(max_length=20)] = "") -> Response:
    """Show all of it on one page."""
    moment = now()
    tokens = list_tokens(call.studio, call.person)
    live = [
        token
        for token in tokens
        if token.revoked_at is None and (token.expires_at is None or token.expires_at > moment)
    ]
    secret = call.session.secret if call.session else ""
    return show(
        call,
        "account.html",
        profile=read_profile(call.studio, call.person, call.person.id),
        sessions=list_sessions(call.studio, call.person, secret),
        tokens=live,
        old_tokens=[token for token in tokens if token not in live],
        scopes=_list_scopes(call.person),
        done=_DONE.get(done, ""),
        now=moment,
    )


def _list_scopes(person: Person) -> list[tuple[str, str]]:
    """The scopes that a person may give a token."""
    return [(scope, SCOPE_WORDS[scope]) for scope, roles in SCOPES.items() if person.may(*roles)]
