"""A fresh studio for every test, once on SQLite and once on PostgreSQL."""

from __future__ import annotations

import os
import shutil
from itertools import count

import pytest
from argon2 import PasswordHasher

from fabula.authors import AUTHORS
from fabula.studio.database import open_studio
from fabula.studio.migrations import migrate, schema_state
from fabula.studio.people import create_person
from fabula.studio.tables import METADATA
from fakes.postgres import serve_postgres
from fakes.scripted_author import plug_in

_numbers = count()


def _address(server: str, name: str) -> str:
    head, _, query = server.partition("?")
    return f"{head}/{name}" + (f"?{query}" if query else "")


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch):
    """Hashes that are quick to make: tests sign in often."""
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr("fabula.studio._secrets.hasher", cheap)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory):
    """An empty studio's file, to be copied."""
    path = tmp_path_factory.mktemp("studio") / "template.sqlite"
    studio = open_studio(f"sqlite:///{path}")
    migrate(studio)
    studio.close()
    return path


@pytest.fixture(scope="session")
def postgres_server():
    """A server, and a way to tell it something."""
    with serve_postgres() as server:
        if server is None:
            pytest.skip("there is no PostgreSQL: set FABULA_TEST_DATABASE_URL, or install one")
        root = open_studio(_address(server, "postgres"))
        yield server, root
        root.close()


@pytest.fixture(scope="session")
def postgres_studio(postgres_server):
    """The address of a studio that tests use one after the other: to make one takes long."""
    server, root = postgres_server
    name = f"studio_{os.getpid()}"
    _run(root, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")
    studio = open_studio(_address(server, name))
    migrate(studio)
    studio.close()
    yield _address(server, name)
    _run(root, f"DROP DATABASE {name} WITH (FORCE)")


def _run(studio, *statements):
    # On a connection of its own: one out of the pool has a transaction open already.
    connection = studio.engine.raw_connection()
    connection.detach()
    connection.dbapi_connection.autocommit = True
    for statement in statements:
        connection.cursor().execute(statement)
    connection.close()


def _empty(address):
    """Take everything out of a studio, logs too, and end who is connected to it still."""
    studio = open_studio(address)
    tables = [table.name for table in reversed(METADATA.sorted_tables)]
    logs = ("edits", "audit", "assignments", "campaign_verdicts")
    steps = [f"ALTER TABLE {name} DISABLE TRIGGER USER" for name in logs]
    steps += [f"DELETE FROM {name}" for name in tables]
    steps += [f"ALTER TABLE {name} ENABLE TRIGGER USER" for name in logs]
    steps.append(f"UPDATE alembic_version SET version_num = '{schema_state(studio).package}'")
    studio.close()
    _run(
        studio,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        f"DO $$ BEGIN {'; '.join(steps)}; END $$",
        "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'",
    )
    studio.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request, tmp_path):
    """The address of a fresh, empty studio."""
    if request.param == "sqlite":
        path = tmp_path / "studio.sqlite"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        return f"sqlite:///{path}"
    address = request.getfixturevalue("postgres_studio")
    _empty(address)
    return address


@pytest.fixture(params=["sqlite", "postgresql"])
def blank_url(request, tmp_path):
    """The address of a database without any tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'blank.sqlite'}"
        return
    server, root = request.getfixturevalue("postgres_server")
    name = f"blank_{os.getpid()}_{next(_numbers)}"
    _run(root, f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")
    yield _address(server, name)
    _run(root, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def blank(blank_url):
    """A database without any tables."""
    opened = open_studio(blank_url)
    yield opened
    opened.close()


@pytest.fixture
def studio(database_url):
    """A fresh, empty studio."""
    opened = open_studio(database_url)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def scripted_folder(tmp_path_factory):
    """A folder to be put on the path, which offers the co-author `scripted` as a plug-in."""
    return plug_in(tmp_path_factory.mktemp("plugin"))


@pytest.fixture
def scripted(scripted_folder, monkeypatch):
    """The co-author `scripted`, found in this process as a plug-in."""
    monkeypatch.syspath_prepend(scripted_folder)
    AUTHORS.__dict__.pop("_plugins", None)
    yield "scripted"
    AUTHORS.__dict__.pop("_plugins", None)


@pytest.fixture
def admin(studio):
    """An admin of the studio."""
    return create_person(studio, None, name="ada", roles=("admin", "author"))


@pytest.fixture
def author(studio):
    """An author, and nothing else."""
    return create_person(studio, None, name="ann", password="four odd words here")
