"""Asking a server in JSON: bounded tries, plain errors, and the key stays secret."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from fabula.core.errors import UserError

LOCAL = ("localhost", "127.0.0.1", "::1")
LONGEST_WAIT_S = 60.0
LONGEST_MESSAGE = 300


class ServerError(UserError):
    """A server that did not answer as it should."""


class _Again(Exception):
    """A try that failed in a way that may pass."""

    def __init__(self, problem: str, wait_s: float | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.wait_s = wait_s


class _NoRedirect(HTTPRedirectHandler):
    """Goes nowhere else: the key is for one server."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Refuse to follow."""


@dataclass(frozen=True)
class Server:
    """Where to ask, and how patiently."""

    url: str
    key: str = field(repr=False)
    key_env: str
    timeout_s: float
    retries: int
    first_wait_s: float = 1.0

    @property
    def is_local(self) -> bool:
        """Whether the server is this machine."""
        return urlsplit(self.url).hostname in LOCAL

    def ask(self, path: str, question: dict[str, Any]) -> dict[str, Any]:
        """Post a question and give the answer; what may pass is tried again, later each time."""
        wait_s = self.first_wait_s
        for left in range(self.retries, -1, -1):
            try:
                return self._ask_once(path, question)
            except _Again as failed:
                if not left:
                    tries = f"after {self.retries + 1} tries" if self.retries else ""
                    raise self._error(f"{failed.problem} {tries}", "try again later") from failed
                time.sleep(min(wait_s if failed.wait_s is None else failed.wait_s, LONGEST_WAIT_S))
                wait_s *= 2
        raise AssertionError("the last try gives or raises")

    def _ask_once(self, path: str, question: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "User-Agent": "fabula"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        data = json.dumps(question).encode()
        request = Request(f"{self.url}/{path}", data=data, headers=headers, method="POST")
        try:
            with self._opener().open(request, timeout=self.timeout_s) as response:
                body = response.read()
        except HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except TimeoutError:
            raise _Again(f"no answer within {self.timeout_s:g} s") from None
        except (URLError, HTTPException, OSError) as error:
            raise _Again(f"the connection failed ({getattr(error, 'reason', error)})") from None
        return self._read(body)

    def _opener(self) -> OpenerDirector:
        return build_opener(_NoRedirect, *([ProxyHandler({})] if self.is_local else []))

    def _read(self, body: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(body)
        except ValueError:
            raise _Again("the answer is no JSON") from None
        if not isinstance(answer, dict):
            raise self._error("the answer is no JSON object", "is it an OpenAI-compatible server?")
        return answer

    def _refusal(self, error: HTTPError) -> Exception:
        try:
            said = f"{error.code}: {_message(error.read())}"
        except (HTTPException, OSError):
            said = f"{error.code}"
        if error.code == 429 or error.code >= 500:
            return _Again(f"the server says {said}", _retry_after(error.headers.get("Retry-After")))
        remedy = f"set {self.key_env} to a key that it takes" if error.code in (401, 403) else ""
        return self._error(f"the server says {said}", remedy)

    def _error(self, problem: str, remedy: str) -> ServerError:
        text = f"{urlsplit(self.url).netloc.rpartition('@')[2]}: {problem}"
        return ServerError(self.without_key(text), remedy)

    def without_key(self, text: str) -> str:
        """Take the key out of a text; some servers repeat what they are given."""
        return text.replace(self.key, "…") if self.key else text


def _message(body: bytes) -> str:
    """What a server says of an error, in whichever of the usual places."""
    text = body.decode(errors="replace")
    try:
        content = json.loads(text)
    except ValueError:
        content = text
    for key in ("error", "message", "detail"):
        if isinstance(content, dict) and key in content:
            content = content[key]
    said = content if isinstance(content, str) else json.dumps(content)
    return " ".join(said.split())[:LONGEST_MESSAGE] or "nothing more"


def _retry_after(value: str | None) -> float | None:
    """Seconds that a server asks to wait, given as a number or as a date."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None
