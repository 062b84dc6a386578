"""Games with entries that were published beside suggestions of machines."""

from __future__ import annotations

from typing import Any

from fabula.studio.database import Studio
from fabula.studio.edits import Edit
from fabula.studio.games import create_game
from fabula.studio.people import Person
from fabula.studio.publishing import publish_entry
from fabula.studio.ratings import rate_suggestion
from fabula.studio.scenes import add_scene
from fabula.studio.versions import save_draft
from fakes.studio_writing import Table, begin_draft, put_machine, put_suggestion

FERRY = "Grey ferry crossed rivers. Wolves howled."


def begin_game(studio: Studio, person: Person, key: str) -> Table:
    """Let somebody begin a game of a name."""
    game = create_game(studio, person, key=key, title=f"The salt road {key}")
    return Table(person, game.id, add_scene(studio, person, game.id, key="s").id)


def publish(
    studio: Studio,
    table: Table,
    key: str,
    text: str,
    *,
    machine: str = "one",
    generated: str = FERRY,
    comment: str = "",
    **rated: Any,
) -> str:
    """Publish an entry beside a suggestion, with ratings of it; the suggestion's identity."""
    draft = begin_draft(studio, table, f"{key}-{table.game_id}")
    machine_id = put_machine(studio, machine, status="active")
    suggestion = put_suggestion(studio, draft, generated, machine_id=machine_id)
    if rated or comment:
        rate_suggestion(studio, table.person, suggestion, rated, comment)
    save_draft(studio, table.person, draft.id, key="k", base_version=0, edits=[Edit(0, 0, text)])
    publish_entry(studio, table.person, draft.id, version=1)
    return suggestion


def publish_unedited(studio: Studio, table: Table, key: str, *, machine: str = "one") -> str:
    """Publish a suggestion as it came; its identity."""
    draft = begin_draft(studio, table, f"{key}-{table.game_id}")
    which = put_suggestion(studio, draft, FERRY, machine_id=put_machine(studio, machine))
    edits = [Edit(0, 0, FERRY, source="machine", suggestion_id=which)]
    save_draft(studio, table.person, draft.id, key="k", base_version=0, edits=edits)
    publish_entry(studio, table.person, draft.id, version=1)
    return which
