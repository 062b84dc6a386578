"""The database of a studio: SQLite in a file, or PostgreSQL by its address.

Both are used in the same way: `with studio.read() as db`, `with studio.write() as db`, each one
transaction. On SQLite one writes at a time, and a writer takes its turn before it reads (BEGIN
IMMEDIATE), so that nothing changes under its hands; on PostgreSQL verbs lock the rows they need.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from fabula.core.errors import PackageMissing, SettingError
from fabula.core.files import data_home

VARIABLE = "FABULA_DATABASE_URL"
BUSY_S = 30.0
# What is raised when a database does not answer: it is not there, it is full, others hold it.
NO_ANSWER: tuple[type[Exception], ...] = (InterfaceError, OperationalError, PoolTimeout)
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    # A commit that was answered is on the disk.
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    # What REPLACE takes out fires the triggers that keep logs.
    "PRAGMA recursive_triggers = ON",
    f"PRAGMA busy_timeout = {BUSY_S * 1000:.0f}",
)


@dataclass(frozen=True)
class Studio:
    """An open database. `turn` lets the writers of this process queue up in order."""

    engine: Engine
    turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of SQLite."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Look at one state of the database."""
        with self.engine.connect() as db:
            yield db
            db.rollback()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Change the database: all of it or, if anything is raised, nothing."""
        if not self.is_sqlite:
            with self.engine.begin() as db:
                yield db
            return
        # SQLite wakes those who wait by chance; the lock does so in order.
        with self.turn, self.engine.connect() as db:
            db = db.execution_options(fabula_write=True)
            with db.begin():
                yield db

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def default_url() -> str:
    """The address that the environment names, or a file in the user's data folder."""
    if given := os.environ.get(VARIABLE, "").strip():
        return given
    return f"sqlite:///{data_home() / 'studio.sqlite'}"


def open_studio(url: str | None = None) -> Studio:
    """Open a database that is there, or an empty one; `migrate` makes its tables.

    `url` is such as `sqlite:///studio.sqlite` or `postgresql://user@host/name`.
    """
    parts = _read_url(url or default_url())
    engine = _open_sqlite(parts) if parts.get_backend_name() == "sqlite" else _open_server(parts)
    return Studio(engine)


def _read_url(url: str) -> URL:
    try:
        parts = make_url(url)
    except ArgumentError:
        raise SettingError(
            "this is no address of a database", "write sqlite:///FILE or postgresql://HOST/NAME"
        ) from None
    if parts.get_backend_name() not in ("sqlite", "postgresql"):
        raise SettingError(
            f"databases of {parts.get_backend_name()} are not supported",
            "use SQLite or PostgreSQL",
        )
    return parts


def _open_sqlite(parts: URL) -> Engine:
    if not parts.database or parts.database == ":memory:":
        raise SettingError(
            "a studio in memory would be gone with its process", "name a file: sqlite:///FILE"
        )
    Path(parts.database).parent.mkdir(parents=True, exist_ok=True)
    arguments = {"timeout": BUSY_S, "check_same_thread": False}
    engine = create_engine(parts, connect_args=arguments, pool_size=16, max_overflow=48)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: Any) -> None:
        # The driver begins no transaction of its own: `begin` below does, and says which.
        connection.isolation_level = None
        for pragma in _PRAGMAS:
            connection.execute(pragma)

    @event.listens_for(engine, "begin")
    def begin(db: Connection) -> None:
        is_write = db.get_execution_options().get("fabula_write")
        db.exec_driver_sql("BEGIN IMMEDIATE" if is_write else "BEGIN")

    return engine


def _open_server(parts: URL) -> Engine:
    if parts.drivername == "postgresql":
        parts = parts.set(drivername="postgresql+pg8000")
    socket = parts.query.get("host", "")
    if parts.drivername == "postgresql+pg8000" and str(socket).startswith("/"):
        # libpq's way to name the folder of a socket, in the driver's words.
        parts = parts.difference_update_query(["host"])
        parts = parts.update_query_dict({"unix_sock": f"{socket}/.s.PGSQL.{parts.port or 5432}"})
    try:
        return create_engine(parts, pool_size=16, max_overflow=16, pool_pre_ping=True)
    except ModuleNotFoundError as error:
        raise PackageMissing(error.name or "pg8000", "web") from None
