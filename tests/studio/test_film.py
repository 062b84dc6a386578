"""A film against a replay of the same log, passages against spans."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from fabula.studio.authorship import locate_spans, replay
from fabula.studio.edits import LoggedEdit
from fabula.studio.film import locate_passages, make_film

START = datetime(2026, 5, 1, 9, tzinfo=UTC)
SIGNS = "ab. \n𝔘"


@st.composite
def logs(draw):
    """Logs of a person and two suggestions, with pauses, and several edits at one moment."""
    log, text, moment, version = [], "", START, 1
    for _ in range(draw(st.integers(0, 25))):
        start = draw(st.integers(0, len(text)))
        stop = draw(st.integers(start, min(len(text), start + 4)))
        inserted = draw(st.text(SIGNS, max_size=5))
        suggestion = draw(st.sampled_from([None, None, "s1", "s2"]))
        wait_s = draw(st.sampled_from([0, 0, 0.25, 5, 90, 3600]))
        moment += timedelta(seconds=wait_s)
        version += draw(st.integers(0, 1))
        log.append(
            LoggedEdit(
                version=version, position=len(log), person_id="ann", start=start, stop=stop,
                removed=text[start:stop], inserted=inserted,
                source="machine" if suggestion else "person", suggestion_id=suggestion,
                made_at=moment, saved_at=moment,
            )
        )  # fmt: skip
        text = text[:start] + inserted + text[stop:]
    return log


def show(film):
    """Text and author of every character after each moment, by the film alone: in UTF-16 units,
    as a page would."""
    units, number = [], 0
    for changes in film.changes:
        for _ in range(changes):
            start, author = film.starts[number], film.authors[film.who[number]]
            raw = film.inserted[number].encode("utf-16-le")
            new = [(raw[at : at + 2], author) for at in range(0, len(raw), 2)]
            units[start : start + film.removed[number]] = new
            number += 1
        yield b"".join(unit for unit, _ in units).decode("utf-16-le"), [who for _, who in units]


def spread(marks, text):
    """The author of every UTF-16 unit of a text."""
    authors = [(run.origin, run.suggestion_id) for run in marks for _ in range(run.length)]
    return [
        author
        for sign, author in zip(text, authors, strict=True)
        for _ in range(len(sign.encode("utf-16-le")) // 2)
    ]


@given(logs())
def test_a_film_shows_what_a_replay_gives_at_every_moment(log):
    film = make_film(log)
    frames = list(replay(log))
    assert len(film.milliseconds) == len(film.versions) == len(film.changes) == len(frames)
    for frame, (text, authors) in zip(frames, show(film), strict=True):
        assert text == frame.text
        assert authors == spread(frame.marks, frame.text)
    assert list(accumulate(film.versions)) == [frame.version for frame in frames]
    times = [round((frame.moment - START).total_seconds() * 1000) for frame in frames]
    first = times[0] if times else 0
    assert [first + since for since in accumulate(film.milliseconds)] == times


@given(logs())
def test_passages_are_spans_that_nobody_needs_to_tell_apart(log):
    spans, passages = locate_spans(log), locate_passages(log)
    assert [passage.start for passage in passages[1:]] == [one.stop for one in passages[:-1]]
    assert sum(one.stop - one.start for one in passages) == sum(s.stop - s.start for s in spans)
    for span in spans:
        [around] = [one for one in passages if one.start <= span.start and span.stop <= one.stop]
        assert (around.origin, around.suggestion_id) == (span.origin, span.suggestion_id)
        # When is told to the minute.
        assert around.began_at <= span.made_at
        assert span.made_at < around.ended_at + timedelta(minutes=1)


def type_letters(text, every_s, start=START):
    return [
        LoggedEdit(
            version=number + 1, position=0, person_id="ann", start=number, stop=number, removed="",
            inserted=letter, source="person", suggestion_id=None,
            made_at=start + timedelta(seconds=number * every_s), saved_at=start,
        )
        for number, letter in enumerate(text)
    ]  # fmt: skip


def test_what_was_typed_letter_by_letter_in_one_sitting_is_one_passage():
    [passage] = locate_passages(type_letters("abcdef" * 30, 10))
    # 180 letters, ten seconds apart: the last minute begins 29 minutes after the first.
    assert passage.began_at == START
    assert passage.ended_at == START + timedelta(minutes=29)


def test_a_long_pause_parts_passages_and_sittings():
    log = type_letters("abc", 31 * 60)
    assert [one.began_at for one in locate_passages(log)] == [edit.made_at for edit in log]
    assert make_film(log).sittings == [0, 1, 2]


def test_a_log_without_edits_is_an_empty_film():
    film = make_film([])
    assert film.began_at is None
    assert film.changes == film.sittings == []
    assert locate_passages([]) == []
