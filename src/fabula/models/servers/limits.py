"""What servers say of their limits in the headers of answers: how much is left, and until when.

OpenAI's (`x-ratelimit-remaining-requests`), Anthropic's (`anthropic-ratelimit-requests-remaining`)
and those of IETF's draft (`ratelimit-remaining`) are read; whatever is none of these is nothing.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, Protocol

Amount = Literal["requests", "tokens"]

# Names of limit, what is left and reset by what they count; the first that is there counts.
_NAMES: Mapping[Amount, tuple[tuple[str, str, str], ...]] = {
    "requests": (
        ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests",
         "x-ratelimit-reset-requests"),
        ("anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining",
         "anthropic-ratelimit-requests-reset"),
        ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"),
    ),
    "tokens": (
        ("x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
        ("anthropic-ratelimit-input-tokens-limit", "anthropic-ratelimit-input-tokens-remaining",
         "anthropic-ratelimit-input-tokens-reset"),
        ("anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining",
         "anthropic-ratelimit-tokens-reset"),
    ),
}  # fmt: skip
_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhd]))+")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])")


class Headers(Protocol):
    """Headers of an answer; their names are found in whatever case."""

    def get(self, name: str, /) -> str | None:
        """Give a header by its name in small letters, if it is there."""
        ...


@dataclass(frozen=True)
class RoomLeft:
    """How much a server still takes of requests or tokens until its limit is whole again.

    `limit` is how much that is then, where it is told.
    """

    counts: Amount
    remaining: float
    reset_s: float
    limit: float | None = None


def read_room(headers: Headers) -> list[RoomLeft]:
    """Read what is left of requests and of tokens, where a server tells both ends of it."""
    now = _read_clock(headers)
    return [room for counts in _NAMES for room in _read_first(headers, counts, now)]


def _read_first(headers: Headers, counts: Amount, now: float) -> Iterator[RoomLeft]:
    for limit, remaining, reset in _NAMES[counts]:
        left = _read_number(headers.get(remaining))
        reset_s = _read_span(headers.get(reset), now)
        if left is not None and reset_s is not None:
            yield RoomLeft(counts, left, reset_s, _read_number(headers.get(limit)))
            return


def read_wait(headers: Headers) -> float | None:
    """Read how many seconds a server that turns a question away asks to wait.

    By `Retry-After`, else until what has been used up is there again.
    """
    milliseconds = _read_number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    if (told := _read_retry_after(headers.get("retry-after"))) is not None:
        return told
    return max((room.reset_s for room in read_room(headers) if room.remaining < 1), default=None)


def _read_retry_after(value: str | None) -> float | None:
    """Read seconds, or a date."""
    if not value:
        return None
    if (seconds := _read_number(value)) is not None:
        return seconds
    try:
        return max(parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except ValueError:
        return None


def _read_span(value: str | None, now: float) -> float | None:
    """Read how long something takes from now: `1m30.5s`, `20ms`, seconds, or a moment."""
    text = (value or "").strip()
    if (seconds := _read_number(text)) is not None:
        return seconds
    if _SPAN.fullmatch(text):
        return math.fsum(float(count) * _UNITS_S[unit] for count, unit in _PART.findall(text))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(moment.timestamp() - now, 0.0)


def _read_number(value: str | None) -> float | None:
    """Read a number that is neither below zero nor without end."""
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None


def _read_clock(headers: Headers) -> float:
    """Read the server's clock, by which it tells moments; ours where it tells none."""
    try:
        return parsedate_to_datetime(headers.get("date") or "").timestamp()
    except ValueError:
        return time.time()
