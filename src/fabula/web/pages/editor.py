"""The editor: a draft on a sheet, and around it the story that it goes on with.

Who wrote the draft writes in it while it is open; otherwise, and to researchers, it is read.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi.encoders import jsonable_encoder
from starlette.responses import HTMLResponse

from fabula.studio.cards import PLAYERS_KINDS
from fabula.studio.drafts import NARRATOR_FORMATS, Draft, DraftView, view_draft
from fabula.studio.machines import list_machines
from fabula.studio.ratings import QUESTIONS
from fabula.studio.scenes import GameView, read_game
from fabula.studio.versions import read_past
from fabula.web.identity import Call, Id, Reader
from fabula.web.pages import make_page_router, show

router = make_page_router()
# What a length is called on the page, and what co-authors are asked for.
LENGTHS = (
    ("short", "Short: a sentence or two", "words=-40"),
    ("medium", "Medium: a paragraph", "words=-120"),
    ("long", "Long: a page", "words=-250"),
)
_ORIGINS = {"machine": "by-machine", "edited": "by-edited", "person": ""}


@router.get("/drafts/{draft_id}")
def show_editor(call: Reader, draft_id: Id) -> HTMLResponse:
    """Show a draft to be written, or, if it has ended or is somebody else's, to be read."""
    view = view_draft(call.studio, call.person, draft_id)
    game = read_game(call.studio, call.person, view.draft.game_id)
    is_own = view.draft.author_id == call.person.id
    can_write = is_own and view.draft.state == "open"
    character = next((each for each in game.characters if each.id == view.draft.character_id), None)
    return show(
        call,
        "editor.html",
        view=view,
        game=game.game,
        scene=view.scenes[-1][0],
        character=character,
        characters=sorted(game.characters, key=lambda each: each is not character),
        can_write=can_write,
        is_own=is_own,
        lengths=LENGTHS,
        paragraphs=[] if can_write else split_paragraphs(view.draft),
        data=describe_desk(call, view, game, can_write=can_write),
    )


def describe_desk(
    call: Call, view: DraftView, game: GameView, *, can_write: bool
) -> dict[str, Any]:
    """Give what the page's scripts start from, as plain values."""
    machines = list_machines(call.studio, call.person)
    offered = [machine for machine in machines if machine.status == "active"]
    # The game's own co-author comes first: what is asked for without a choice goes to it.
    offered.sort(key=lambda machine: (machine.name != view.machine, machine.name))
    plain: dict[str, Any] = jsonable_encoder(
        {
            "can_write": can_write,
            "person": {"id": call.person.id, "name": call.person.name},
            "draft": view.draft,
            # What was done before the page was loaded can be undone, too.
            "log": read_past(call.studio, call.person, view.draft.id) if can_write else None,
            "game": {"id": game.game.id, "title": game.game.title},
            "scenes": [asdict(scene) | {"entries": count} for scene, count in view.scenes],
            "characters": game.characters,
            "cards": [card for card in game.cards if not card.is_deleted],
            "machine": view.machine,
            "machines": [machine.name for machine in offered],
            "machine_names": {machine.id: machine.name for machine in machines},
            "questions": list(QUESTIONS.values()),
            "narrated": view.draft.format in NARRATOR_FORMATS,
            "played_kinds": PLAYERS_KINDS,
        }
    )
    return plain


def split_paragraphs(draft: Draft) -> list[list[tuple[str, str]]]:
    """Split a draft into paragraphs, each of runs of text with the class that says whose it is."""
    paragraphs: list[list[tuple[str, str]]] = [[]]
    at = 0
    for run in draft.marks:
        lines = draft.text[at : at + run.length].split("\n")
        at += run.length
        for number, line in enumerate(lines):
            if number:
                paragraphs.append([])
            if line:
                paragraphs[-1].append((_ORIGINS[run.origin], line))
    return paragraphs
