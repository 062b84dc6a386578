"""Who asks: a browser by its cookie, a program by its token; and the cookies of a session."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Path, Request, Response
from fastapi.routing import APIRoute

from fabula.core.bodies import Unreadable, read_json
from fabula.core.errors import NotAllowed
from fabula.studio.campaigns.raters import NoRater, make_csrf
from fabula.studio.database import Studio
from fabula.studio.people import Person
from fabula.studio.quality import last_change
from fabula.studio.sign_in import Session, find_session
from fabula.studio.tokens import find_token
from fabula.web.dashboard.board import Boards
from fabula.web.dashboard.live import ChangeFeed
from fabula.web.errors import Unauthenticated
from fabula.web.limits import Buckets
from fabula.web.oidc import Provider
from fabula.web.review_queue import ReviewQueue
from fabula.web.security import SAFE_METHODS, find_address, is_loopback, split_host
from fabula.web.settings import Settings

CSRF_HEADER = "X-CSRF-Token"
Id = Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="32 hexadecimal digits.")]


class Web:
    """What all requests of a process share."""

    def __init__(self, studio: Studio, settings: Settings) -> None:
        self.studio = studio
        self.settings = settings
        self.people = Buckets(settings.rate_person)
        self.sign_ins = Buckets(settings.rate_sign_in)
        self.review_rate = Buckets(settings.review.rate)
        self.reviews = ReviewQueue()
        self.provider = Provider(settings.open_id) if settings.open_id else None
        # How many suggestions are being watched.
        self.streams = 0
        self.boards = Boards(studio)
        self.changes = ChangeFeed(partial(last_change, studio))


@dataclass(frozen=True)
class Visit:
    """A request of anybody."""

    request: Request

    @property
    def web(self) -> Web:
        """What all requests share."""
        web: Web = self.request.app.state.web
        return web

    @property
    def studio(self) -> Studio:
        """The studio's database."""
        return self.web.studio

    @property
    def address(self) -> str:
        """Where the request comes from."""
        return find_address(self.request.scope)

    @property
    def is_secure(self) -> bool:
        """Whether cookies are for https alone: always, but for http on one's own machine."""
        host = split_host(self.request.headers.get("host", ""))
        return self.request.scope["scheme"] == "https" or not is_loopback(host)

    @property
    def origin(self) -> str:
        """Where people find the studio."""
        return self.web.settings.public_url or str(self.request.base_url).rstrip("/")

    def limit_sign_in(self) -> None:
        """Count a try to come in: each costs a slow digest, so an address has few."""
        self.web.sign_ins.take(self.address)

    def name_cookie(self, what: str = "session") -> str:
        """A cookie's name; browsers take the prefix only from https, for this host alone."""
        return f"__Host-fabula-{what}" if self.is_secure else f"fabula-{what}"

    def read_cookie(self, what: str = "session") -> str:
        """A cookie's value, or nothing."""
        return self.request.cookies.get(self.name_cookie(what), "")

    def set_cookie(
        self, response: Response, value: str, *, what: str = "session", seconds: float
    ) -> None:
        """Give a cookie that no script reads and no other site sends along with a form."""
        response.set_cookie(
            self.name_cookie(what),
            value,
            max_age=max(0, round(seconds)),
            path="/",
            httponly=True,
            samesite="lax",
            secure=self.is_secure,
        )

    def begin_session(self, response: Response, session: Session) -> None:
        """Give the cookie of a session."""
        seconds = (session.expires_at - datetime.now(UTC)).total_seconds()
        self.set_cookie(response, session.secret, seconds=seconds)


@dataclass(frozen=True)
class Call(Visit):
    """A request of a person; with a cookie it belongs to a session, with a token to none."""

    person: Person
    session: Session | None = None


async def _visit(request: Request) -> Visit:
    return Visit(request)


def find_session_of(visit: Visit) -> Session | None:
    """Find the session of a browser, by its cookie."""
    cookie = visit.read_cookie()
    return find_session(visit.studio, cookie) if cookie else None


def find_call(request: Request) -> Call:
    """Find out who asks, or refuse; a browser also has to show that the page was ours."""
    visit = Visit(request)
    session = None
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if kind:
        person = find_token(visit.studio, secret.strip()) if kind.lower() == "bearer" else None
    else:
        session = find_session_of(visit)
        person = session.person if session else None
    if person is None:
        raise Unauthenticated("nobody is signed in", "sign in, or send a token: Bearer SECRET")
    if session is not None and request.method not in SAFE_METHODS:
        shown = request.headers.get(CSRF_HEADER, "")
        if not secrets.compare_digest(shown.encode(), session.csrf.encode()):
            raise NotAllowed(
                f"the header {CSRF_HEADER} is not that of this session",
                "send `csrf` of /api/v1/me with it",
            )
    visit.web.people.take(person.id)
    return Call(request, person, session)


def find_reader(request: Request) -> Call:
    """Find out who opens a page: by the cookie, for pages are for browsers. Who has none is sent
    to sign in."""
    visit = Visit(request)
    session = find_session_of(visit)
    if session is None:
        raise Unauthenticated("nobody is signed in", "sign in")
    visit.web.people.take(session.person.id)
    return Call(request, session.person, session)


def find_passer(request: Request) -> Visit:
    """Find out who opens a page that is for anybody: somebody, if they are signed in."""
    visit = Visit(request)
    session = find_session_of(visit)
    return Call(request, session.person, session) if session else visit


def name_rater_cookie(campaign_id: str) -> str:
    """What the cookie of a campaign's rater is called."""
    return f"rater-{campaign_id}"


@dataclass(frozen=True)
class RaterCall(Visit):
    """A request of somebody who rates in a campaign: `secret` is what their browser shows. Whose
    it is, the verbs find out."""

    campaign_id: str
    secret: str


def find_rater_call(request: Request, campaign_id: Id) -> RaterCall:
    """Find what a rater's browser shows; for whatever changes something, that the page was ours."""
    visit = Visit(request)
    secret = visit.read_cookie(name_rater_cookie(campaign_id))
    if not secret:
        raise NoRater
    if request.method not in SAFE_METHODS:
        shown = request.headers.get(CSRF_HEADER, "")
        if not secrets.compare_digest(shown.encode(), make_csrf(secret).encode()):
            raise NotAllowed(
                f"the header {CSRF_HEADER} is not that of this rater", "load the page again"
            )
    visit.web.people.take(make_csrf(secret))
    return RaterCall(request, campaign_id, secret)


class _StrictRequest(Request):
    """A request whose JSON is that of the standard."""

    async def json(self) -> Any:
        """Read the body."""
        try:
            return read_json(await self.body())
        except Unreadable as error:
            # The one kind of error that FastAPI lets through from here.
            raise HTTPException(400, error.problem) from None


class StrictRoute(APIRoute):
    """A route that reads JSON strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Hand the handler such a request."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return handle_strictly


Anybody = Annotated[Visit, Depends(_visit)]
Somebody = Annotated[Call, Depends(find_call)]
Reader = Annotated[Call, Depends(find_reader)]
Rating = Annotated[RaterCall, Depends(find_rater_call)]
Passer = Annotated[Visit, Depends(find_passer)]
