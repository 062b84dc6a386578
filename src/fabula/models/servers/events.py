"""Server-sent events, read as they come: whatever the borders of the pieces they come in."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# No server of ours has longer ones; more would be kept in memory for nobody.
LONGEST_EVENT = 1024 * 1024
_BREAK = re.compile(r"\r\n|\n|\r")


class EventTooLong(ValueError):
    """A line, or an event, without end."""


@dataclass(frozen=True)
class Event:
    """One event: its kind, where it is told, and its data."""

    kind: str
    data: str


def read_events(pieces: Iterable[bytes], longest: int = LONGEST_EVENT) -> Iterator[Event]:
    """Give events as soon as each is whole; one that the end of the stream cuts off is none."""
    data: list[str] = []
    kind, size = "", 0
    for line in read_lines(pieces, longest):
        if not line:
            if data:
                yield Event(kind, "\n".join(data))
            kind, data, size = "", [], 0
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
            size += len(value)
        elif field == "event":
            kind = value
        # Lines of a comment begin with the colon, and keep a connection alive.
        if size > longest:
            raise EventTooLong(f"an event has more than {longest:,} characters")


def read_lines(pieces: Iterable[bytes], longest: int = LONGEST_EVENT) -> Iterator[str]:
    """Give the lines of a stream in UTF-8, ended by LF, CR LF or CR; the open last one is none."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    begun: list[str] = []
    size, is_after_return = 0, False
    for piece in pieces:
        text = decoder.decode(piece)
        if not text:  # a part of a letter
            continue
        if is_after_return:  # the line has ended already
            text = text.removeprefix("\n")
        is_after_return = text.endswith("\r")
        *ended, rest = _BREAK.split(text)
        for line in ended:
            yield "".join([*begun, line])
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        if size > longest:
            raise EventTooLong(f"a line has more than {longest:,} characters")
