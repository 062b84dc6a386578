"""Which suggestions a dashboard is about, as it stands in the address of a page.

`parse_filter` reads the parameters of an address, `Filter.query` gives them again, and
`select_published` asks the database. Games of machine text alone are found here too, as a filter
can leave them out: those in which nearly every published character is a machine's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, cast, get_args

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    case,
    func,
    literal,
    or_,
    select,
    union_all,
)

from fabula.core.errors import InputError, closest
from fabula.studio.kept import KEPT, kept_metrics
from fabula.studio.ratings import COMMENT
from fabula.studio.tables import entries, games, machines, ratings, scores, stories, suggestions

Measure = Literal["precision", "recall", "f"]
MachineStatus = Literal["active", "draining", "inactive"]
# STORIUM's authors found games of machine text by hand. A game is flagged where so much of what
# was published in it is a machine's, in at least so many entries: one that is taken over whole is
# no sign of anything.
FLAG_SHARE = 0.95
FLAG_ENTRIES = 3
_MOST = 1_000_000
_SWITCH = {"1": True, "true": True, "on": True, "0": False, "false": False, "off": False}


@dataclass(frozen=True)
class Filter:
    """What is asked about; by default every published suggestion of games that count.

    `since` and `until` are days (UTC) of publishing, both included. `game` is a game's identity or
    an uploaded story's. `at_least` and `at_most` choose suggestions by how many their person has
    published in all; those of nobody in the studio have no such number. `commented` chooses those
    of which somebody said something in words, `author` what one person asked for, who may read that
    much; no address says so.
    """

    machines: tuple[str, ...] = ()
    status: MachineStatus | None = None
    measure: Measure = "precision"
    since: date | None = None
    until: date | None = None
    game: str | None = None
    at_least: int | None = None
    at_most: int | None = None
    include_excluded: bool = False
    include_flagged: bool = True
    commented: bool = False
    author: str | None = None

    def __post_init__(self) -> None:
        """Refuse what nothing can be found by."""
        for name, value, words in (
            ("measure", self.measure, get_args(Measure)),
            ("status", self.status, (None, *get_args(MachineStatus))),
        ):
            if value not in words:
                known = [word for word in words if word]
                raise InputError(f"there is no {name} {value!r}", f"take {', '.join(known)}")
        if self.since and self.until and self.since > self.until:
            raise InputError(
                f"from ({self.since}) is after to ({self.until})", "swap them, or leave one out"
            )
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise InputError(
                f"at_least ({self.at_least}) is more than at_most ({self.at_most})",
                "swap them, or leave one out",
            )

    def query(self) -> dict[str, str | list[str]]:
        """Give the parameters of an address that say the same; what is as usual has none."""
        values: dict[str, str | list[str] | None] = {
            "machine": list(self.machines),
            "status": self.status,
            "measure": self.measure if self.measure != "precision" else None,
            "from": self.since.isoformat() if self.since else None,
            "to": self.until.isoformat() if self.until else None,
            "game": self.game,
            "at_least": None if self.at_least is None else str(self.at_least),
            "at_most": None if self.at_most is None else str(self.at_most),
            "with_excluded": "1" if self.include_excluded else None,
            "without_flagged": None if self.include_flagged else "1",
            "commented": "1" if self.commented else None,
        }
        return {name: value for name, value in values.items() if value}


EVERYTHING = Filter()


def parse_filter(given: Mapping[str, str | Sequence[str]] | Iterable[tuple[str, str]]) -> Filter:
    """Read a filter out of the parameters of an address, a mapping or pairs.

    `machine` may come several times; an empty value is none, as browsers send what was left
    empty. Parameters that are not a filter's are somebody else's.
    """
    values: dict[str, list[str]] = {}
    for name, value in given.items() if isinstance(given, Mapping) else given:
        parts = [value] if isinstance(value, str) else list(value)
        values.setdefault(name, []).extend(part.strip() for part in parts if part.strip())

    def read(name: str, make: Callable[[str], Any], what: str) -> Any:
        if not values.get(name):
            return None
        try:
            return make(values[name][-1])
        except (ValueError, KeyError):
            raise InputError(f"{name} is {values[name][-1][:100]!r}", f"give {what}") from None

    return Filter(
        machines=tuple(dict.fromkeys(values.get("machine", ()))),
        status=read("status", lambda text: cast(MachineStatus, text), ""),
        measure=read("measure", lambda text: cast(Measure, text), "") or "precision",
        since=read("from", date.fromisoformat, "a day as 2024-02-29"),
        until=read("to", date.fromisoformat, "a day as 2024-02-29"),
        game=read("game", _read_identity, "the id of a game"),
        at_least=read("at_least", _read_count, "a whole number, 0 or more"),
        at_most=read("at_most", _read_count, "a whole number, 0 or more"),
        include_excluded=bool(read("with_excluded", _SWITCH.__getitem__, "1 or 0")),
        include_flagged=not read("without_flagged", _SWITCH.__getitem__, "1 or 0"),
        commented=bool(read("commented", _SWITCH.__getitem__, "1 or 0")),
    )


def _read_count(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or not 0 <= int(text[:20]) <= _MOST:
        raise ValueError
    return int(text)


def _read_identity(text: str) -> str:
    if len(text) > 200 or not text.isprintable():
        raise ValueError
    return text


def check_filter(db: Connection, chosen: Filter) -> None:
    """Refuse machines and a game that the studio does not have, naming the parameter."""
    if chosen.machines:
        known = list(db.scalars(select(machines.c.name).order_by(machines.c.name)))
        for name in chosen.machines:
            if name not in known:
                raise InputError(f"machine: no machine is called {name!r}", closest(name, known))
    if chosen.game is not None:
        is_it = or_(stories.c.id == chosen.game, stories.c.pid == chosen.game)
        found = union_all(
            select(games.c.id).where(games.c.id == chosen.game),
            select(stories.c.id).where(is_it),
        )
        if db.execute(found.limit(1)).first() is None:
            raise InputError(f"game: there is no game {chosen.game!r}", "choose one of the list")


# What is independent of others: a game, or, through STORIUM's door, all stories that were
# uploaded of one. A suggestion by itself, where neither is known.
UNIT: ColumnElement[str] = func.coalesce(
    suggestions.c.game_id, stories.c.pid, suggestions.c.story_id, suggestions.c.id
)


def is_counted() -> ColumnElement[bool]:
    """Whether neither the game nor the uploaded story is excluded; both have to be joined."""
    return func.coalesce(games.c.is_excluded, stories.c.is_excluded, False).is_(False)


def select_published(chosen: Filter, *columns: ColumnElement[Any]) -> Select[Any]:
    """Ask for suggestions that were published, of those that the filter chooses."""
    asked = select_asked(chosen, *columns)
    return asked.where(suggestions.c.published.is_not(None), suggestions.c.status == "done")


def select_asked(chosen: Filter, *columns: ColumnElement[Any]) -> Select[Any]:
    """Ask for suggestions that the filter chooses, whatever became of them."""
    query = (
        select(*columns)
        .select_from(suggestions)
        .join(machines, machines.c.id == suggestions.c.machine_id)
        .outerjoin(games, games.c.id == suggestions.c.game_id)
        .outerjoin(stories, stories.c.id == suggestions.c.story_id)
    )
    return query.where(*_list_conditions(chosen))


def _list_conditions(chosen: Filter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if not chosen.include_excluded:
        conditions.append(is_counted())
    if chosen.machines:
        conditions.append(machines.c.name.in_(chosen.machines))
    if chosen.status is not None:
        conditions.append(machines.c.status == chosen.status)
    moment = suggestions.c.published_at
    if chosen.since is not None:
        conditions.append(moment >= _begin(chosen.since))
    if chosen.until is not None and chosen.until < date.max:
        conditions.append(moment < _begin(chosen.until + timedelta(days=1)))
    if chosen.game is not None:
        conditions.append(or_(*(each == chosen.game for each in (UNIT, suggestions.c.story_id))))
    if chosen.at_least is not None or chosen.at_most is not None:
        conditions.append(suggestions.c.person_id.in_(_select_people(chosen)))
    if chosen.commented:
        said = select(ratings.c.suggestion_id).where(ratings.c.aspect == COMMENT)
        conditions.append(suggestions.c.id.in_(said.where(ratings.c.comment != "")))
    if chosen.author is not None:
        conditions.append(suggestions.c.person_id == chosen.author)
    if not chosen.include_flagged:
        flagged = select_flags(FLAG_SHARE, FLAG_ENTRIES).subquery()
        conditions.append(UNIT.not_in(select(flagged.c.unit)))
    return conditions


def _begin(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _select_people(chosen: Filter) -> Select[Any]:
    """Ask for people by how many suggestions they have published."""
    theirs = suggestions.alias()
    query = (
        select(theirs.c.person_id)
        .where(theirs.c.published.is_not(None), theirs.c.status == "done")
        .where(theirs.c.person_id.is_not(None))
        .group_by(theirs.c.person_id)
    )
    if chosen.at_least is not None:
        query = query.having(func.count() >= chosen.at_least)
    return query if chosen.at_most is None else query.having(func.count() <= chosen.at_most)


def select_flags(share: float, least_entries: int) -> Select[Any]:
    """Ask for games, and uploaded stories, that are machine text nearly alone.

    Columns: unit, entries, characters (of what was published), machine (those of them that are a
    machine's), unedited (suggestions that were published as they came).
    """
    both = union_all(_measure_games(), _measure_stories()).subquery()
    return select(both).where(
        both.c.entries >= least_entries,
        both.c.characters > 0,
        both.c.machine >= share * both.c.characters,
    )


def _measure_games() -> Select[Any]:
    """How much of the entries that were published here is a machine's, by the marks of drafts.

    What was imported was not written here. The share of a suggestion's characters that stand was
    stored when its draft was published: no draft is read.
    """
    written = (
        select(
            entries.c.game_id.label("unit"),
            func.count().label("entries"),
            func.sum(func.length(entries.c.text)).label("characters"),
        )
        .where(entries.c.draft_id.is_not(None))
        .group_by(entries.c.game_id)
        .subquery()
    )
    asked, kept = suggestions.alias(), scores.alias()
    is_kept = (kept.c.suggestion_id == asked.c.id) & (kept.c.scorer == KEPT)
    taken = (
        select(
            asked.c.game_id.label("unit"),
            func.sum(kept.c.value * func.length(asked.c.generated)).label("machine"),
            func.sum(case((kept.c.value >= FLAG_SHARE, 1), else_=0)).label("unedited"),
        )
        .join(kept, is_kept & (kept.c.aspect == "marked"))
        .where(asked.c.published.is_not(None), asked.c.game_id.is_not(None))
        .group_by(asked.c.game_id)
        .subquery()
    )
    return select(
        written.c.unit,
        written.c.entries,
        written.c.characters,
        taken.c.machine,
        taken.c.unedited,
        literal(False).label("is_story"),
    ).join(taken, taken.c.unit == written.c.unit)


def _measure_stories() -> Select[Any]:
    """The same of uploaded stories, of which no log tells: by the words in blocks of USER."""
    asked, told, recall, precision = (
        suggestions.alias(), stories.alias(), scores.alias(), scores.alias()
    )  # fmt: skip
    user = kept_metrics()[0].spec
    size = func.length(asked.c.published)
    unit = func.coalesce(told.c.pid, told.c.id)
    columns: list[ColumnElement[Any]] = [
        unit.label("unit"),
        func.count().label("entries"),
        func.sum(size).label("characters"),
        func.sum(recall.c.value * size).label("machine"),
        func.sum(case((precision.c.value >= FLAG_SHARE, 1), else_=0)).label("unedited"),
        literal(True).label("is_story"),
    ]
    return (
        select(*columns)
        .select_from(asked)
        .join(told, told.c.id == asked.c.story_id)
        .join(recall, (recall.c.suggestion_id == asked.c.id) & (recall.c.aspect == "recall"))
        .join(
            precision,
            (precision.c.suggestion_id == asked.c.id) & (precision.c.aspect == "precision"),
        )
        .where(asked.c.published.is_not(None))
        .where(recall.c.scorer == user, precision.c.scorer == user)
        .group_by(unit)
    )
