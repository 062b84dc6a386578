"""Games of machine text alone: found by what was stored, and left out by a researcher.

STORIUM's authors took out by hand thirty games that were written with unedited machine text: who
publishes whatever comes says nothing of how good it is. Here they are flagged, and a person
decides: a game is excluded by `exclude_game`, an uploaded story by `exclude_story`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, Integer, cast, func, or_, select, update

from fabula.core.errors import InputError, NotFound
from fabula.studio.database import Studio
from fabula.studio.filters import (
    EVERYTHING,
    FLAG_ENTRIES,
    FLAG_SHARE,
    UNIT,
    Filter,
    check_filter,
    select_flags,
    select_published,
)
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import games, stories


@dataclass(frozen=True)
class FlaggedGame:
    """A game, or the uploaded stories of one (`is_story`), with the share of its published
    characters that are a machine's; of stories, the share of their words."""

    game: str
    title: str
    entries: int
    machine_share: float
    unedited_suggestions: int
    is_excluded: bool
    is_story: bool


def flag_games(
    studio: Studio,
    person: Person,
    chosen: Filter = EVERYTHING,
    *,
    share: float = FLAG_SHARE,
    least_entries: int = FLAG_ENTRIES,
) -> list[FlaggedGame]:
    """List games that are nearly machine text alone, in which the filter finds something.

    Those that were excluded are listed too: they can be taken in again.
    """
    person.need("researcher")
    if not 0 < share <= 1 or least_entries < 1:
        raise InputError(
            f"share is {share}, least_entries {least_entries}", "take 0 to 1, and 1 or more"
        )
    everywhere = replace(chosen, include_excluded=True, include_flagged=True)
    with studio.snapshot() as db:
        check_filter(db, chosen)
        rows = db.execute(select_flags(share, least_entries)).all()
        if not rows:
            return []
        units = set(db.scalars(select_published(everywhere, UNIT).distinct()))
        titles = _read_titles(db, [row.unit for row in rows])
    flagged = [
        FlaggedGame(
            row.unit,
            titles[row.unit][0],
            int(row.entries),
            min(1.0, float(row.machine) / float(row.characters)),
            int(row.unedited),
            titles[row.unit][1],
            bool(row.is_story),
        )
        for row in rows
        if row.unit in units
    ]
    return sorted(flagged, key=lambda each: (-each.entries, each.title, each.game))


def _read_titles(db: Connection, units: list[str]) -> dict[str, tuple[str, bool]]:
    """Title of each game, and whether it is excluded; of uploaded ones no title is kept."""
    unit = func.coalesce(stories.c.pid, stories.c.id)
    uploaded = select(unit, func.max(cast(stories.c.is_excluded, Integer))).group_by(unit)
    found = {row[0]: ("", bool(row[1])) for row in db.execute(uploaded.where(unit.in_(units)))}
    known = select(games.c.id, games.c.title, games.c.is_excluded).where(games.c.id.in_(units))
    return found | {row.id: (row.title, row.is_excluded) for row in db.execute(known)}


def exclude_story(
    studio: Studio, person: Person, story: str, *, is_excluded: bool = True
) -> list[str]:
    """Leave uploaded stories out of statistics, or take them in; which.

    `story` is the identity of one, or what its platform calls the game: all that were uploaded of
    the game are meant, and those that will be.
    """
    person.need("researcher")
    with studio.write() as db:
        pids = select(stories.c.pid).where(stories.c.id == story, stories.c.pid.is_not(None))
        which: ColumnElement[bool] = or_(
            stories.c.id == story, stories.c.pid == story, stories.c.pid.in_(pids)
        )
        change = update(stories).where(which).values(is_excluded=is_excluded)
        changed = sorted(db.scalars(change.returning(stories.c.id)))
        if not changed:
            raise NotFound(f"there is no story {story}", "look at the list of flagged games")
        write_audit(db, person, "exclude_story", story[:200], is_excluded=is_excluded)
    return changed
