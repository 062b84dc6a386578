"""A studio with a few people and a game in it, and the app over it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from sqlalchemy import update
from starlette.testclient import TestClient

from fabula.core.story import Story
from fabula.studio.campaigns.assigning import take_task
from fabula.studio.campaigns.definition import Definition, Question
from fabula.studio.campaigns.opening import create_campaign, set_campaign_state
from fabula.studio.campaigns.raters import enter_campaign, make_door
from fabula.studio.cards import add_card
from fabula.studio.database import Studio, open_studio
from fabula.studio.drafts import open_draft
from fabula.studio.edits import Edit
from fabula.studio.games import create_game
from fabula.studio.links import make_link, use_link
from fabula.studio.machines import add_machine
from fabula.studio.migrations import migrate
from fabula.studio.people import Person, create_person
from fabula.studio.scenes import add_character, add_scene
from fabula.studio.sessions import list_sessions
from fabula.studio.sign_in import sign_in
from fabula.studio.storium_door import PLATFORM, ask_for_story, upload_story
from fabula.studio.suggestions import ask_suggestion
from fabula.studio.tables import now, stories, suggestions
from fabula.studio.tokens import make_token
from fabula.studio.versions import save_draft
from fabula.web.app import create_app
from fabula.web.identity import Web
from fabula.web.settings import Rate, Settings, StoriumSettings
from fakes.storium_games import SMALL
from fakes.storium_platform import MOVE, SECRET

PASSWORD = "a lantern under the stairs"
ROLES = {
    "ann": ("author",),
    "ben": ("author",),
    "cat": ("annotator",),
    "dan": ("researcher",),
    "eve": ("admin",),
}
# Tests are quicker than people.
QUICK = Settings(
    rate_address=Rate(0),
    rate_person=Rate(0),
    rate_sign_in=Rate(0),
    storium=StoriumSettings(SECRET, dataset=Path(__file__)),
)
HOME = "http://127.0.0.1:8000"


@dataclass
class World:
    """A studio's file, who is in it, and the identities of things by the name in a path."""

    url: str
    people: dict[str, Person] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    def bearer(self, name: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secrets[name]}"}


def people_the_studio(studio: Studio, world: World) -> None:
    for name, roles in ROLES.items():
        # Only one needs a password, whose digest is slow on purpose.
        password = PASSWORD if name == "ann" else None
        person = create_person(studio, None, name=name, password=password, roles=roles)
        world.people[name] = person
        _, world.secrets[name] = make_token(studio, person, "tests")
    # A program that an admin has named a backend.
    _, world.secrets["platform"] = make_token(studio, person, "platform", scopes=("backend",))


def begin_a_game(studio: Studio, world: World) -> None:
    """A game of Ann's with something of everything in it."""
    ann, ids = world.people["ann"], world.ids
    machine = add_machine(studio, None, name="lorem", spec="lorem")
    game = create_game(studio, ann, key="game", title="The lantern")
    ids |= {"machine_id": machine.id, "game_id": game.id}
    ids["scene_id"] = add_scene(studio, ann, game.id, key="scene", title="Below the stairs").id
    hero = add_character(studio, ann, game.id, key="hero", name="Mina", player_id=ann.id)
    card = add_card(studio, ann, game.id, key="card", namespace="strength", name="Patience")
    wild = add_card(
        studio, ann, game.id, key="wild", namespace="strength", name="?", is_wild=True,
        character_id=hero.id, stack_size=1,
    )  # fmt: skip
    ids |= {"character_id": hero.id, "card_id": card.card_id, "wild_id": wild.card_id}
    draft = open_draft(
        studio, ann, game_id=game.id, scene_id=ids["scene_id"], key="draft", character_id=hero.id
    )
    save_draft(
        studio,
        ann,
        draft.id,
        key="1",
        base_version=0,
        edits=[Edit(0, 0, "She held the lantern up.")],
    )
    ids["draft_id"] = draft.id
    ids["suggestion_id"] = ask_suggestion(studio, ann, draft.id, key="ask").id
    with studio.write() as db:
        written = {"status": "done", "generated": " The stairs went on.", "ended_at": now()}
        db.execute(update(suggestions).values(written))
    ids |= {"number": "1", "person_id": world.people["ben"].id}
    ids["token_id"], _ = make_token(studio, ann, "of a notebook")
    session = sign_in(studio, "ann", PASSWORD)
    ids["session_id"] = list_sessions(studio, ann, session.secret)[0].id
    ids["secret"] = "not-a-secret-of-anybody"
    ids |= {"file_name": "studio.css", "form": "txt", "example": "teeth-human"}
    ids["part_file"] = "user.csv"


def begin_a_campaign(studio: Studio, world: World) -> None:
    """A campaign of a researcher's that is open, and somebody who rates in it."""
    dan, ids = world.people["dan"], world.ids
    stories = [
        Story(f"{item}-{system}", f"Of {item}, told by {system}.", item=item, system=system)
        for item in ("a lamp", "a stair", "a key") for system in ("one", "two")
    ]  # fmt: skip
    question = Question("fluency", "scale", "Is it well written?")
    asked = Definition("lamps", "Lamps", "Read, then rate.", (question,), raters=2)
    ids["campaign_id"] = create_campaign(studio, dan, asked, stories).id
    set_campaign_state(studio, dan, "lamps", "open")
    door = make_door(studio, dan, "lamps")
    ids |= {
        "campaign": "lamps",
        "name": "lamps",
        "code": door.code,
        "door": door.id,
        "digest": "0" * 64,
    }
    rater = enter_campaign(studio, door.code)
    world.secrets["rater"] = rater.secret or ""
    turn = take_task(studio, ids["campaign_id"], world.secrets["rater"])
    ids["assignment_id"] = turn.assignment.id if turn.assignment else ""


def come_by_the_door(studio: Studio, world: World) -> None:
    """A story that a platform has uploaded, and a suggestion in it that is done."""
    world.ids["story_id"] = upload_story(studio, PLATFORM, SMALL).id
    with studio.write() as db:
        db.execute(update(stories).values(status="ready"))
    asked = ask_for_story(studio, PLATFORM, world.ids["story_id"], MOVE)
    world.ids["door_id"] = asked.id
    with studio.write() as db:
        written = {"status": "done", "generated": "Ida bails.", "ended_at": now()}
        db.execute(update(suggestions).where(suggestions.c.id == asked.id).values(written))


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords():
    """Digests that are quick to make: nobody attacks a test."""
    patch = pytest.MonkeyPatch()
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    patch.setattr("fabula.studio._secrets.hasher", cheap)
    yield
    patch.undo()


@pytest.fixture(scope="session", autouse=True)
def short_listening():
    """Who listens for changes is told of the first, and need not wait for others."""
    patch = pytest.MonkeyPatch()
    patch.setattr("fabula.web.dashboard.live.LISTEN_FOR_S", 0.2)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def first_world(tmp_path_factory, cheap_passwords):
    """People and a game, in a file to be copied."""
    path = tmp_path_factory.mktemp("web") / "people.sqlite"
    studio = open_studio(f"sqlite:///{path}")
    migrate(studio)
    world = World(f"sqlite:///{path}")
    people_the_studio(studio, world)
    begin_a_game(studio, world)
    begin_a_campaign(studio, world)
    come_by_the_door(studio, world)
    studio.close()
    return path, world


@pytest.fixture
def world(first_world, tmp_path):
    """The people, in a file of one's own."""
    path, first = first_world
    shutil.copy(path, tmp_path / "studio.sqlite")
    return World(
        f"sqlite:///{tmp_path / 'studio.sqlite'}",
        dict(first.people),
        dict(first.secrets),
        dict(first.ids),
    )


@pytest.fixture
def studio(world):
    opened = open_studio(world.url)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def shared_app(first_world):
    """One app for all: its first request makes much that the others find made."""
    return create_app(open_studio(first_world[1].url), QUICK)


@pytest.fixture
def app(shared_app, studio):
    shared_app.state.web = Web(studio, QUICK)
    return shared_app


@pytest.fixture
def client(app):
    """A program without a token, or a browser that nobody has signed in with."""
    return TestClient(app, base_url=HOME, client=("127.0.0.1", 5000))


@pytest.fixture
def as_ann(client, world):
    """A program of Ann's."""
    client.headers.update(world.bearer("ann"))
    return client


@pytest.fixture
def as_reader(app, studio, world):
    """Gives a browser in which somebody has signed in: it asks for pages."""

    def open_browser(name: str = "ann") -> TestClient:
        if name != "ann":
            secret = make_link(studio, None, purpose="password", person_id=world.people[name].id)
            use_link(studio, secret, password=PASSWORD)
        session = sign_in(studio, name, PASSWORD)
        cookies, headers = {"fabula-session": session.secret}, {"Accept": "text/html"}
        return TestClient(
            app, base_url=HOME, cookies=cookies, headers=headers, follow_redirects=False
        )

    return open_browser
