"""Versions of a draft: what is saved as one writes, and the way back.

A saving is a version: its edits stand in the log, and the draft holds the text as it is now and
who wrote it (`marks`). Every so many versions the whole text is kept too, so that an old one is
soon found; all others are made of the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast

from sqlalchemy import Connection, Row, func, insert, select, update

from fabula.core.errors import Conflict, InputError, NotFound
from fabula.studio.authorship import Marks, mark_edit, parse_marks, plain_marks
from fabula.studio.database import Studio
from fabula.studio.drafts import Draft, find_draft, need_open, read_row
from fabula.studio.edits import Edit, LoggedEdit, apply_edits, check_edits
from fabula.studio.games import check_key, check_text
from fabula.studio.people import Person
from fabula.studio.tables import drafts, now, suggestions, versions
from fabula.studio.tables import edits as log

# Texts are short and edits shorter: reading twenty savings takes less than a millisecond.
SNAPSHOT_EVERY = 20
MOST_NAME = 200
# So many edits one can go back by when a draft is opened again.
PAST_EDITS = 200
# What a person puts in is a suggestion's if this many words of it stand so in one.
PASTED_WORDS = 5


@dataclass(frozen=True)
class Version:
    """One saving: its number, its name if it has one, when, and how many edits it holds."""

    number: int
    name: str | None
    saved_at: datetime
    edits: int


@dataclass(frozen=True)
class Past:
    """The last edits of a draft, and what they follow: the text of a version and its marks."""

    version: int
    text: str
    marks: Marks
    edits: Sequence[LoggedEdit]


class StaleVersion(Conflict):
    """Edits of a version that is no longer the last; `version` is the one that is."""

    def __init__(self, base: int, version: int) -> None:
        super().__init__(
            f"the draft is at version {version}, not {base}",
            "read it, bring your edits to its text, and save them on that version",
        )
        self.base, self.version = base, version

    def __reduce__(self) -> tuple[type[StaleVersion], tuple[int, int]]:
        """Travel between processes by what it was made of."""
        return type(self), (self.base, self.version)


def save_draft(
    studio: Studio,
    person: Person,
    draft_id: str,
    *,
    key: str,
    base_version: int,
    edits: Sequence[Edit],
    name: str | None = None,
) -> Draft:
    """Save edits of a version as the next one, which may have a name.

    Of two who save on the same version the second is told of it (`StaleVersion`). The same key
    again gives the draft as that saving left it, whatever came after. Nothing to save and no name
    leave the draft as it is.
    """
    check_key(key)
    name = _check_name(name)
    ready = check_edits(edits, now())
    with studio.write() as db:
        row = find_draft(db, person, draft_id, lock=True)
        if (saved := _find_saving(db, draft_id, key)) is not None:
            return _draft_at(db, row, saved)
        need_open(row)
        if base_version != row.version:
            raise StaleVersion(base_version, row.version)
        if not ready and name is None:
            return read_row(row)
        return _add_version(db, person, row, key=key, edits=_attribute(db, row, ready), name=name)


def read_version(studio: Studio, person: Person, draft_id: str, number: int) -> Draft:
    """Give a draft as it was at a version; version 0 is the empty text."""
    with studio.read() as db:
        return _draft_at(db, find_draft(db, person, draft_id), number)


def list_versions(studio: Studio, person: Person, draft_id: str) -> list[Version]:
    """Give the savings of a draft in order."""
    count = (
        select(log.c.version, func.count().label("edits"))
        .where(log.c.draft_id == draft_id)
        .group_by(log.c.version)
        .subquery()
    )
    query = (
        select(versions.c.number, versions.c.name, versions.c.saved_at, count.c.edits)
        .outerjoin(count, count.c.version == versions.c.number)
        .where(versions.c.draft_id == draft_id)
        .order_by(versions.c.number)
    )
    with studio.read() as db:
        find_draft(db, person, draft_id)
        rows = db.execute(query).all()
    return [Version(row.number, row.name, row.saved_at, row.edits or 0) for row in rows]


def name_version(
    studio: Studio, person: Person, draft_id: str, number: int, name: str | None
) -> None:
    """Give a version a name, or take it away."""
    name = _check_name(name)
    with studio.write() as db:
        find_draft(db, person, draft_id, lock=True)
        which = (versions.c.draft_id == draft_id) & (versions.c.number == number)
        if not db.execute(update(versions).where(which).values(name=name)).rowcount:
            raise _no_version(number)


def restore_version(
    studio: Studio, person: Person, draft_id: str, *, number: int, key: str, base_version: int
) -> Draft:
    """Go back to an old version, by edits that follow the last: what came between stays."""
    check_key(key)
    with studio.write() as db:
        row = find_draft(db, person, draft_id, lock=True)
        if (saved := _find_saving(db, draft_id, key)) is not None:
            return _draft_at(db, row, saved)
        need_open(row)
        if base_version != row.version:
            raise StaleVersion(base_version, row.version)
        text, marks = text_at(db, row, number)
        return _add_version(db, person, row, key=key, edits=_rewrite(row.text, text, marks))


def read_log(studio: Studio, person: Person, draft_id: str, *, after: int = 0) -> list[LoggedEdit]:
    """Give every edit of a draft in order, or those after a version."""
    with studio.read() as db:
        find_draft(db, person, draft_id)
        return log_of(db, draft_id, after)


def read_past(studio: Studio, person: Person, draft_id: str, *, most: int = PAST_EDITS) -> Past:
    """Give the last edits of a draft, of whole versions: an editor can go back by them.

    There are `most` at most, but always those of the last version.
    """
    count = (
        select(log.c.version, func.count().label("edits"))
        .where(log.c.draft_id == draft_id)
        .group_by(log.c.version)
        .order_by(log.c.version.desc())
        .limit(most)
    )
    with studio.read() as db:
        row = find_draft(db, person, draft_id)
        base, total = row.version, 0
        for number, edits in db.execute(count):
            total += edits
            if total > most and base < row.version:
                break
            base = number - 1
        text, marks = text_at(db, row, base)
        return Past(base, text, marks, log_of(db, draft_id, base))


def log_of(db: Connection, draft_id: str, after: int = 0) -> list[LoggedEdit]:
    """Read the log of a draft in order, from the version after `after` on."""
    columns = [log.c[name] for name in LoggedEdit.__dataclass_fields__]
    query = (
        select(*columns)
        .where(log.c.draft_id == draft_id, log.c.version > after)
        .order_by(log.c.version, log.c.position)
    )
    return [LoggedEdit(**row._mapping) for row in db.execute(query)]


def text_at(db: Connection, row: Row[Any], number: int) -> tuple[str, Marks]:
    """Make the text of a version and its marks: the last whole text before it, and the log."""
    if number == row.version:
        return row.text, parse_marks(row.marks)
    if not 0 <= number <= row.version:
        raise _no_version(number)
    whole = db.execute(
        select(versions.c.number, versions.c.text, versions.c.marks)
        .where(versions.c.draft_id == row.id, versions.c.text.is_not(None))
        .where(versions.c.number <= number)
        .order_by(versions.c.number.desc())
        .limit(1)
    ).first()
    text, marks = (whole.text, parse_marks(whole.marks)) if whole else ("", ())
    for edit in log_of(db, row.id, whole.number if whole else 0):
        if edit.version > number:
            break
        marks = mark_edit(marks, text, edit)
        text = text[: edit.start] + edit.inserted + text[edit.stop :]
    return text, marks


def _no_version(number: int) -> NotFound:
    return NotFound(f"the draft has no version {number}", "see the list of its versions")


def _check_name(name: str | None) -> str | None:
    if name is not None and not check_text(name, "name", MOST_NAME).strip():
        raise InputError("name is empty", "give the version a name, or none")
    return name


def _find_saving(db: Connection, draft_id: str, key: str) -> int | None:
    query = select(versions.c.number).where(versions.c.draft_id == draft_id, versions.c.key == key)
    return cast("int | None", db.execute(query).scalar())


def _draft_at(db: Connection, row: Row[Any], number: int) -> Draft:
    """Give the draft as a version left it."""
    draft = read_row(row)
    if number == row.version:
        return draft
    text, marks = text_at(db, row, number)
    query = select(versions.c.saved_at).where(
        versions.c.draft_id == row.id, versions.c.number == number
    )
    saved_at = db.execute(query).scalar() or row.created_at
    return replace(draft, text=text, marks=marks, version=number, saved_at=saved_at)


def _rewrite(current: str, text: str, marks: Marks) -> list[Edit]:
    """Edits that put a text, with its marks, in the place of another."""
    moment, at = now(), 0
    rewriting = [Edit(0, len(current), made_at=moment)] if current else []
    for run in marks:
        source: Literal["person", "machine"] = "machine" if run.origin == "machine" else "person"
        part = text[at : at + run.length]
        rewriting.append(Edit(at, at, part, source, run.suggestion_id, moment))
        at += run.length
    return rewriting


def _attribute(db: Connection, row: Row[Any], ready: list[Edit]) -> list[Edit]:
    """Refuse a machine's text that no suggestion of the draft holds, and say of text that was
    pasted out of a suggestion that it is the machine's."""
    pasted = [
        edit.source == "person" and len(edit.inserted.split()) >= PASTED_WORDS for edit in ready
    ]
    if not any(pasted) and all(edit.source == "person" or not edit.inserted for edit in ready):
        return ready
    query = select(suggestions.c.id, suggestions.c.generated).where(
        suggestions.c.draft_id == row.id
    )
    generated = {suggestion.id: suggestion.generated for suggestion in db.execute(query)}
    attributed = []
    for number, (edit, is_long) in enumerate(zip(ready, pasted, strict=True)):
        if edit.source == "machine" and edit.inserted not in generated.get(
            edit.suggestion_id or "", ""
        ):
            raise InputError(
                f"edits[{number}]: suggestion {edit.suggestion_id} did not write this text",
                "send what the suggestion holds, or say that a person wrote it",
            )
        origin = next((id for id, text in generated.items() if edit.inserted in text), None)
        if is_long and origin:
            edit = replace(edit, source="machine", suggestion_id=origin)
        attributed.append(edit)
    return attributed


def _add_version(
    db: Connection,
    person: Person,
    row: Row[Any],
    *,
    key: str,
    edits: Sequence[Edit],
    name: str | None = None,
) -> Draft:
    """Write edits into the log as the next version of a draft that is locked."""
    number, moment = row.version + 1, now()
    text, marks, logged = row.text, parse_marks(row.marks), []
    for position, (edit, after) in enumerate(zip(edits, apply_edits(text, edits), strict=True)):
        logged.append(
            {
                "draft_id": row.id,
                "version": number,
                "position": position,
                "person_id": person.id,
                "start": edit.start,
                "stop": edit.stop,
                "removed": text[edit.start : edit.stop],
                "inserted": edit.inserted,
                "source": edit.source,
                "suggestion_id": edit.suggestion_id,
                "made_at": edit.made_at,
                "saved_at": moment,
            }
        )
        marks, text = mark_edit(marks, text, edit), after
    whole = number % SNAPSHOT_EVERY == 0 or name is not None
    kept = {"text": text, "marks": plain_marks(marks)}
    saving = {"draft_id": row.id, "number": number, "key": key, "name": name, "saved_at": moment}
    db.execute(insert(versions).values(**saving, **kept if whole else {}))
    if logged:
        db.execute(insert(log), logged)
    changed = {**kept, "version": number, "saved_at": moment}
    db.execute(update(drafts).where(drafts.c.id == row.id).values(**changed))
    return replace(read_row(row), **changed | {"marks": marks})
