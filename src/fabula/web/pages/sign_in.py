"""Coming in: by name and password, by a link, by a sign-in elsewhere, or anew; and going out.

These are plain forms that work without a script. They have no session's word to show, so a browser
has to say that the form was ours: by `Origin` or `Sec-Fetch-Site`, which no page can forge.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Path, Query
from starlette.responses import RedirectResponse, Response

from fabula.core.errors import NotAllowed, NotFound, UserError
from fabula.studio.links import Link, find_link, is_empty, use_link
from fabula.studio.people import sign_up
from fabula.studio.sign_in import sign_in, sign_in_oidc, sign_out
from fabula.web.errors import find_status, measure_wait
from fabula.web.identity import Anybody, Passer, Visit, find_session_of
from fabula.web.oidc import COOKIE_S, Provider, keep_local, read_departure
from fabula.web.pages import make_page_router, show
from fabula.web.security import is_own_page

router = make_page_router()
LinkSecret = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{16,200}$")]
Field = Annotated[str, Form(max_length=1000)]
Target = Annotated[str, Query(alias="next", max_length=2000)]
TargetField = Annotated[str, Form(alias="next", max_length=2000)]


@router.get("/sign-in")
def show_sign_in(visit: Passer, target: Target = "/") -> Response:
    """Ask who it is; who is in already goes on."""
    if find_session_of(visit):
        return RedirectResponse(keep_local(target), 303)
    if visit.web.settings.is_local:
        return show(visit, "local_door.html", target=keep_local(target))
    return _show_form(visit, "sign_in.html", target=target)


@router.post("/sign-in")
def come_in(
    visit: Anybody, name: Field = "", password: Field = "", target: TargetField = "/"
) -> Response:
    """Let somebody in by name and password; what will not do is said above the form."""
    try:
        _need_own_form(visit)
        visit.limit_sign_in()
        session = sign_in(visit.studio, name, password, address=visit.address)
    except UserError as error:
        return _show_form(visit, "sign_in.html", error, target=target, name=name)
    response = RedirectResponse(keep_local(target), 303)
    visit.begin_session(response, session)
    return response


@router.get("/sign-up")
def show_sign_up(visit: Passer, target: Target = "/") -> Response:
    """Ask a new person how they want to be called, or say how one is taken in here."""
    if find_session_of(visit):
        return RedirectResponse(keep_local(target), 303)
    return _show_form(visit, "sign_up.html", target=target)


@router.post("/sign-up")
def begin_here(
    visit: Anybody, name: Field = "", password: Field = "", target: TargetField = "/"
) -> Response:
    """Take a new author in, where that is open to everyone."""
    try:
        _need_own_form(visit)
        visit.limit_sign_in()
        if not _is_open(visit):
            raise NotAllowed("nobody signs up here by themselves", "ask an admin for a link")
        person = sign_up(visit.studio, name=name, password=password)
        session = sign_in(visit.studio, person.name, password, address=visit.address)
    except UserError as error:
        return _show_form(visit, "sign_up.html", error, target=target, name=name)
    response = RedirectResponse(keep_local(target), 303)
    visit.begin_session(response, session)
    return response


def _is_open(visit: Visit) -> bool:
    """Whether anybody may sign up; the first person of a studio comes by its link alone."""
    settings = visit.web.settings
    is_open = settings.sign_up == "open" and not settings.is_local
    return is_open and not is_empty(visit.studio)


def _show_form(
    visit: Visit, template: str, error: UserError | None = None, *, target: str, name: str = ""
) -> Response:
    answer = show(
        visit,
        template,
        status=find_status(error) if error else 200,
        error=error,
        name=name,
        target=keep_local(target),
        is_open=_is_open(visit),
        has_provider=visit.web.provider is not None,
    )
    if error and (wait_s := measure_wait(error)):
        answer.headers["Retry-After"] = str(wait_s)
    return answer


@router.get("/account/link/{secret}")
def show_link(visit: Passer, secret: LinkSecret) -> Response:
    """Ask who comes by a link how they want to be called."""
    visit.limit_sign_in()
    return _show_link(visit, _need_link(visit, secret))


@router.post("/account/link/{secret}")
def follow_link(
    visit: Anybody, secret: LinkSecret, password: Field = "", name: Field = ""
) -> Response:
    """Let somebody in by a link; what will not do is said above the form."""
    visit.limit_sign_in()
    link = _need_link(visit, secret)
    try:
        _need_own_form(visit)
        person = use_link(visit.studio, secret, name=name, password=password)
    except UserError as error:
        return _show_link(visit, link, error, name=name)
    session = sign_in(visit.studio, person.name, password, address=visit.address)
    response = RedirectResponse("/", 303)
    visit.begin_session(response, session)
    return response


def _need_link(visit: Visit, secret: str) -> Link:
    link = find_link(visit.studio, secret)
    if link is None:
        raise NotFound("this link does not work any more", "ask for another")
    return link


def _show_link(
    visit: Visit, link: Link, error: UserError | None = None, *, name: str = ""
) -> Response:
    status = find_status(error) if error else 200
    return show(visit, "link.html", status=status, link=link, error=error, name=name)


def _need_own_form(visit: Visit) -> None:
    """Refuse a form that nobody says to be ours: another site could sign somebody in as somebody
    else, who would then read what they write."""
    if not is_own_page(visit.request.headers):
        raise NotAllowed(
            "your browser does not say where this form comes from",
            "take a newer browser; programs use /api/v1/sign-in",
        )


@router.get("/account/login")
def leave_for_provider(visit: Anybody, target: Target = "/") -> Response:
    """Send a person to sign in elsewhere."""
    visit.limit_sign_in()
    url, departure = _need_provider(visit).depart(f"{visit.origin}/account/auth", target)
    response = RedirectResponse(url, 303)
    visit.set_cookie(response, departure.seal(), what="departure", seconds=COOKIE_S)
    return response


@router.get("/account/auth")
def return_from_provider(visit: Anybody) -> Response:
    """Take in a person who has signed in elsewhere."""
    visit.limit_sign_in()
    provider = _need_provider(visit)
    departure = read_departure(visit.read_cookie("departure"))
    answer = dict(visit.request.query_params)
    arrival = provider.arrive(f"{visit.origin}/account/auth", departure, answer)
    session = sign_in_oidc(
        visit.studio,
        issuer=provider.settings.issuer,
        subject=arrival.subject,
        email=arrival.email,
        display=arrival.display,
        scopes=arrival.scopes,
        roles=arrival.roles,
        managed=provider.settings.managed_roles,
    )
    response = RedirectResponse(keep_local(departure.target), 303)
    visit.begin_session(response, session)
    visit.set_cookie(response, "", what="departure", seconds=0)
    return response


@router.get("/account/logout")
def leave(visit: Anybody) -> Response:
    """Sign out here. A link on another site does not: browsers say where they come from."""
    response = RedirectResponse("/", 303)
    if visit.request.headers.get("sec-fetch-site") not in ("cross-site", "same-site"):
        if session := find_session_of(visit):
            sign_out(visit.studio, session.secret)
        visit.set_cookie(response, "", seconds=0)
    return response


def _need_provider(visit: Visit) -> Provider:
    if visit.web.provider is None:
        raise NotFound("nobody signs in elsewhere here", "set FABULA_OIDC_ISSUER")
    return visit.web.provider
