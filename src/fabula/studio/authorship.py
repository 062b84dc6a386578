"""Who wrote which characters: what the log of a draft tells, as pure functions.

A character is a `machine`'s as long as it stands as a suggestion had it, a `person`'s where a
person wrote it, and `edited` where a person rewrote a suggestion: in place of its characters, or
inside one of its sentences. `edited` characters name the suggestion too.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, groupby
from operator import attrgetter
from typing import Any, Literal, NamedTuple, get_args

from fabula.studio.edits import Edit, LoggedEdit
from fabula.text.words import span_words

Origin = Literal["person", "machine", "edited"]
ORIGINS: tuple[Origin, ...] = get_args(Origin)

# A pause longer than this ends a sitting.
GAP_S = 30 * 60.0
_SENTENCE_END = re.compile(r"(?:[.!?…。！？][\"'”’»)\]*_]*\s+|\n\s*)\Z")
_END_LENGTH = 12
_LENGTH = attrgetter("length")


class Run(NamedTuple):
    """Neighbouring characters of one origin; `edit` is the place in the log of what wrote them,
    where that is asked for."""

    length: int
    origin: Origin
    suggestion_id: str | None = None
    edit: int = -1


Marks = tuple[Run, ...]


def parse_marks(rows: Iterable[Sequence[Any]]) -> Marks:
    """Make marks of what the database holds: rows of length, origin, suggestion."""
    return tuple(Run(*row) for row in rows)


def plain_marks(marks: Marks) -> list[list[Any]]:
    """Give marks as the database holds them."""
    return [list(run[:3]) for run in marks]


class Change(NamedTuple):
    """What an edit changes: characters `start` to `stop` give way to `inserted`, all of which are
    of one origin. What a person puts back as it was is no change."""

    start: int
    stop: int
    inserted: str
    origin: Origin
    suggestion_id: str | None


def mark_edit(marks: Marks, text: str, edit: Edit | LoggedEdit, number: int = -1) -> Marks:
    """Give the marks after an edit of a text; `number` is the edit's place in the log."""
    return trace_edit(marks, text, edit, number)[0]


def trace_edit(
    marks: Marks, text: str, edit: Edit | LoggedEdit, number: int = -1, *, offset: int = 0
) -> tuple[Marks, Change]:
    """Give the marks after an edit of a text, and what it changes.

    The marks may be those of a part alone, which begins at `offset` and in which the edit and the
    characters beside it lie.
    """
    start, stop, inserted = edit.start, edit.stop, edit.inserted
    if edit.source == "person":
        # What a person puts back as it was keeps its author.
        same = _count_same(text[start:stop], inserted)
        start, inserted = start + same, inserted[same:]
        same = _count_same(text[start:stop][::-1], inserted[::-1])
        stop, inserted = stop - same, inserted[: len(inserted) - same]
    ends = list(accumulate(map(_LENGTH, marks)))
    left, rest = _split(marks, ends, start - offset)
    right = _split(marks, ends, stop - offset)[1]
    origin: Origin = "machine"
    suggestion_id = edit.suggestion_id
    if edit.source == "person":
        if suggestion_id is None and inserted:
            before = text[max(0, start - _END_LENGTH) : start]
            suggestion_id = _find_rewritten(left, _take(rest, stop - start), right, before)
        origin = "edited" if suggestion_id else "person"
    change = Change(start, stop, inserted, origin, suggestion_id)
    new = (Run(len(inserted), origin, suggestion_id, number),) if inserted else ()
    return _join_ends(left, new, right), change


def _count_same(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return at
    return min(len(left), len(right))


def _find_rewritten(left: Marks, gone: list[Run], right: Marks, before: str) -> str | None:
    """Which suggestion a person rewrites: the one that gives way, or whose sentence it is in."""
    if gone:
        lengths = Counter[str | None]()
        for run in gone:
            lengths[run.suggestion_id] += run.length
        own = lengths.pop(None, 0)
        return lengths.most_common(1)[0][0] if lengths.total() >= max(own, 1) else None
    if not left or not right or left[-1].suggestion_id != right[0].suggestion_id:
        return None
    # A sentence of one's own between two of a suggestion is one's own.
    return None if _SENTENCE_END.search(before) else left[-1].suggestion_id


def _split(marks: Marks, ends: list[int], at: int) -> tuple[Marks, Marks]:
    """Runs before and after a place; `ends` are where each run ends."""
    place = bisect_right(ends, at)
    before = ends[place - 1] if place else 0
    if place == len(marks) or at == before:
        return marks[:place], marks[place:]
    run = marks[place]
    left, right = run._replace(length=at - before), run._replace(length=ends[place] - at)
    return (*marks[:place], left), (right, *marks[place + 1 :])


def _take(marks: Marks, length: int) -> list[Run]:
    """The first characters of a text, as runs."""
    taken: list[Run] = []
    for run in marks:
        if length <= 0:
            break
        taken.append(run._replace(length=min(run.length, length)))
        length -= run.length
    return taken


def _join_ends(left: Marks, middle: Marks, right: Marks) -> Marks:
    """Put marks together; only where they meet can neighbours tell the same."""
    return (*left[:-1], *_join([*left[-1:], *middle, *right[:1]]), *right[1:])


def _join(runs: list[Run]) -> Marks:
    """Join neighbours that tell the same."""
    joined: list[Run] = []
    for run in runs:
        if joined and joined[-1][1:] == run[1:]:
            joined[-1] = joined[-1]._replace(length=joined[-1].length + run.length)
        else:
            joined.append(run)
    return tuple(joined)


@dataclass(frozen=True)
class Shares:
    """Shares of a text by who wrote it; they add up to 1, or are NaN where there is no text."""

    person: float
    machine: float
    edited: float
    n: int


def count_characters(marks: Marks) -> Counter[Origin]:
    """Count a text's characters by who wrote them."""
    counts = Counter[Origin]()
    for run in marks:
        counts[run.origin] += run.length
    return counts


def count_words(text: str, marks: Marks) -> Counter[Origin]:
    """Count a text's words by who wrote them; one of several origins is an edited one."""
    ends, total = [], 0
    for run in marks:
        total += run.length
        ends.append(total)
    counts, at = Counter[Origin](), 0
    for start, end in span_words(text):
        while ends[at] <= start:
            at += 1
        origin, last = marks[at].origin, at
        while ends[last] < end:
            last += 1
            if marks[last].origin != origin:
                origin = "edited"
        counts[origin] += 1
    return counts


def share_characters(marks: Marks) -> Shares:
    """Give the shares of a text's characters."""
    return share_counts(count_characters(marks))


def share_words(text: str, marks: Marks) -> Shares:
    """Give the shares of a text's words; one of several origins is an edited one."""
    return share_counts(count_words(text, marks))


def share_counts(counts: Counter[Origin]) -> Shares:
    """Give the shares of what was counted."""
    total = counts.total()
    shares = {origin: counts[origin] / total if total else math.nan for origin in ORIGINS}
    return Shares(**shares, n=total)


@dataclass(frozen=True)
class Frame:
    """A moment of a film: what stood there then, and who had written it."""

    moment: datetime
    version: int
    text: str
    marks: Marks


def replay(log: Iterable[LoggedEdit]) -> Iterator[Frame]:
    """Go through a log from the empty text on; what was done at one moment is one frame."""
    text, marks = "", ()  # type: str, Marks
    numbered = enumerate(log)
    for (version, moment), group in groupby(numbered, lambda row: (row[1].version, row[1].made_at)):
        for number, edit in group:
            marks = mark_edit(marks, text, edit, number)
            text = text[: edit.start] + edit.inserted + text[edit.stop :]
        yield Frame(moment, version, text, marks)


def forget_edits(marks: Marks) -> Marks:
    """Give marks that tell who, and no longer by which edit."""
    return _join([run._replace(edit=-1) for run in marks])


@dataclass(frozen=True)
class Span:
    """A part of a text, who wrote it and when; a machine's has its suggestion."""

    start: int
    stop: int
    origin: Origin
    suggestion_id: str | None
    person_id: str
    made_at: datetime


def locate_spans(log: Sequence[LoggedEdit]) -> list[Span]:
    """Give the spans of the text that a log leads to, in order."""
    marks: Marks = ()
    for frame in replay(log):
        marks = frame.marks
    spans, at = [], 0
    for run in marks:
        edit = log[run.edit]
        span = Span(
            at, at + run.length, run.origin, run.suggestion_id, edit.person_id, edit.made_at
        )
        spans.append(span)
        at = span.stop
    return spans


@dataclass(frozen=True)
class Sitting:
    """A time of writing without a long pause."""

    started_at: datetime
    ended_at: datetime
    edits: int
    written: int
    accepted: int
    removed: int


def split_sittings(log: Iterable[LoggedEdit], gap_s: float = GAP_S) -> list[Sitting]:
    """Split a log at pauses: characters that a person wrote, took from a machine, took out."""
    groups: list[list[LoggedEdit]] = []
    for edit in sorted(log, key=lambda edit: edit.made_at):
        if groups and (edit.made_at - groups[-1][-1].made_at).total_seconds() <= gap_s:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return [
        Sitting(
            group[0].made_at,
            group[-1].made_at,
            len(group),
            written=sum(len(edit.inserted) for edit in group if edit.source == "person"),
            accepted=sum(len(edit.inserted) for edit in group if edit.source == "machine"),
            removed=sum(len(edit.removed) for edit in group),
        )
        for group in groups
    ]
