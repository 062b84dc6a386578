"""Bodies of requests that strangers send: bounded, unpacked no further than allowed, read as JSON.

For every server of ours: the studio, and co-authors that are offered by themselves.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

from fabula.core.errors import UserError

_MOST_DEPTH = 64
_PIECE = 256 * 1024


class TooBig(UserError):
    """A body that is longer than what is read."""


class Compressed(UserError):
    """A body that is compressed where none may be, or in a way that is not known."""


class Unreadable(UserError):
    """A body that is not what it says it is."""


async def collect_body(
    receive: Callable[[], Awaitable[Any]], most: int, announced: str = ""
) -> bytes:
    """Read the body of an ASGI request; one that is or says it is longer than `most` is refused."""
    if announced.isascii() and announced.isdigit() and int(announced) > most:
        raise TooBig(f"the body has more than {most:,} bytes", "send less")
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Unreadable("the body ends in its middle", "send it again")
        piece = message.get("body", b"")
        size += len(piece)
        if size > most:
            raise TooBig(f"the body has more than {most:,} bytes", "send less")
        pieces.append(piece)
        if not message.get("more_body"):
            return b"".join(pieces)


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
