"""A game with a scene, a draft in it, and suggestions that a co-author is said to have written."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

from sqlalchemy import insert, select

from fabula.studio.database import Studio
from fabula.studio.drafts import Draft, open_draft
from fabula.studio.games import create_game
from fabula.studio.people import Person
from fabula.studio.scenes import add_scene
from fabula.studio.tables import machines, new_id, suggestions
from fakes.studio_people import put_person

_numbers = count()


@dataclass(frozen=True)
class Table:
    """Who writes, and where."""

    person: Person
    game_id: str
    scene_id: str


def lay_table(studio: Studio, name: str = "ann") -> Table:
    """Let somebody begin a game with one scene."""
    person = put_person(studio, name)
    game = create_game(studio, person, key="game", title="The salt road")
    scene = add_scene(studio, person, game.id, key="scene")
    return Table(person, game.id, scene.id)


def begin_draft(studio: Studio, table: Table, key: str = "draft", **other: Any) -> Draft:
    """Open a draft at a table; the narrator's, unless told otherwise."""
    place = {"game_id": table.game_id, "scene_id": table.scene_id, "format": "addition"}
    return open_draft(studio, table.person, key=key, **place | other)


def put_machine(studio: Studio, name: str = "lorem", **other: Any) -> str:
    """Offer a machine; the identity of the one of that name, if there is one."""
    with studio.write() as db:
        same = db.scalar(select(machines.c.id).where(machines.c.name == name))
        if same is not None:
            return str(same)
        values = {"id": new_id(), "name": name, "spec": "lorem", "status": "active"} | other
        db.execute(insert(machines).values(**values))
        return str(values["id"])


def put_suggestion(studio: Studio, draft: Draft, generated: str, **other: Any) -> str:
    """Put a suggestion of a draft into the studio as if a worker had written it."""
    machine_id = other.pop("machine_id", None) or put_machine(studio)
    values = {
        "id": new_id(),
        "key": f"put-{next(_numbers)}",
        "person_id": draft.author_id,
        "game_id": draft.game_id,
        "draft_id": draft.id,
        "machine_id": machine_id,
        "context": {},
        "generated": generated,
        "status": "done",
        "wanted": "words=0-249",
        "seed": 1,
    }
    with studio.write() as db:
        db.execute(insert(suggestions).values(**values | other))
    return str((values | other)["id"])
