"""Server-sent events, whatever the borders of the pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.models.servers.events import Event, EventTooLong, read_events, read_lines

STREAM = (
    "\ufeff: a comment\n"
    "event: greeting\r\n"
    "data: grüß\r\n"
    "data:  dich 🦉\r\n"
    "id: 7\r\n\r\n"
    "data\n\n"
    "event: nothing\n\n"
    "retry: 10\r\r"
    "data:last\r\r"
    "data: cut off"
)
# By the standard: a blank after the colon is no part of the value, lines of data are joined, a
# line without a colon is a field without a value, what has no data is no event.
EVENTS = [Event("greeting", "grüß\n dich 🦉"), Event("", ""), Event("", "last")]


def test_events_are_read_as_the_standard_says():
    assert list(read_events([STREAM.encode()])) == EVENTS


@given(st.lists(st.integers(0, len(STREAM.encode())), max_size=20))
def test_where_the_pieces_begin_and_end_changes_nothing(cuts):
    data = STREAM.encode()
    places = [0, *sorted(cuts), len(data)]
    pieces = [data[start:stop] for start, stop in pairwise(places)]
    assert list(read_events(pieces)) == EVENTS


def test_an_event_is_there_with_the_line_that_ends_it():
    def come():
        yield b"data: one\r\n\r"
        raise AssertionError("the event was whole")

    assert next(read_events(come())) == Event("", "one")


def test_bytes_that_are_no_utf_8_stay_in_their_line():
    assert list(read_lines([b"a\xff", b"b\nc\xf0\n"])) == ["a\ufffdb", "c\ufffd"]


def test_a_line_without_end_is_not_kept():
    pieces = iter([b"data: " + b"x" * 50] * 100)
    with pytest.raises(EventTooLong, match="more than 200"):
        list(read_events(pieces, 200))
    assert len(list(pieces)) > 90


def test_an_event_without_end_is_not_kept():
    with pytest.raises(EventTooLong):
        list(read_events([b"data: " + b"x" * 50 + b"\n"] * 100, 200))
