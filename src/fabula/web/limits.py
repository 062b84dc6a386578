"""How often and how much: token buckets (in memory, a process), and bounds of bodies."""

from __future__ import annotations

import json
import math
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from fabula.core.errors import UserError
from fabula.web.settings import Rate

# More addresses than this are not remembered; the one not seen for longest is forgotten first.
_MOST_KEYS = 20_000
_MOST_DEPTH = 64
_PIECE = 256 * 1024


class TooMany(UserError):
    """More requests than one may send; `wait_s` later it will do."""

    def __init__(self, wait_s: float) -> None:
        super().__init__("too many requests", f"try again in {max(1, round(wait_s))} s")
        self.wait_s = wait_s


class TooBig(UserError):
    """A body that is longer than what is read."""


class Compressed(UserError):
    """A body that is compressed where none may be, or in a way that is not known."""


class Unreadable(UserError):
    """A body that is not what it says it is."""


class Buckets:
    """A bucket of tokens for everyone who comes: each request takes one, time brings them back."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = rate.count
        self._per_s = rate.count / rate.seconds
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> None:
        """Take a token out of somebody's bucket, or refuse."""
        if not self._most:
            return
        now = self._clock()
        with self._lock:
            level, then = self._levels.pop(key, (self._most, now))
            level = min(self._most, level + (now - then) * self._per_s)
            is_enough = level >= 1
            self._levels[key] = (level - is_enough, now)
            if len(self._levels) > _MOST_KEYS:
                self._levels.popitem(last=False)
        if not is_enough:
            raise TooMany((1 - level) / self._per_s)


def inflate(data: bytes, encoding: str, most: int) -> bytes:
    """Unpack a body of gzip or deflate; beyond `most` bytes nothing more is unpacked."""
    # 16: with a gzip header; deflate is zlib's form in the standard, and often the bare one.
    is_bare = encoding == "deflate" and data[:1] and data[0] & 0x0F != 8
    window = 16 + zlib.MAX_WBITS if encoding == "gzip" else zlib.MAX_WBITS
    pieces: list[bytes] = []
    size = 0
    while data:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS if is_bare else window)
        while data and not inflater.eof:
            try:
                piece = inflater.decompress(data, _PIECE)
            except zlib.error:
                raise Unreadable(f"the body is no {encoding}", "send it again") from None
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise TooBig(f"the body has more than {most:,} bytes when unpacked", "send less")
            data = inflater.unconsumed_tail
        if not inflater.eof:
            raise Unreadable("the body ends in its middle", "send it again")
        # A file of gzip may be several, one after the other.
        data = inflater.unused_data
    return b"".join(pieces)


def read_json(data: bytes) -> Any:
    """Read JSON as the standard has it: no NaN, not deeper than 64, text that can be written."""
    try:
        value = json.loads(data, parse_constant=_refuse_constant, parse_float=_read_float)
    except (ValueError, RecursionError) as error:
        reason = (
            str(error) if isinstance(error, json.JSONDecodeError) else "a value that it has not"
        )
        raise Unreadable(f"the body is no JSON: {reason}", "send JSON in UTF-8") from None
    # Only a body with as many brackets, or with escapes, can have what is refused.
    if data.count(b"[") + data.count(b"{") > _MOST_DEPTH or b"\\u" in data:
        _check_value(value)
    return value


def _read_float(digits: str) -> float:
    # Written with digits, but beyond what a number can hold.
    if math.isinf(number := float(digits)):
        raise ValueError(f"{digits[:20]} is too great")
    return number


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _check_value(value: Any) -> None:
    level = [value]
    for _ in range(_MOST_DEPTH):
        below: list[Any] = []
        for item in level:
            if isinstance(item, str):
                _check_text(item)
            elif isinstance(item, dict):
                below += item.keys()
                below += item.values()
            elif isinstance(item, list):
                below += item
        if not below:
            return
        level = below
    raise Unreadable(f"the body is nested deeper than {_MOST_DEPTH} levels", "make it flatter")


def _check_text(text: str) -> None:
    # No database keeps a NUL in a text, and half a surrogate pair is no letter.
    if "\0" in text:
        raise Unreadable("a text in the body has a NUL", "leave it out")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Unreadable("a text in the body has half of a surrogate pair", "mend it") from None
