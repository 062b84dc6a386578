"""What the studio holds of a person: all of it for themselves, and how it is forgotten.

Who leaves takes along their name, address, password, sessions, tokens, drafts, the log of every
edit, and suggestions that led to nothing. What was published stays, without an author, as others
wrote on from it, unless the person asks for its text to be emptied too. Ratings stay, under a
rater whom nobody can trace, and so does work in campaigns, under a number. The audit log keeps the
bare identity.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal, get_args

from sqlalchemy import Connection, Table, delete, exists, insert, or_, select, update

from fabula.core.errors import InputError, NotAllowed, NotFound
from fabula.studio.database import Studio
from fabula.studio.drafts import cancel_unfinished
from fabula.studio.people import Person, load_person, need_other_admin, write_audit
from fabula.studio.tables import (
    audit,
    campaign_assignments,
    campaign_raters,
    characters,
    drafts,
    edits,
    entries,
    erasures,
    games,
    links,
    members,
    new_id,
    now,
    people,
    ratings,
    roles,
    sessions,
    suggestions,
    tokens,
    versions,
)

Entries = Literal["keep", "empty"]
# Secrets are no use to their owner, not even as digests.
_SECRET = {"password", "digest", "csrf"}


def export_person(studio: Studio, actor: Person | None, person_id: str) -> dict[str, Any]:
    """Give everything that is a person's, as one JSON object: oneself, or anyone for an admin.

    Drafts come with every version and edit; tokens and sessions without their secrets.
    """
    _need_oneself(actor, person_id)
    with studio.snapshot() as db:
        person = load_person(db, person_id)
        [profile] = _read_rows(db, people, people.c.id == person_id)
        of_draft = drafts.c.author_id == person_id
        written = _read_rows(db, drafts, of_draft)
        for draft in written:
            draft["versions"] = _read_rows(db, versions, versions.c.draft_id == draft["id"])
            draft["edits"] = _read_rows(db, edits, edits.c.draft_id == draft["id"])
        rated_in = _read_rows(db, campaign_raters, campaign_raters.c.person_id == person_id)
        for rater in rated_in:
            by_rater = campaign_assignments.c.rater_id == rater["id"]
            rater["work"] = _read_rows(db, campaign_assignments, by_rater)
        member_of = select(members.c.game_id).where(members.c.person_id == person_id)
        about = or_(audit.c.person_id == person_id, audit.c.object == person_id)
        return {
            "format": "fabula person 1",
            "exported_at": _write_value(now()),
            "profile": profile | {"roles": sorted(person.roles)},
            "games": _read_rows(
                db, games, or_(games.c.owner_id == person_id, games.c.id.in_(member_of))
            ),
            "memberships": _read_rows(db, members, members.c.person_id == person_id),
            "characters": _read_rows(db, characters, characters.c.player_id == person_id),
            "entries": _read_rows(db, entries, entries.c.author_id == person_id),
            "drafts": written,
            "suggestions": _read_rows(db, suggestions, suggestions.c.person_id == person_id),
            "ratings": _read_rows(db, ratings, ratings.c.rater == person_id),
            "campaigns": rated_in,
            "tokens": _read_rows(db, tokens, tokens.c.person_id == person_id),
            "sessions": _read_rows(db, sessions, sessions.c.person_id == person_id),
            "audit": _read_rows(db, audit, about),
        }


def delete_person(
    studio: Studio, actor: Person | None, person_id: str, *, entries: str = "keep"
) -> None:
    """Forget a person: oneself, or anyone for an admin. It cannot be undone.

    `entries` says what becomes of what they published: `keep` the text without an author, or
    `empty` it. Who was forgotten before stays so.
    """
    if entries not in get_args(Entries):
        raise InputError(f"entries can be kept or emptied, not {entries!r}", "say keep or empty")
    _need_oneself(actor, person_id)
    with studio.write() as db:
        which = select(people).where(people.c.id == person_id).with_for_update()
        row = db.execute(which).mappings().one_or_none()
        if row is None:
            raise NotFound("there is no such person", "look at: fabula studio user list")
        if row["deleted_at"]:
            return
        need_other_admin(db, person_id)
        _forget_writing(db, person_id, is_emptied=entries == "empty")
        _forget_opinions(db, person_id, is_emptied=entries == "empty")
        for table in (roles, sessions, tokens, links, members):
            db.execute(delete(table).where(table.c.person_id == person_id))
        played = characters.c.player_id == person_id
        db.execute(update(characters).where(played).values(player_id=None))
        personal = dict.fromkeys(("name", "email", "password", "issuer", "subject", "seen_at"))
        gone = personal | {"display": "", "deleted_at": now()}
        db.execute(update(people).where(people.c.id == person_id).values(gone))
        write_audit(db, actor, "delete_person", person_id, entries=entries)


def _need_oneself(actor: Person | None, person_id: str) -> None:
    if actor and actor.id != person_id and not actor.may():
        raise NotAllowed("this is for the person themselves, or an admin", "ask an admin")


def _forget_writing(db: Connection, person_id: str, *, is_emptied: bool) -> None:
    """Erase drafts and their logs; take the author off what was published."""
    own = select(drafts.c.id).where(drafts.c.author_id == person_id).order_by(drafts.c.id)
    erased = list(db.scalars(own.with_for_update()))
    for draft_id in erased:
        cancel_unfinished(db, draft_id)
    _forget_suggestions(db, person_id, is_emptied=is_emptied)
    if erased:
        # Only of drafts that stand here may edits be taken out of the log.
        db.execute(insert(erasures), [{"draft_id": draft_id} for draft_id in erased])
        db.execute(delete(drafts).where(drafts.c.author_id == person_id))
    # An imported entry has the whole text once more in `extra`.
    emptied: dict[str, Any] = {"text": "", "extra": {}} if is_emptied else {}
    by_person = entries.c.author_id == person_id
    db.execute(update(entries).where(by_person).values(emptied | {"author_id": None}))


def _forget_suggestions(db: Connection, person_id: str, *, is_emptied: bool) -> None:
    """Take out suggestions that led to nothing, and the drafts that others were asked in."""
    asked = (suggestions.c.person_id == person_id) & suggestions.c.draft_id.is_not(None)
    is_rated = exists().where(ratings.c.suggestion_id == suggestions.c.id)
    unpublished = asked & suggestions.c.published.is_(None)
    db.execute(delete(suggestions).where(unpublished, ~is_rated))
    # What the model was shown holds the draft as it was then.
    unseen: dict[str, Any] = {"context": {}, "seen": None}
    db.execute(update(suggestions).where(unpublished).values(unseen))
    if is_emptied:
        emptied = unseen | {"published": "", "finalized": None}
        published = asked & suggestions.c.published.is_not(None)
        db.execute(update(suggestions).where(published).values(emptied))
    by_person = suggestions.c.person_id == person_id
    db.execute(update(suggestions).where(by_person).values(person_id=None))


def _forget_opinions(db: Connection, person_id: str, *, is_emptied: bool) -> None:
    """Let a person's ratings be those of one rater whom nobody knows."""
    silent: dict[str, Any] = {"comment": ""} if is_emptied else {}
    nobody = {"rater": f"anonymous-{new_id()}"}
    db.execute(update(ratings).where(ratings.c.rater == person_id).values(silent | nobody))
    # A campaign calls its raters by numbers. Nobody has a secret of this digest.
    unknown = {"person_id": None, "digest": new_id() + new_id()}
    in_campaigns = campaign_raters.c.person_id == person_id
    db.execute(update(campaign_raters).where(in_campaigns).values(unknown))


def _read_rows(db: Connection, table: Table, which: Any) -> list[dict[str, Any]]:
    rows = db.execute(select(table).where(which).order_by(*table.primary_key.columns)).mappings()
    return [
        {name: _write_value(value) for name, value in row.items() if name not in _SECRET}
        for row in rows
    ]


def _write_value(value: Any) -> Any:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
