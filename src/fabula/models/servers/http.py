"""Asking a server in JSON: bounded tries, plain errors, and the key stays secret."""

from __future__ import annotations

import hashlib
import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPMessage, HTTPResponse
from threading import Event
from typing import IO, Any, TypeVar, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from fabula.core.errors import SettingError, UserError
from fabula.models.servers.limits import read_wait
from fabula.models.store.fetch import is_offline

T = TypeVar("T")

LOCAL = ("localhost", "127.0.0.1", "::1")
LONGEST_WAIT_S = 60.0
LONGEST_MESSAGE = 300
_MOST_BYTES = 64 * 1024 * 1024
_PIECE_BYTES = 64 * 1024
# What a user can mend by another key.
KEY_STATUSES = (401, 403)


class ServerError(UserError):
    """A server that did not answer as it should; `status` is that of HTTP, where it had one."""

    def __init__(self, problem: str, remedy: str = "", status: int | None = None) -> None:
        super().__init__(problem, remedy)
        self.status = status


class StreamBroken(ServerError):
    """An answer that ended before its end; `received` is what had come of its text."""

    def __init__(self, problem: str, remedy: str = "", received: str = "") -> None:
        super().__init__(problem, remedy)
        self.received = received


class TryAgain(Exception):
    """A try that failed in a way that may pass; `status` is that of HTTP, where it had one.

    What was never sent, as no connection came about, has certainly cost nothing.
    """

    def __init__(
        self,
        problem: str,
        wait_s: float | None = None,
        status: int | None = None,
        *,
        is_sent: bool = True,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.wait_s = wait_s
        self.status = status
        self.is_sent = is_sent


class _NoRedirect(HTTPRedirectHandler):
    """Goes nowhere else: the key is for one server."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Refuse to follow."""


@dataclass(frozen=True)
class Reply:
    """What a server answered, whatever it was."""

    status: int
    body: bytes

    @property
    def message(self) -> str:
        """What it says of an error."""
        return _message(self.body)


@dataclass(frozen=True)
class Upload:
    """A file with fields beside it, as forms send them (RFC 7578)."""

    name: str
    data: bytes = field(repr=False)
    fields: Mapping[str, str]

    @property
    def boundary(self) -> str:
        """What parts are set off by: the digest of the data, which it cannot hold by chance."""
        return f"fabula-{hashlib.sha256(self.data).hexdigest()[:32]}"

    @property
    def content_type(self) -> str:
        """The header that goes with it."""
        return f"multipart/form-data; boundary={self.boundary}"

    @property
    def body(self) -> bytes:
        """All parts."""
        form = "Content-Disposition: form-data; name="
        parts = [
            f'--{self.boundary}\r\n{form}"{name}"\r\n\r\n{value}\r\n'
            for name, value in self.fields.items()
        ]
        parts.append(f'--{self.boundary}\r\n{form}"file"; filename="{self.name}"\r\n')
        parts.append("Content-Type: application/octet-stream\r\n\r\n")
        return "".join(parts).encode() + self.data + f"\r\n--{self.boundary}--\r\n".encode()


@dataclass(frozen=True)
class Server:
    """Where to ask, and how patiently. `kind` is what it should be, for who took another."""

    url: str
    key: str = field(repr=False)
    key_env: str
    timeout_s: float
    retries: int
    first_wait_s: float = 1.0
    key_header: str = "Authorization"
    headers: tuple[tuple[str, str], ...] = ()
    kind: str = "an OpenAI-compatible server"

    @property
    def is_local(self) -> bool:
        """Whether the server is this machine."""
        return urlsplit(self.url).hostname in LOCAL

    @property
    def host(self) -> str:
        """Name and port, as errors name it."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def need_reach(self) -> None:
        """Refuse a server that cannot be asked: elsewhere when offline, here when none listens."""
        if not self.is_local:
            if is_offline():
                raise SettingError(
                    f"{self.host} is out of reach (FABULA_OFFLINE is set)",
                    "unset it, or name a server on this machine",
                )
            return
        address = urlsplit(self.url)
        port = address.port or (443 if address.scheme == "https" else 80)
        try:
            socket.create_connection((address.hostname, port), self.timeout_s).close()
        except OSError:
            raise SettingError(f"no server listens at {self.host}", "start it") from None

    def ask(self, path: str, question: dict[str, Any]) -> dict[str, Any]:
        """Post a question and give the answer; what may pass is tried again, later each time."""
        return self.insist(lambda: self.ask_once(path, question))

    def insist(self, attempt: Callable[[], T], cancel: Event | None = None) -> T:
        """Try until it gives something; `cancel` ends the waiting between tries, and the tries."""
        wait_s = self.first_wait_s
        for left in range(self.retries, -1, -1):
            try:
                return attempt()
            except TryAgain as failed:
                if not left or (cancel and cancel.is_set()):
                    tries = f" after {self.retries + 1} tries" if self.retries else ""
                    raise self.error(f"{failed.problem}{tries}", "try again later") from failed
                pause_s = min(wait_s if failed.wait_s is None else failed.wait_s, LONGEST_WAIT_S)
                _pause(pause_s, cancel)
                wait_s *= 2
        raise AssertionError("the last try gives or raises")

    def exchange(
        self, path: str, question: dict[str, Any], headers: dict[str, str] | None = None
    ) -> Reply:
        """Post once, and give the answer whatever its status; none at all is an error (503)."""
        try:
            with self._send(path, question, headers or {}) as response:
                return Reply(response.status, _read_all(response))
        except HTTPError as error:
            with error:
                return Reply(error.code, error.read(_MOST_BYTES))
        except TryAgain as failed:
            raise self.error(failed.problem, "try again later", status=503) from None

    def open(self, path: str, question: dict[str, Any]) -> HTTPResponse:
        """Post a question and give the answer before it has been read; what may pass is
        `TryAgain`."""
        try:
            return self._send(path, question, {})
        except HTTPError as error:
            with error:
                raise self._refusal(error) from None

    def fetch(self, path: str, upload: Upload | None = None) -> dict[str, Any]:
        """Get an object of JSON, or send a file for one; what may pass is tried again."""

        def attempt() -> dict[str, Any]:
            with self.open_plain(path, upload) as response, self.name_faults():
                return self.read(_read_all(response))

        return self.insist(attempt)

    def open_plain(self, path: str, upload: Upload | None = None) -> HTTPResponse:
        """Get something, or send a file, and give the answer before it has been read."""
        headers = {"Content-Type": upload.content_type} if upload else {}
        try:
            return self._request(path, upload.body if upload else None, headers)
        except HTTPError as error:
            with error:
                raise self._refusal(error) from None

    def _send(self, path: str, question: dict[str, Any], headers: dict[str, str]) -> HTTPResponse:
        data = json.dumps(question).encode()
        return self._request(path, data, {"Content-Type": "application/json", **headers})

    def _request(self, path: str, data: bytes | None, headers: dict[str, str]) -> HTTPResponse:
        sent = {"User-Agent": "fabula", **dict(self.headers), **headers}
        if self.key:
            is_bearer = self.key_header == "Authorization"
            sent[self.key_header] = f"Bearer {self.key}" if is_bearer else self.key
        method = "GET" if data is None else "POST"
        request = Request(f"{self.url}/{path}", data=data, headers=sent, method=method)
        with self.name_faults():
            return cast(HTTPResponse, self._opener().open(request, timeout=self.timeout_s))

    def name_faults(self) -> _FaultNames:
        """Give a `with` in which faults of a connection become `TryAgain`."""
        return _FaultNames(self.timeout_s)

    def ask_once(
        self,
        path: str,
        question: dict[str, Any],
        on_headers: Callable[[HTTPMessage], None] | None = None,
    ) -> dict[str, Any]:
        """Post a question and give the answer; what may pass is `TryAgain`."""
        with self.open(path, question) as response, self.name_faults():
            if on_headers is not None:
                on_headers(response.headers)
            return self.read(_read_all(response))

    def _opener(self) -> OpenerDirector:
        return build_opener(_NoRedirect, *([ProxyHandler({})] if self.is_local else []))

    def read(self, body: bytes | str) -> dict[str, Any]:
        """Read an object of JSON."""
        try:
            answer = json.loads(body)
        except ValueError:
            raise TryAgain("the answer is no JSON") from None
        if not isinstance(answer, dict):
            raise self.error("the answer is no JSON object", f"is it {self.kind}?")
        return answer

    def _refusal(self, error: HTTPError) -> Exception:
        try:
            said = f"{error.code}: {_message(error.read())}"
        except (HTTPException, OSError):
            said = f"{error.code}"
        problem = f"the server says {said}"
        if error.code == 429 or error.code >= 500:
            return TryAgain(self.without_key(problem), read_wait(error.headers), error.code)
        remedy = f"set {self.key_env} to a key that it takes" if error.code in KEY_STATUSES else ""
        return self.error(problem, remedy, status=error.code)

    def error(self, problem: str, remedy: str, *, status: int | None = None) -> ServerError:
        """Say what is wrong with this server."""
        return ServerError(self.without_key(f"{self.host}: {problem}"), remedy, status)

    def without_key(self, text: str) -> str:
        """Take the key out of a text; some servers repeat what they are given."""
        return text.replace(self.key, "…") if self.key else text


@dataclass(frozen=True)
class _FaultNames:
    """Names what is wrong with a connection, by `TryAgain`."""

    timeout_s: float

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, HTTPError):
            return
        reason = getattr(error, "reason", error)
        if isinstance(error, TimeoutError) or isinstance(reason, TimeoutError):
            raise TryAgain(f"no answer within {self.timeout_s:g} s") from None
        if isinstance(error, URLError | HTTPException | OSError):
            is_sent = not isinstance(reason, ConnectionRefusedError | socket.gaierror)
            raise TryAgain(f"the connection failed ({reason})", is_sent=is_sent) from None


class Connection:
    """An answer that is still coming, in pieces; any thread may close it."""

    def __init__(self, response: HTTPResponse) -> None:
        self._response = response
        # Of the same connection: to shut it down wakes who waits for the next piece.
        self._handle = socket.fromfd(response.fileno(), socket.AF_INET, socket.SOCK_STREAM)

    def read_pieces(self) -> Iterator[bytes]:
        """Give what has come as soon as something has."""
        while piece := self._response.read1(_PIECE_BYTES):
            yield piece
        if self._response.length:  # what was announced and did not come
            raise TryAgain("the connection failed (the answer breaks off)")

    def read_all(self) -> bytes:
        """Give the whole answer, which is bounded."""
        return _read_all(self._response)

    def shut_down(self) -> None:
        """End it now; who reads gets the end, or a fault of the connection."""
        with suppress(OSError):
            self._handle.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End it, and give everything back; for the thread that reads."""
        self.shut_down()
        self._handle.close()
        self._response.close()


def check_address(url: str, owner: str) -> str:
    """Give the address of a server without the slash at its end; what is none is refused."""
    try:
        parts = urlsplit(url)
        is_server = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_server = False
    if not is_server:
        raise SettingError(f"{owner}: {url!r} is no address of a server", "begin it with https://")
    if "@" in parts.netloc or parts.query:
        raise SettingError(
            f"{owner}: {urlsplit(url).hostname} is given with more than an address",
            "leave keys and questions out of it",
        )
    return url.rstrip("/")


def _pause(seconds: float, cancel: Event | None) -> None:
    if cancel is None:
        time.sleep(seconds)
    else:
        cancel.wait(seconds)


def _read_all(response: HTTPResponse) -> bytes:
    body = response.read(_MOST_BYTES + 1)
    if len(body) > _MOST_BYTES:
        raise TryAgain(f"the answer has more than {_MOST_BYTES:,} bytes")
    if response.length:  # what was announced and did not come
        raise TryAgain("the connection failed (the answer breaks off)")
    return body


def _message(body: bytes) -> str:
    """What a server says of an error, in whichever of the usual places."""
    text = body.decode(errors="replace")
    try:
        content = json.loads(text)
    except ValueError:
        content = text
    return describe_fault(content)


def describe_fault(content: Any) -> str:
    """Find a server's own words in what it says of an error."""
    for key in ("error", "message", "detail"):
        if isinstance(content, dict) and key in content:
            content = content[key]
    said = content if isinstance(content, str) else json.dumps(content)
    return " ".join(said.split())[:LONGEST_MESSAGE] or "nothing more"
