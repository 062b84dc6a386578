"""What stands in front of every request: its number, its host, how often, how much, and what a
browser is told. Plain ASGI: a request passes through it once and is not wrapped again.
"""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import time
from typing import Protocol
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fabula.core.bodies import Compressed, Unreadable, collect_body, inflate
from fabula.core.errors import NotAllowed, UserError
from fabula.studio.people import origin
from fabula.web.errors import LOG, answer_error, answer_problem
from fabula.web.limits import Buckets
from fabula.web.settings import LOOPBACK_NAMES, Settings

# What whoever passes a request on adds to it.
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Where bodies may come compressed: STORIUM's door, and games brought along.
INFLATED_PATHS = ("/api/storium/", "/api/v1/games/import")
# Nothing may be loaded, run or framed; pages of ours name what they need. What is answered is
# about one person: nobody in between keeps it.
_DEFAULTS = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'"),
    (b"cache-control", b"no-store"),
]
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # Nobody else is told where one was. Our own pages are: told nothing, a browser would send
    # their plain forms with `Origin: null`, as those of anybody.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]


class RequestObserver(Protocol):
    """Whoever counts requests."""

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Take a request that was answered."""


class Gate:
    """Lets a request through to the app, or answers it."""

    def __init__(self, app: ASGIApp, *, settings: Settings, observer: RequestObserver) -> None:
        self._app = app
        self._settings = settings
        self._observer = observer
        self._addresses = Buckets(settings.rate_address)
        named = urlsplit(settings.public_url).hostname
        self._hosts = {*LOOPBACK_NAMES, *settings.hosts, *([named] if named else [])}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        number = secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = number
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add_headers(message, number, is_secure=scope["scheme"] == "https")
            await send(message)

        came_from = origin.set(spell_network(find_address(scope)))
        try:
            await self._answer(scope, receive, send_with_headers)
        # The border of the web process: whatever went wrong is in the log under the number that
        # the client is told, and the next request is answered.
        except Exception:
            LOG.exception("request %s: %s %s", number, scope["method"], scope["path"])
            if not status:
                words = "something went wrong here"
                answer = answer_problem(500, words, id=number, scope=scope)
                await answer(scope, receive, send_with_headers)
        finally:
            origin.reset(came_from)
            self._observer.observe(scope, status, time.perf_counter() - begun)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if scope["method"] == "HEAD" and not scope["path"].startswith("/api/"):
            scope, send = _ask_whole(scope, send)
        try:
            if self._settings.is_local:
                _check_local(scope, headers)
            self._check_host(headers)
            _check_origin(scope, headers)
            if scope["path"] != "/healthz":
                self._addresses.take(find_address(scope))
            if scope["method"] not in SAFE_METHODS:
                receive = await self._read_body(scope, headers, receive)
        except UserError as error:
            await answer_error(error, scope)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        """Answer to our own names only. An address in digits is nobody's name: no other page can
        have made a browser believe that it is ours."""
        host = split_host(headers.get("host", ""))
        if "*" in self._hosts or host in self._hosts or _is_address(host):
            return
        raise Unreadable(
            "the studio is not known by this name", "set FABULA_HOSTS or FABULA_PUBLIC_URL"
        )

    async def _read_body(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """Read the body, which is bounded, and unpack it where that is allowed."""
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding != "identity":
            _check_encoding(scope["path"], encoding)
        length = headers.get("content-length", "")
        try:
            async with asyncio.timeout(self._settings.body_within_s):
                data = await collect_body(receive, self._settings.max_body, length)
        except TimeoutError:
            raise Unreadable("the body did not come in time", "send it again") from None
        if encoding != "identity":
            bounds = (data, encoding.removeprefix("x-"), self._settings.max_inflated)
            data = await run_in_threadpool(inflate, *bounds)
            _replace_encoding(scope, len(data))
        return _replay(data, receive)


def find_address(scope: Scope) -> str:
    """Where a request comes from; behind a trusted proxy, whom it speaks for."""
    return scope["client"][0] if scope.get("client") else ""


def spell_network(address: str) -> str:
    """The network of an address, for the audit log: enough to see where an attack comes from, too
    little to tell a household by. What stands there cannot be taken out again."""
    try:
        version = ipaddress.ip_address(address).version
    except ValueError:
        return ""
    length = 24 if version == 4 else 48
    return str(ipaddress.ip_network(f"{address}/{length}", strict=False))


def split_host(host: str) -> str:
    """The name in a `Host`, without its port."""
    name = host.rpartition(":")[0] if host.rpartition("]")[2].startswith(":") else host
    if not host.startswith("["):
        name = host.partition(":")[0]
    return name.strip("[]").lower()


def is_loopback(address: str) -> bool:
    """Whether an address or host is this machine's own."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address in LOOPBACK_NAMES


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _check_local(scope: Scope, headers: Headers) -> None:
    """Where nobody is asked who they are, answer this machine alone, by its own names, and nobody
    who speaks for somebody else."""
    if not is_loopback(find_address(scope)) or any(name in headers for name in _FORWARDED):
        raise NotAllowed(
            "this studio is for its own machine", "let others in with `fabula serve`, over https"
        )
    if not is_loopback(split_host(headers.get("host", ""))):
        raise Unreadable("the studio is not known by this name", "open it at 127.0.0.1")


def is_own_page(headers: Headers) -> bool:
    """Whether a browser says that a page of ours sends this; `_check_origin` has refused what it
    says of others. Who says nothing is no browser of today, or no browser."""
    return "origin" in headers or headers.get("sec-fetch-site") == "same-origin"


def _check_origin(scope: Scope, headers: Headers) -> None:
    """Refuse what a page of somebody else's has a browser send."""
    if scope["method"] in SAFE_METHODS:
        return
    origin = headers.get("origin")
    # Behind a proxy the scheme may be another than the browser's: names are compared.
    is_foreign = origin is not None and urlsplit(origin).netloc != headers.get("host")
    if is_foreign or headers.get("sec-fetch-site") == "cross-site":
        raise NotAllowed("another site may not send this", "open the studio itself")


def _check_encoding(path: str, encoding: str) -> None:
    if encoding not in ("gzip", "x-gzip", "deflate") or not path.startswith(INFLATED_PATHS):
        raise Compressed("compressed bodies are not read here", "send it as it is")


def _replace_encoding(scope: Scope, length: int) -> None:
    other = [
        (name, value)
        for name, value in scope["headers"]
        if name not in (b"content-encoding", b"content-length", b"transfer-encoding")
    ]
    scope["headers"] = [*other, (b"content-length", str(length).encode())]


def _replay(data: bytes, receive: Receive) -> Receive:
    """Give the body in one piece, and afterwards what comes from the client: that it went away."""
    is_given = False

    async def receive_again() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": data, "more_body": False}

    return receive_again


def _ask_whole(scope: Scope, send: Send) -> tuple[Scope, Send]:
    """Have a page made whose head alone is asked for, and leave its body out."""

    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return {**scope, "method": "GET"}, send_head


def _add_headers(message: Message, number: str, *, is_secure: bool) -> None:
    headers = list(message.get("headers", ()))
    present = {name.lower() for name, _ in headers}
    headers += [pair for pair in _DEFAULTS if pair[0] not in present]
    headers += _HEADERS
    headers.append((b"x-request-id", number.encode()))
    if is_secure:
        headers.append((b"strict-transport-security", b"max-age=31536000"))
    message["headers"] = headers
