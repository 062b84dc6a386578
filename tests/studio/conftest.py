"""A fresh studio for every test, once on SQLite and once on PostgreSQL."""

from __future__ import annotations

import shutil
from itertools import count

import pytest

from fabula.authors import AUTHORS
from fabula.studio.database import open_studio
from fabula.studio.migrations import migrate
from fakes.postgres import serve_postgres
from fakes.scripted_author import plug_in

_numbers = count()


def _address(server: str, name: str) -> str:
    head, _, query = server.partition("?")
    return f"{head}/{name}" + (f"?{query}" if query else "")


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
    """A server with an empty studio called `template_studio`, to be copied."""
    with serve_postgres() as server:
        if server is None:
            pytest.skip("there is no PostgreSQL: set FABULA_TEST_DATABASE_URL, or install one")
        root = open_studio(_address(server, "postgres"))
        _run(root, "DROP DATABASE IF EXISTS template_studio", "CREATE DATABASE template_studio")
        template = open_studio(_address(server, "template_studio"))
        migrate(template)
        template.close()
        yield server, root
        root.close()


def _run(studio, *statements):
    # On a connection of its own: one out of the pool has a transaction open already.
    connection = studio.engine.raw_connection()
    connection.detach()
    connection.dbapi_connection.autocommit = True
    for statement in statements:
        connection.cursor().execute(statement)
    connection.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request, tmp_path):
    """The address of a fresh, empty studio."""
    if request.param == "sqlite":
        path = tmp_path / "studio.sqlite"
        shutil.copy(request.getfixturevalue("sqlite_template"), path)
        yield f"sqlite:///{path}"
        return
    server, root = request.getfixturevalue("postgres_server")
    name = f"studio_{next(_numbers)}"
    _run(
        root, f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name} TEMPLATE template_studio"
    )
    yield _address(server, name)
    _run(root, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def blank_url(request, tmp_path):
    """The address of a database without any tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'blank.sqlite'}"
        return
    server, root = request.getfixturevalue("postgres_server")
    name = f"blank_{next(_numbers)}"
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
