"""The few plain pages that there are: the front page, the API's description, and coming in by a
link or by a sign-in elsewhere. No script, and nothing that another site has.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path
from starlette.responses import HTMLResponse, RedirectResponse, Response

from fabula._version import __version__
from fabula.core.errors import NotFound, UserError
from fabula.studio.links import Link, find_link, use_link
from fabula.studio.sign_in import sign_in, sign_in_oidc, sign_out
from fabula.web.errors import find_status
from fabula.web.identity import Anybody, Visit, find_session_of
from fabula.web.oidc import COOKIE_S, Provider, keep_local, read_departure

router = APIRouter(include_in_schema=False)
LinkSecret = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{16,200}$")]
Field = Annotated[str, Form(max_length=1000)]
_STYLE = """
body { font: 17px/1.6 Georgia, serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem;
  color: #222; background: #fdfcf9; }
h1 { font-weight: normal; } a { color: #7a3b10; }
code, td:first-child { font: 14px/1.6 ui-monospace, monospace; } td { padding: .1rem .8rem .1rem 0;
  vertical-align: top; }
label { display: block; margin: .8rem 0 .2rem; } input { font: inherit; width: 20rem; }
button { font: inherit; margin-top: 1.2rem; padding: .3rem 1.2rem; } .problem { color: #a11; }
"""
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)


def _write_page(title: str, content: str, *, status: int = 200) -> HTMLResponse:
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>{content}</body></html>"
    )
    return HTMLResponse(page, status, {"Content-Security-Policy": _POLICY})


@router.get("/")
def show_front(visit: Anybody) -> Response:
    """Say what this is, and where to go on."""
    doors = '<p><a href="/account/login">Sign in</a></p>' if visit.web.provider else ""
    if session := find_session_of(visit):
        who = escape(session.person.name)
        doors = f'<p>You are <b>{who}</b>. <a href="/account/logout">Sign out</a></p>'
    return _write_page(
        "Fabula Studio",
        "<p>Write stories with others and with a machine; the studio remembers who wrote what, "
        "and what of a machine's words was kept.</p>"
        f"{doors}"
        '<p>Programs use the <a href="/api/docs">API</a> '
        '(<a href="/api/v1/openapi.json">OpenAPI</a>).</p>'
        f"<p><small>Fabula {escape(__version__)}</small></p>",
    )


@router.get("/api/docs")
async def show_api(visit: Anybody) -> Response:
    """List what the API can do."""
    described: dict[str, Any] = visit.request.app.openapi()
    rows = "".join(
        f"<tr><td>{method.upper()} {escape(path)}</td>"
        f"<td>{escape(operation.get('description', '').partition('.')[0])}</td></tr>"
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
    )
    words = escape(described["info"]["description"])
    more = '<p>All of it: <a href="/api/v1/openapi.json">OpenAPI</a>.</p>'
    return _write_page("The studio's API", f"<p>{words}</p>{more}<table>{rows}</table>")


@router.get("/account/link/{secret}")
def show_link(visit: Anybody, secret: LinkSecret) -> Response:
    """Ask who comes by a link how they want to be called."""
    visit.limit_sign_in()
    link = find_link(visit.studio, secret)
    if link is None:
        raise NotFound("this link does not work any more", "ask for another")
    return _write_form(link)


def _write_form(link: Link, problem: str = "", *, status: int = 200) -> Response:
    name = (
        f"<p>A new password for <b>{escape(link.name)}</b>.</p>"
        if link.name
        else '<label for="name">Name</label>'
        '<input id="name" name="name" required maxlength="100" autocomplete="username">'
    )
    return _write_page(
        "Welcome to the studio",
        f'<p class="problem">{escape(problem)}</p><form method="post">{name}'
        '<label for="password">Password</label><input id="password" name="password" '
        'type="password" required maxlength="1000" autocomplete="new-password">'
        "<div><button>Come in</button></div></form>",
        status=status,
    )


@router.post("/account/link/{secret}")
def follow_link(visit: Anybody, secret: LinkSecret, password: Field, name: Field = "") -> Response:
    """Let somebody in by a link; what will not do is said above the form."""
    visit.limit_sign_in()
    link = find_link(visit.studio, secret)
    if link is None:
        raise NotFound("this link does not work any more", "ask for another")
    try:
        person = use_link(visit.studio, secret, name=name, password=password)
    except UserError as error:
        return _write_form(link, f"{error.problem}; {error.remedy}", status=find_status(error))
    session = sign_in(visit.studio, person.name, password, address=visit.address)
    response = RedirectResponse("/", 303)
    visit.begin_session(response, session)
    return response


@router.get("/account/login")
def leave_for_provider(visit: Anybody, next: str = "/") -> Response:
    """Send a person to sign in elsewhere."""
    visit.limit_sign_in()
    url, departure = _need_provider(visit).depart(f"{visit.origin}/account/auth", next)
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
    if visit.request.headers.get("sec-fetch-site") != "cross-site":
        if session := find_session_of(visit):
            sign_out(visit.studio, session.secret)
        visit.set_cookie(response, "", seconds=0)
    return response


def _need_provider(visit: Visit) -> Provider:
    if visit.web.provider is None:
        raise NotFound("nobody signs in elsewhere here", "set FABULA_OIDC_ISSUER")
    return visit.web.provider
