"""A studio with a few people and a game in it, and the app over it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field

import pytest
from starlette.testclient import TestClient

from fabula.studio.database import Studio, open_studio
from fabula.studio.migrations import migrate
from fabula.studio.people import Person, create_person
from fabula.studio.tokens import make_token
from fabula.web.app import create_app
from fabula.web.settings import Rate, Settings

PASSWORD = "a lantern under the stairs"
ROLES = {
    "ann": ("author",),
    "ben": ("author",),
    "cat": ("annotator",),
    "dan": ("researcher",),
    "eve": ("admin",),
}
# Tests are quicker than people.
QUICK = Settings(rate_address=Rate(0), rate_person=Rate(0), rate_sign_in=Rate(0))
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


@pytest.fixture(scope="session")
def first_world(tmp_path_factory):
    """The people, in a file to be copied."""
    path = tmp_path_factory.mktemp("web") / "people.sqlite"
    studio = open_studio(f"sqlite:///{path}")
    migrate(studio)
    world = World(f"sqlite:///{path}")
    people_the_studio(studio, world)
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


@pytest.fixture
def app(studio):
    return create_app(studio, QUICK)


@pytest.fixture
def client(app):
    """A program without a token, or a browser that nobody has signed in with."""
    return TestClient(app, base_url=HOME, client=("127.0.0.1", 5000))


@pytest.fixture
def as_ann(client, world):
    """A program of Ann's."""
    client.headers.update(world.bearer("ann"))
    return client
