"""Who wrote which characters: what the log of a draft tells, as pure functions.

A character is a `machine`'s as long as it stands as a suggestion had it, a `person`'s where a
person wrote it, and `edited` where a person rewrote a suggestion: in place of its characters, or
inside one of its sentences. `edited` characters name the suggestion too.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Literal, NamedTuple, get_args

from fabula.studio.edits import Edit, LoggedEdit
from fabula.text.words import locate_words

Origin = Literal["person", "machine", "edited"]
ORIGINS: tuple[Origin, ...] = get_args(Origin)

# A pause longer than this ends a sitting.
GAP_S = 30 * 60.0
_SENTENCE_END = re.compile(r"(?:[.!?…。！？][\"'”’»)\]*_]*\s+|\n\s*)\Z")
_END_LENGTH = 12


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


def mark_edit(marks: Marks, text: str, edit: Edit | LoggedEdit, number: int = -1) -> Marks:
    """Give the marks after an edit of a text; `number` is the edit's place in the log."""
    start, stop, inserted = edit.start, edit.stop, edit.inserted
    if edit.source == "person":
        # What a person puts back as it was keeps its author.
        same = _count_same(text[start:stop], inserted)
        start, inserted = start + same, inserted[same:]
        same = _count_same(text[start:stop][::-1], inserted[::-1])
        stop, inserted = stop - same, inserted[: len(inserted) - same]
    left, gone, right = _cut(marks, 0, start), _cut(marks, start, stop), _cut(marks, stop)
    if not inserted:
        return _join([*left, *right])
    origin: Origin = "machine"
    suggestion_id = edit.suggestion_id
    if edit.source == "person":
        if suggestion_id is None:
            suggestion_id = _find_rewritten(
                left, gone, right, text[max(0, start - _END_LENGTH) : start]
            )
        origin = "edited" if suggestion_id else "person"
    return _join([*left, Run(len(inserted), origin, suggestion_id, number), *right])


def _count_same(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    for at, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return at
    return min(len(left), len(right))


def _find_rewritten(left: list[Run], gone: list[Run], right: list[Run], before: str) -> str | None:
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


def _cut(marks: Marks, start: int, stop: int | None = None) -> list[Run]:
    """Runs of a part of the text."""
    parts, at = [], 0
    for run in marks:
        end = at + run.length
        low, high = max(at, start), end if stop is None else min(end, stop)
        if high > low:
            parts.append(run._replace(length=high - low))
        at = end
    return parts


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


def share_characters(marks: Marks) -> Shares:
    """Give the shares of a text's characters."""
    lengths = Counter[Origin]()
    for run in marks:
        lengths[run.origin] += run.length
    return _share(lengths)


def share_words(text: str, marks: Marks) -> Shares:
    """Give the shares of a text's words; one of several origins is an edited one."""
    ends, total = [], 0
    for run in marks:
        total += run.length
        ends.append(total)
    counts, at = Counter[Origin](), 0
    for word in locate_words(text):
        while ends[at] <= word.start:
            at += 1
        last = at
        while ends[last] < word.end:
            last += 1
        origins = {run.origin for run in marks[at : last + 1]}
        counts[origins.pop() if len(origins) == 1 else "edited"] += 1
    return _share(counts)


def _share(counts: Counter[Origin]) -> Shares:
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
