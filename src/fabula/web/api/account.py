"""Oneself: coming in and going out, tokens, one's data and its end."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Response
from pydantic import BaseModel, Field

from fabula.core.errors import NotAllowed
from fabula.studio.links import use_link
from fabula.studio.people import Profile, change_profile, read_profile
from fabula.studio.privacy import delete_person, export_person
from fabula.studio.sessions import OpenSession, end_other_sessions, end_session, list_sessions
from fabula.studio.sign_in import Session, change_password, sign_in, sign_out
from fabula.studio.tokens import Token, list_tokens, make_token, revoke_token
from fabula.web.api.shapes import (
    Body,
    Line,
    Page,
    PersonAnswer,
    Wanted,
    describe_person,
    make_router,
)
from fabula.web.errors import Unauthenticated
from fabula.web.identity import Anybody, Call, Id, Somebody, Visit

router = make_router("account")
Password = Annotated[str, Field(min_length=1, max_length=1000)]


class SignIn(Body):
    """A name (or an e-mail address) and a password."""

    name: Line
    password: Password


class LinkUse(Body):
    """A link's secret, and how one wants to be called."""

    secret: Line
    name: Line = ""
    password: Password


class PasswordChange(Body):
    """The password of now and that of the future."""

    old: Password
    new: Password


class ProfileChange(Body):
    """How one is shown to others, and an address to sign in with; "" takes it away."""

    display: Line | None = None
    email: Line | None = None


class NewToken(Body):
    """What a token is for; without days it works until it is revoked."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    scopes: Annotated[tuple[Line, ...], Field(max_length=20)] = ()
    days: Annotated[float | None, Field(gt=0, le=3650)] = None


class Farewell(Body):
    """One's own name, typed out, so that nobody deletes themselves by mistake; and whether what
    one published stays without an author, or is emptied."""

    name: Line
    entries: Literal["keep", "empty"] = "keep"


class SignedIn(BaseModel):
    """A session: its cookie comes along, `csrf` goes with all that changes something."""

    person: PersonAnswer
    csrf: str
    expires_at: datetime


class Me(BaseModel):
    """Who one is; `csrf` is there for those who came by a cookie."""

    person: PersonAnswer
    email: str | None
    display: str
    has_password: bool
    csrf: str | None


class TokenSecret(BaseModel):
    """A new token. Its secret is not shown again."""

    id: str
    secret: str


def _begin(visit: Visit, response: Response, session: Session) -> SignedIn:
    visit.begin_session(response, session)
    person = describe_person(session.person)
    return SignedIn(person=person, csrf=session.csrf, expires_at=session.expires_at)


@router.post("/sign-in")
def come_in(visit: Anybody, body: SignIn, response: Response) -> SignedIn:
    """Sign in by name and password."""
    visit.limit_sign_in()
    try:
        session = sign_in(visit.studio, body.name, body.password, address=visit.address)
    except NotAllowed as error:
        raise Unauthenticated(error.problem, error.remedy) from None
    return _begin(visit, response, session)


@router.post("/sign-out", status_code=204)
def go_out(call: Somebody, response: Response) -> None:
    """Sign out; a token is revoked instead."""
    if call.session:
        sign_out(call.studio, call.session.secret)
        call.set_cookie(response, "", seconds=0)


@router.post("/links/use")
def come_in_by_link(visit: Anybody, body: LinkUse, response: Response) -> SignedIn:
    """Use a link: the first person's, an invitation, or one for a new password."""
    visit.limit_sign_in()
    person = use_link(visit.studio, body.secret, name=body.name, password=body.password)
    session = sign_in(visit.studio, person.name, body.password, address=visit.address)
    return _begin(visit, response, session)


@router.get("/me")
def read_me(call: Somebody) -> Me:
    """Tell who one is."""
    return _describe(call, read_profile(call.studio, call.person, call.person.id))


@router.patch("/me")
def change_me(call: Somebody, body: ProfileChange) -> Me:
    """Change one's display name or e-mail address."""
    call.limit_sign_in()
    profile = change_profile(call.studio, call.person, display=body.display, email=body.email)
    return _describe(call, profile)


def _describe(call: Call, profile: Profile) -> Me:
    return Me(
        person=describe_person(call.person),
        email=profile.email,
        display=profile.display,
        has_password=profile.has_password,
        csrf=call.session.csrf if call.session else None,
    )


@router.put("/me/password")
def renew_password(call: Somebody, body: PasswordChange, response: Response) -> SignedIn:
    """Change one's password; all other sessions end."""
    call.limit_sign_in()
    return _begin(call, response, change_password(call.studio, call.person, body.old, body.new))


@router.get("/sessions")
def read_sessions(call: Somebody, window: Wanted) -> Page[OpenSession]:
    """List where one is signed in with a browser."""
    return window.cut(list_sessions(call.studio, call.person, _read_secret(call)))


@router.delete("/sessions", status_code=204)
def end_others(call: Somebody) -> None:
    """End all of one's sessions but this one."""
    end_other_sessions(call.studio, call.person, _read_secret(call))


@router.delete("/sessions/{session_id}", status_code=204)
def end_one(call: Somebody, session_id: Id) -> None:
    """End one of one's sessions."""
    end_session(call.studio, call.person, session_id)


def _read_secret(call: Call) -> str:
    return call.session.secret if call.session else ""


@router.get("/me/data")
def read_my_data(call: Somebody) -> dict[str, Any]:
    """Give all that the studio holds of oneself."""
    return export_person(call.studio, call.person, call.person.id)


@router.delete("/me", status_code=204)
def delete_me(call: Somebody, body: Farewell, response: Response) -> None:
    """Delete oneself. What one rated stays, and no longer says by whom."""
    _need_own_name(call, body.name)
    delete_person(call.studio, call.person, call.person.id, entries=body.entries)
    call.set_cookie(response, "", seconds=0)


def _need_own_name(call: Call, name: str) -> None:
    if name.strip().casefold() != call.person.name.casefold():
        raise NotAllowed("this is not your name", "type it as it stands in /api/v1/me")


@router.get("/tokens")
def read_tokens(call: Somebody, window: Wanted) -> Page[Token]:
    """List one's tokens, without their secrets."""
    return window.cut(list_tokens(call.studio, call.person))


@router.post("/tokens", status_code=201)
def add_token(call: Somebody, body: NewToken) -> TokenSecret:
    """Make a token for a program."""
    token_id, secret = make_token(
        call.studio, call.person, body.name, scopes=body.scopes, days=body.days
    )
    return TokenSecret(id=token_id, secret=secret)


@router.delete("/tokens/{token_id}", status_code=204)
def remove_token(call: Somebody, token_id: Id) -> None:
    """Let a token work no more."""
    revoke_token(call.studio, call.person, token_id)
