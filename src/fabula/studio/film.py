"""The log of a draft as a film: what a page needs to show any moment of it, and no more.

The rules of who wrote what are applied here, once: a film holds changes, each of one origin, so
that whoever shows it only has to put characters in their places. Positions and lengths count
UTF-16 units, as browsers do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from sqlalchemy import select

from fabula.studio.authorship import (
    GAP_S,
    Change,
    Marks,
    Origin,
    Run,
    Sitting,
    split_sittings,
    trace_edit,
)
from fabula.studio.database import Studio
from fabula.studio.drafts import Draft, find_draft, read_row
from fabula.studio.edits import LoggedEdit
from fabula.studio.people import Person
from fabula.studio.tables import characters, drafts, games, people, scenes
from fabula.studio.versions import log_of

# Characters of one minute are told apart no further: a draft that was typed letter by letter has
# as many edits as letters, and nobody asks for the second.
_TOLD_APART_S = 60.0


@dataclass(frozen=True)
class Film:
    """Columns of moments and columns of changes, in the order of the log.

    A moment is what was done at once: `milliseconds` since the one before it (since `began_at`
    for the first), how far `versions` went up with it, and how many of the `changes` it has. A
    change takes out `removed` units at `starts` and puts `inserted` there, of the origin
    `authors[who]`. `sittings` are the moments that sittings begin with.
    """

    began_at: datetime | None
    milliseconds: list[int]
    versions: list[int]
    changes: list[int]
    starts: list[int]
    removed: list[int]
    inserted: list[str]
    who: list[int]
    authors: list[tuple[Origin, str | None]]
    sittings: list[int]


@dataclass(frozen=True)
class DraftPlace:
    """A draft, whose it is, and where it belongs."""

    draft: Draft
    author: str
    game: str
    scene: int
    scene_title: str
    character: str | None


def read_place(studio: Studio, person: Person, draft_id: str) -> DraftPlace:
    """Give a draft with the names of all around it, to who may read the draft."""
    query = (
        select(
            people.c.display,
            people.c.name,
            games.c.title.label("game"),
            scenes.c.number,
            scenes.c.title,
            characters.c.name.label("character"),
        )
        .select_from(drafts)
        .join(people, people.c.id == drafts.c.author_id)
        .join(games, games.c.id == drafts.c.game_id)
        .join(scenes, scenes.c.id == drafts.c.scene_id)
        .outerjoin(characters, characters.c.id == drafts.c.character_id)
        .where(drafts.c.id == draft_id)
    )
    with studio.read() as db:
        draft = read_row(find_draft(db, person, draft_id))
        row = db.execute(query).one()
    author = row.display or row.name or ""
    return DraftPlace(draft, author, row.game, row.number, row.title, row.character)


def read_film(studio: Studio, person: Person, draft_id: str) -> Film:
    """Give the film of a draft to who may read the draft."""
    with studio.read() as db:
        find_draft(db, person, draft_id)
        log = log_of(db, draft_id)
    return make_film(log)


def make_film(log: Sequence[LoggedEdit]) -> Film:
    """Make the film of a log."""
    authors: dict[tuple[Origin, str | None], int] = {("person", None): 0}
    film = Film(log[0].made_at if log else None, [], [], [], [], [], [], [], [], [])
    changes = _trace_changes(log)
    last = log[0] if log else None
    for _, group in groupby(log, lambda edit: (edit.version, edit.made_at)):
        edits = list(group)
        assert last is not None
        waited = edits[0].made_at - last.made_at
        film.milliseconds.append(round(waited.total_seconds() * 1000))
        film.versions.append(edits[0].version - (last.version if film.versions else 0))
        film.changes.append(len(edits))
        for _ in edits:
            change = next(changes)
            film.starts.append(change.start)
            film.removed.append(change.stop - change.start)
            film.inserted.append(change.inserted)
            author = (change.origin, change.suggestion_id)
            film.who.append(authors.setdefault(author, len(authors)))
        last = edits[0]
    film.authors.extend(authors)
    film.sittings.extend(sorted(_find_sittings(log)))
    return film


class _Traced:
    """A text that is written on, with its marks on either side of where that happens: writing
    goes on beside what was written last, so an edit looks at few of them, however many there are.
    """

    def __init__(self) -> None:
        self.text = ""
        self._before: list[Run] = []
        self._length = 0
        # The nearest last.
        self._after: list[Run] = []

    @property
    def marks(self) -> Marks:
        """Who wrote what."""
        return (*self._before, *reversed(self._after))

    def apply(self, edit: LoggedEdit, number: int = -1) -> Change:
        """Make an edit, and give what it changed."""
        before, after = self._before, self._after
        while before and self._length >= edit.start:
            after.append(before.pop())
            self._length -= after[-1].length
        while after and self._length + after[-1].length < edit.start:
            before.append(after.pop())
            self._length += before[-1].length
        # From the character before the edit to the one after it.
        beside, end = [], self._length
        while after and end <= edit.stop:
            beside.append(after.pop())
            end += beside[-1].length
        marks, change = trace_edit(tuple(beside), self.text, edit, number, offset=self._length)
        after.extend(reversed(marks))
        self.text = self.text[: edit.start] + edit.inserted + self.text[edit.stop :]
        return change


def _trace_changes(log: Sequence[LoggedEdit]) -> Iterator[Change]:
    """Give what each edit changes, in UTF-16 units."""
    draft = _Traced()
    is_plain = all(ord(max(edit.inserted, default="a")) < 0x10000 for edit in log)
    for edit in log:
        text = draft.text
        change = draft.apply(edit)
        if not is_plain:
            start = _count_units(text[: change.start])
            stop = start + _count_units(text[change.start : change.stop])
            change = change._replace(start=start, stop=stop)
        yield change


def _count_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _find_sittings(log: Sequence[LoggedEdit]) -> list[int]:
    """The moment that each sitting begins with, in the order of the log."""
    starts = [sitting.started_at for sitting in split_sittings(log)]
    first: dict[int, int] = {}
    moments = groupby(log, lambda edit: (edit.version, edit.made_at))
    for number, ((_, made_at), _) in enumerate(moments):
        first.setdefault(bisect_right(starts, made_at), number)
    return [first[number] for number in sorted(first)]


@dataclass(frozen=True)
class Passage:
    """Neighbouring characters that one sitting left: who wrote them, from when to when, to the
    minute."""

    start: int
    stop: int
    origin: Origin
    suggestion_id: str | None
    began_at: datetime
    ended_at: datetime


def locate_passages(log: Sequence[LoggedEdit]) -> list[Passage]:
    """Give the passages of the text that a log leads to, in order."""
    draft, minute = _Traced(), 0
    for number, edit in enumerate(log):
        waited = (edit.made_at - log[minute].made_at).total_seconds()
        if not 0 <= waited < _TOLD_APART_S:
            minute = number
        draft.apply(edit, minute)
    passages: list[Passage] = []
    at = 0
    for run in draft.marks:
        passage = _make_passage(run, at, log[run.edit].made_at)
        at = passage.stop
        if passages and (joined := _join_passages(passages[-1], passage)):
            passages[-1] = joined
        else:
            passages.append(passage)
    return passages


def _make_passage(run: Run, at: int, made_at: datetime) -> Passage:
    return Passage(at, at + run.length, run.origin, run.suggestion_id, made_at, made_at)


def _join_passages(one: Passage, other: Passage) -> Passage | None:
    """Join neighbours of one author, unless there is a long pause between them."""
    if (one.origin, one.suggestion_id) != (other.origin, other.suggestion_id):
        return None
    first, second = sorted((one, other), key=lambda passage: passage.began_at)
    if (second.began_at - first.ended_at).total_seconds() > GAP_S:
        return None
    ended_at = max(one.ended_at, other.ended_at)
    return replace(one, stop=other.stop, began_at=first.began_at, ended_at=ended_at)


@dataclass(frozen=True)
class Origins:
    """How the text of a draft came about: its passages, the sittings it was written in, and the
    moment of the film that each of these begins with."""

    passages: list[Passage]
    sittings: list[Sitting]
    moments: list[int]


def read_origins(studio: Studio, person: Person, draft_id: str) -> Origins:
    """Give how the text of a draft came about, to who may read the draft."""
    with studio.read() as db:
        find_draft(db, person, draft_id)
        log = log_of(db, draft_id)
    return Origins(locate_passages(log), split_sittings(log), _find_sittings(log))
