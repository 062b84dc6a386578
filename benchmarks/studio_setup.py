"""What the benchmarks of the studio share: databases, the real processes, people, and a client.

Everything runs on 127.0.0.1, in a folder of its own that is gone afterwards.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

from fabula.studio.database import open_studio
from fabula.studio.games import create_game, invite_member
from fabula.studio.machines import add_machine
from fabula.studio.migrations import migrate
from fabula.studio.people import Person, create_person
from fabula.studio.scenes import add_character, add_scene
from fabula.studio.tokens import make_token

TESTS = Path(__file__).resolve().parents[1] / "tests"
Kind = Literal["sqlite", "postgresql"]
FABULA = ("-m", "fabula")
LOST = (OSError, http.client.HTTPException)
_numbers = count(1)


@dataclass
class Database:
    """A kind of database; every `fresh` one is empty."""

    kind: Kind
    folder: Path
    server: str = ""

    def fresh(self) -> str:
        """The address of an empty database."""
        name = f"studio_{next(_numbers)}"
        if self.kind == "sqlite":
            return f"sqlite:///{self.folder / name}.sqlite"
        root = open_studio(self._address("postgres"))
        connection = root.engine.raw_connection()
        connection.detach()
        connection.dbapi_connection.autocommit = True
        connection.cursor().execute(f"CREATE DATABASE {name}")
        connection.close()
        root.close()
        return self._address(name)

    def _address(self, name: str) -> str:
        head, _, query = self.server.partition("?")
        return f"{head}/{name}?{query}" if query else f"{head}/{name}"


@contextmanager
def serve_database(kind: Kind, folder: Path) -> Iterator[Database]:
    """A place for databases of a kind; a server of PostgreSQL syncs what it answers."""
    if kind == "sqlite":
        yield Database(kind, folder)
        return
    sys.path.insert(0, str(TESTS))
    from fakes.postgres import serve_postgres

    with serve_postgres(durable=True) as server:
        if server is None:
            sys.exit("there is no PostgreSQL: set FABULA_TEST_DATABASE_URL, or install one")
        yield Database(kind, folder, server)


@dataclass(frozen=True)
class Seat:
    """Somebody who writes in a game."""

    person: Person
    token: str
    game_id: str
    scene_id: str


def fill_studio(url: str, *, authors: int, spec: str, together: int = 4) -> list[Seat]:
    """Make a studio with a machine and so many authors, `together` of them in a game."""
    studio = open_studio(url)
    migrate(studio)
    add_machine(studio, None, name="machine", spec=spec)
    seats: list[Seat] = []
    for number in range(authors):
        person = create_person(studio, None, name=f"author-{number}")
        _, token = make_token(studio, person, "benchmark")
        if number % together == 0:
            owner, game = person, create_game(studio, person, key="game", title=f"Game {number}")
            scene = add_scene(studio, owner, game.id, key="scene", title="The harbour")
        else:
            invite_member(studio, owner, game.id, person.id, "player")
        name = f"Ida {number}"
        add_character(studio, owner, game.id, key=name, name=name, player_id=person.id)
        seats.append(Seat(person, token, game.id, scene.id))
    studio.close()
    return seats


@dataclass
class Program:
    """A program in Python that can be killed and started again; its log goes on in one file."""

    words: tuple[str, ...]
    environment: dict[str, str]
    log: Path
    child: subprocess.Popen[bytes] | None = None
    starts: int = 0

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(
                [sys.executable, *self.words],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.starts += 1

    def kill(self) -> None:
        """As a power cut does: at once, whatever it is at."""
        assert self.child is not None
        self.child.kill()
        self.child.wait()

    def end(self) -> None:
        """In good order."""
        assert self.child is not None
        self.child.terminate()
        self.child.wait()

    def need_alive(self) -> None:
        if self.child is None or self.child.poll() is not None:
            sys.exit(f"{' '.join(self.words)} has ended by itself; see {self.log}")


def set_environment(url: str, folder: Path) -> dict[str, str]:
    """Settings of all programs: this database, and rates that fit a test."""
    ours = {
        "FABULA_DATABASE_URL": url,
        "FABULA_RATE_ADDRESS": "off",
        "FABULA_RATE_PERSON": "off",
        "FABULA_RATE_SIGN_IN": "off",
        "FABULA_PUBLIC_URL": "",
    }
    folder.mkdir(parents=True, exist_ok=True)
    return os.environ | ours


def find_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


@dataclass
class Client:
    """A connection to the studio for one person, opened again when it was lost. A program shows its
    token; a browser the cookie it was given, and the word of its page."""

    port: int
    token: str = ""
    cookie: str = ""
    csrf: str = ""
    timeout_s: float = 30.0
    connection: http.client.HTTPConnection | None = field(default=None, repr=False)

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Ask once; the status, and what is answered. A connection that breaks is raised."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection(
                "127.0.0.1", self.port, timeout=self.timeout_s
            )
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if self.cookie:
            headers |= {"Cookie": self.cookie, "X-CSRF-Token": self.csrf}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        try:
            self.connection.request(method, path, data, headers)
            answer = self.connection.getresponse()
            text = answer.read()
            if given := answer.getheader("Set-Cookie"):
                self.cookie = given.partition(";")[0]
        except LOST:
            self.close()
            raise
        return answer.status, json.loads(text) if text else None

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def wait_for_server(program: Program, port: int, path: str = "/healthz") -> None:
    """Wait until a server answers."""
    client = Client(port, timeout_s=5)
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            if client.send("GET", path)[0] == 200:
                client.close()
                return
        except LOST:
            program.need_alive()
        time.sleep(0.03)
    sys.exit(f"the server does not answer; see {program.log}")
