"""A studio that answers on a port of this machine, with people and a game in it, for browsers."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn
from fastapi import FastAPI

from fabula.studio.cards import add_card
from fabula.studio.database import Studio, open_studio
from fabula.studio.drafts import open_draft
from fabula.studio.edits import Edit
from fabula.studio.games import create_game
from fabula.studio.machines import add_machine
from fabula.studio.migrations import migrate
from fabula.studio.people import Person, create_person
from fabula.studio.publishing import publish_entry
from fabula.studio.scenes import add_character, add_scene
from fabula.studio.sign_in import sign_in
from fabula.studio.suggestions import ask_suggestion
from fabula.studio.tables import now, suggestions
from fabula.studio.versions import save_draft
from fabula.web.app import create_app
from fabula.web.settings import Rate, Settings

PASSWORD = "a lantern under the stairs"
STAIRS = "The stairs went on, longer than the house was deep. Something breathed."
# Tests are quicker than people.
QUICK = Settings(rate_address=Rate(0), rate_person=Rate(0), rate_sign_in=Rate(0))


@dataclass
class ServedStudio:
    """Where it is, its database, who is in it, and the game of Ann's."""

    url: str
    studio: Studio
    people: dict[str, Person] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    def cookie(self, name: str) -> dict[str, str]:
        """The cookie of somebody who has signed in, as a browser's context takes it."""
        session = sign_in(self.studio, name, PASSWORD, address="127.0.0.1")
        return {"name": "fabula-session", "value": session.secret, "url": self.url}


def fill_studio(served: ServedStudio) -> None:
    """An author, a researcher, an admin, a co-author `lorem`, and a game that Ann may write in."""
    studio = served.studio
    for name, role in (("ann", "author"), ("dan", "researcher"), ("eve", "admin")):
        person = create_person(studio, None, name=name, password=PASSWORD, roles=(role,))
        served.people[name] = person
    add_machine(studio, None, name="lorem", spec="lorem(delay_s=0.02, words=40)")
    ann = served.people["ann"]
    game = create_game(studio, ann, key="g", title="The lantern", description="A house by the sea.")
    scene = add_scene(studio, ann, game.id, key="s", title="Below the stairs")
    hero = add_character(
        studio, ann, game.id, key="h", name="Mina", description="She fears no dark.",
        player_id=ann.id,
    )  # fmt: skip
    add_card(studio, ann, game.id, key="c", namespace="strength", name="Patience")
    served.ids |= {"game": game.id, "scene": scene.id, "character": hero.id}


def fill_writing(served: ServedStudio) -> None:
    """Drafts of Ann's: one with a suggestion taken over and rewritten in part, one that was
    published, and a blank one."""
    studio, ann, ids = served.studio, served.people["ann"], served.ids
    place = {"game_id": ids["game"], "scene_id": ids["scene"], "character_id": ids["character"]}
    for name in ("draft", "published", "blank"):
        ids[name] = open_draft(studio, ann, key=name, **place).id
    for name in ("draft", "published"):
        asked = ask_suggestion(studio, ann, ids[name], key=name).id
        with studio.write() as db:
            written = {"status": "done", "generated": STAIRS, "ended_at": now()}
            db.execute(suggestions.update().where(suggestions.c.id == asked).values(written))
        edits = [
            Edit(0, 0, "Mina held the lantern up. "),
            Edit(26, 26, STAIRS, "machine", asked),
            Edit(37, 41, "came"),
        ]
        save_draft(studio, ann, ids[name], key="1", base_version=0, edits=edits)
        ids[f"{name}_suggestion"] = asked
    publish_entry(studio, ann, ids["published"], version=1)


@contextmanager
def serve_app(app: FastAPI) -> Iterator[str]:
    """Answer on a free port, in a thread, for as long as this lasts; give the address."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    config = uvicorn.Config(app, port=port, log_level="error", access_log=False, lifespan="off")
    server = uvicorn.Server(config)

    def run() -> None:
        # Playwright's loop is the main thread's; this one is the server's own.
        with asyncio.Runner() as runner:
            runner.run(server.serve())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    until = time.monotonic() + 20
    while not server.started:
        assert time.monotonic() < until, "the server did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)


@contextmanager
def serve_studio(url: str, settings: Settings = QUICK) -> Iterator[ServedStudio]:
    """Make a studio in the database at `url`, fill it, and answer."""
    studio = open_studio(url)
    migrate(studio)
    with serve_app(create_app(studio, settings)) as address:
        served = ServedStudio(address, studio)
        fill_studio(served)
        yield served
    studio.close()
