"""What a studio has found out, as files: for other programs, and for `fabula meta` and `score`.

A folder holds `stories.jsonl` and `scores.jsonl`, a table of scores as every other: a story is a
suggestion, its text what the machine wrote, its reference what was published, its system the
machine; authors' ratings and metrics' scores are scores. Beside them lie suggestions, ratings,
metrics' scores, edits, games and assignments as rows. People are pseudonyms, the same in every
export of a studio, which only the studio's key could lead back from.
"""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select, true

from fabula.core.errors import NotAllowed
from fabula.core.files import note_written, refuse_foreign, write_lines
from fabula.core.protocols import watch
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import SCORES, STORIES, json_line, score_row, story_line
from fabula.datasets.tables.row_files import Kind, RowForm, write_rows
from fabula.studio._secrets import make_secret
from fabula.studio.database import Studio, make_insert
from fabula.studio.filters import is_counted
from fabula.studio.kept import KEPT_WORDS
from fabula.studio.people import Person, write_audit
from fabula.studio.storium_json import export_game
from fabula.studio.tables import (
    assignments,
    drafts,
    edits,
    games,
    machines,
    people,
    ratings,
    scores,
    settings,
    stories,
    suggestions,
)

_KEY = "pseudonym_key"
_ROWS_AT_ONCE = 500
# Aspects that say where kept sentences stood: as many as a suggestion has sentences, and, like the
# counts of parts of speech, no opinion of it.
_PLACES = "sentence:"

SUGGESTION: dict[str, Kind] = {
    "suggestion": "text",
    "game": "text",
    "story": "text",
    "draft": "text",
    "entry": "text",
    "author": "text",
    "machine": "text",
    "spec": "text",
    "kind": "text",
    "status": "text",
    "problem": "text",
    "context": "json",
    "seen": "json",
    "position": "integer",
    "generated": "text",
    "published": "text",
    "wanted": "text",
    "decoding": "json",
    "seed": "integer",
    "signature": "text",
    "tokens": "integer",
    "asked_at": "moment",
    "started_at": "moment",
    "first_token_at": "moment",
    "ended_at": "moment",
    "published_at": "moment",
}
RATING: dict[str, Kind] = {
    "suggestion": "text",
    "rater": "text",
    "aspect": "text",
    "value": "integer",
    "comment": "text",
    "rated_at": "moment",
}
METRIC_SCORE: dict[str, Kind] = {
    "suggestion": "text",
    "scorer": "text",
    "aspect": "text",
    "value": "number",
    "status": "text",
    "coverage": "number",
    "note": "text",
    "signature": "text",
}
EDIT: dict[str, Kind] = {
    "draft": "text",
    "game": "text",
    "author": "text",
    "version": "integer",
    "position": "integer",
    "start": "integer",
    "stop": "integer",
    "removed": "text",
    "inserted": "text",
    "source": "text",
    "suggestion": "text",
    "made_at": "moment",
    "saved_at": "moment",
}
GAME: dict[str, Kind] = {"game": "text", "story": "text", "json": "json"}
ASSIGNMENT: dict[str, Kind] = {
    "story": "text",
    "kind": "text",
    "number": "integer",
    "turn": "integer",
    "machine": "text",
    "reason": "text",
    "seed": "integer",
    "states": "json",
    "assigned_at": "moment",
}


@dataclass(frozen=True)
class Export:
    """What was written: how many rows each file has."""

    folder: Path
    rows: Mapping[str, int]


def export_studio(
    studio: Studio,
    actor: Person | None,
    folder: Path,
    *,
    form: RowForm = "json",
    names: bool = False,
    excluded: bool = False,
    overwrite: bool = False,
) -> Export:
    """Write one moment of the studio into a folder. For researchers, and the scope `dataset`.

    `names` writes people's names instead of pseudonyms, for admins alone. Games that were excluded
    from evaluation are left out unless `excluded`. Edits are those of drafts that were published;
    with a scope alone they need `user_edits`.
    """
    has_edits = _need_reader(actor, names=names)
    names_of = ("suggestions", "ratings", "metric_scores", *(["edits"] if has_edits else []))
    files = {name: f"{name}.{form}" for name in (*names_of, "games", "assignments")}
    written = (*files.values(), STORIES, SCORES)
    refuse_foreign(folder, written, overwrite=overwrite)
    callers = make_callers(studio, names=names)
    with studio.snapshot() as db:
        rows_of = {
            "suggestions": (SUGGESTION, _read_suggestions(db, callers, excluded)),
            "ratings": (RATING, _read_ratings(db, callers, excluded)),
            "metric_scores": (METRIC_SCORE, _read_scores(db, excluded)),
            "edits": (EDIT, _read_edits(db, callers, excluded)),
            "games": (GAME, _read_games(db, callers, excluded)),
            "assignments": (ASSIGNMENT, _read_assignments(db, excluded)),
        }
        counts = {}
        for name, file in files.items():
            watch.get().tell(f"writing {file}")
            counts[file] = write_rows(folder / file, form, *rows_of[name])
        counts |= _write_score_table(db, callers, folder, excluded)
    note_written(folder, written)
    with studio.write() as db:
        write_audit(db, actor, "export_studio", names=names, excluded=excluded)
    return Export(folder, counts)


def _need_reader(actor: Person | None, *, names: bool) -> bool:
    """Refuse who may not read all games; tell whether edits are for them."""
    if actor and names:
        actor.need("admin")
    if actor and not actor.may("researcher") and "dataset" not in actor.scopes:
        raise NotAllowed(
            f"{actor.name} may not read what others wrote", "ask for the role researcher"
        )
    return actor is None or actor.may("researcher") or "user_edits" in actor.scopes


# Columns of a suggestion that hold STORIUM's JSON, and where people stand in it.
_WITH_PEOPLE = frozenset({"context", "finalized"})
_PEOPLE_INSIDE = frozenset({"user_pid", "author_user_pid"})


@dataclass(frozen=True)
class Callers:
    """What people are called in an export: by `names`, or by pseudonyms made with the key."""

    key: bytes
    names: Mapping[str, str]

    def call(self, identity: str | None) -> str | None:
        """Give what the person with this identity is called."""
        if identity is None or identity in self.names:
            return self.names[identity] if identity else None
        return f"p{hmac.digest(self.key, identity.encode(), 'sha256').hex()[:12]}"

    def call_inside(self, value: Any) -> Any:
        """Give a game's or an entry's JSON with its people called so too."""
        if isinstance(value, list):
            return [self.call_inside(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            name: self.call(inner)
            if name in _PEOPLE_INSIDE and isinstance(inner, str)
            else self.call_inside(inner)
            for name, inner in value.items()
        }


def make_callers(studio: Studio, *, names: bool) -> Callers:
    """Find out what people are called: by their names, or by pseudonyms."""
    with studio.write() as db:
        fresh = make_insert(db, settings).values(name=_KEY, value=make_secret())
        db.execute(fresh.on_conflict_do_nothing())
        key = db.scalar(select(settings.c.value).where(settings.c.name == _KEY))
        known = select(people.c.id, people.c.name).where(people.c.name.is_not(None))
        rows = db.execute(known) if names else ()
        return Callers(str(key).encode(), {row.id: row.name for row in rows})


def _stream(db: Connection, wanted: Select[Any]) -> Iterator[Mapping[str, Any]]:
    for row in db.execute(wanted, execution_options={"yield_per": _ROWS_AT_ONCE}).mappings():
        yield {str(name): value for name, value in row.items()}


def _is_wanted(excluded: bool) -> ColumnElement[bool]:
    """Whether the game, or the uploaded story, of a suggestion counts."""
    return true() if excluded else is_counted()


def _read_suggestions(
    db: Connection, callers: Callers, excluded: bool
) -> Iterator[Mapping[str, Any]]:
    renamed = {
        "suggestion": suggestions.c.id,
        "game": suggestions.c.game_id,
        "story": suggestions.c.story_id,
        "draft": suggestions.c.draft_id,
        "entry": suggestions.c.entry_id,
        "author": suggestions.c.person_id,
        "machine": machines.c.name,
        "spec": machines.c.spec,
    }
    columns = [
        (renamed[name] if name in renamed else suggestions.c[name]).label(name)
        for name in SUGGESTION
    ]
    wanted = (
        select(*columns)
        .select_from(suggestions)
        .outerjoin(games, games.c.id == suggestions.c.game_id)
        .outerjoin(stories, stories.c.id == suggestions.c.story_id)
        .outerjoin(machines, machines.c.id == suggestions.c.machine_id)
        .where(_is_wanted(excluded))
        .order_by(suggestions.c.asked_at, suggestions.c.id)
    )
    for row in _stream(db, wanted):
        inside = {name: callers.call_inside(row[name]) for name in _WITH_PEOPLE & row.keys()}
        yield {**row, **inside, "author": callers.call(row["author"])}


def _read_ratings(db: Connection, callers: Callers, excluded: bool) -> Iterator[Mapping[str, Any]]:
    wanted = (
        select(ratings, ratings.c.suggestion_id.label("suggestion"))
        .join(suggestions, suggestions.c.id == ratings.c.suggestion_id)
        .outerjoin(games, games.c.id == suggestions.c.game_id)
        .outerjoin(stories, stories.c.id == suggestions.c.story_id)
        .where(_is_wanted(excluded))
        .order_by(suggestions.c.asked_at, suggestions.c.id, ratings.c.rater, ratings.c.aspect)
    )
    for row in _stream(db, wanted):
        yield {**row, "rater": callers.call(row["rater"])}


def _read_scores(db: Connection, excluded: bool) -> Iterator[Mapping[str, Any]]:
    wanted = (
        select(scores, scores.c.suggestion_id.label("suggestion"))
        .join(suggestions, suggestions.c.id == scores.c.suggestion_id)
        .outerjoin(games, games.c.id == suggestions.c.game_id)
        .outerjoin(stories, stories.c.id == suggestions.c.story_id)
        .where(_is_wanted(excluded))
        .order_by(suggestions.c.asked_at, suggestions.c.id, scores.c.id)
    )
    return _stream(db, wanted)


def _read_edits(db: Connection, callers: Callers, excluded: bool) -> Iterator[Mapping[str, Any]]:
    renamed = {
        "draft": edits.c.draft_id,
        "game": drafts.c.game_id,
        "author": edits.c.person_id,
        "suggestion": edits.c.suggestion_id,
    }
    columns = [(renamed[name] if name in renamed else edits.c[name]).label(name) for name in EDIT]
    wanted = (
        select(*columns)
        .join(drafts, drafts.c.id == edits.c.draft_id)
        .join(games, games.c.id == drafts.c.game_id)
        .where(drafts.c.state == "published", games.c.is_excluded.in_([False, excluded]))
        .order_by(edits.c.draft_id, edits.c.version, edits.c.position)
    )
    for row in _stream(db, wanted):
        yield {**row, "author": callers.call(row["author"])}


def _read_games(db: Connection, callers: Callers, excluded: bool) -> Iterator[Mapping[str, Any]]:
    """Give every game, or uploaded story, of which a suggestion was asked for, as it is now."""
    names = suggestions.c.game_id, suggestions.c.story_id
    asked = (
        select(*names)
        .outerjoin(games, games.c.id == suggestions.c.game_id)
        .outerjoin(stories, stories.c.id == suggestions.c.story_id)
        .where(_is_wanted(excluded))
        .group_by(*names)
        .order_by(func.min(suggestions.c.asked_at), *names)
    )
    for game, story in db.execute(asked).all():
        uploaded = select(stories.c.story).where(stories.c.id == story)
        whole = export_game(db, game) if game else db.scalar(uploaded)
        yield {"game": game, "story": story, "json": callers.call_inside(whole)}


def _read_assignments(db: Connection, excluded: bool) -> Iterator[Mapping[str, Any]]:
    wanted = (
        select(assignments, machines.c.name.label("machine"))
        .join(machines, machines.c.id == assignments.c.machine_id)
        .outerjoin(games, games.c.id == assignments.c.story)
        .outerjoin(stories, stories.c.id == assignments.c.story)
        .where(_is_wanted(excluded))
        .order_by(assignments.c.kind, assignments.c.turn)
    )
    return _stream(db, wanted)


def _write_score_table(
    db: Connection, callers: Callers, folder: Path, excluded: bool
) -> dict[str, int]:
    """Write suggestions that were made as stories, and what people and metrics say of them."""
    places: dict[str, Story] = {}
    count = 0

    def story_lines() -> Iterator[str]:
        for story in _make_stories(db, callers, excluded):
            places[story.id] = Story(story.id, "", system=story.system, item=story.item)
            yield story_line(story)

    def score_lines() -> Iterator[str]:
        for row in _read_ratings(db, callers, excluded):
            if row["suggestion"] in places and row["value"] is not None:
                scorer = f"human:{row['rater']}"
                yield line(Score(row["suggestion"], scorer, row["aspect"], float(row["value"])))
        for row in _read_scores(db, excluded):
            is_count = row["scorer"] == KEPT_WORDS or row["aspect"].startswith(_PLACES)
            if row["suggestion"] in places and not is_count:
                value = float("nan") if row["value"] is None else row["value"]
                what = row["suggestion"], row["scorer"], row["aspect"], value
                yield line(Score(*what, row["status"], row["coverage"], row["note"]))

    def line(score: Score) -> str:
        nonlocal count
        count += 1
        return json_line(score_row(places[score.story], score))

    write_lines(folder / STORIES, story_lines())
    write_lines(folder / SCORES, score_lines())
    return {STORIES: len(places), SCORES: count}


def _make_stories(db: Connection, callers: Callers, excluded: bool) -> Iterator[Story]:
    """Make a story of every suggestion that has a text.

    An item is a game and a number: the second suggestion of a machine in a game is beside the
    second of any other there. A table holds one story of a system for an item.
    """
    numbers: Counter[tuple[str, str]] = Counter()
    for row in _read_suggestions(db, callers, excluded):
        if not row["generated"]:
            continue
        game, system = row["game"] or row["story"] or "", row["machine"] or "unknown"
        numbers[game, system] += 1
        yield Story(
            row["suggestion"],
            row["generated"],
            references=(row["published"],) if row["published"] else (),
            system=system,
            item=f"{game}:{numbers[game, system]}",
        )
