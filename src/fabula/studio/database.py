"""The database of a studio: SQLite in a file, or PostgreSQL by its address.

Both are used in the same way: `with studio.read() as db`, `with studio.write() as db`, each one
transaction. On SQLite one writes at a time, and a writer takes its turn before it reads (BEGIN
IMMEDIATE), so that nothing changes under its hands; on PostgreSQL verbs lock the rows they need.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects.postgresql import Insert as PostgresInsert
from sqlalchemy.dialects.sqlite import Insert as SqliteInsert
from sqlalchemy.engine import URL
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    DisconnectionError,
    DontWrapMixin,
    InterfaceError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import ConnectionPoolEntry

from fabula.core.errors import InputError, NoCapacity, PackageMissing, SettingError
from fabula.core.files import data_home, write_ahead

VARIABLE = "FABULA_DATABASE_URL"
BUSY_S = 30.0
_IDLE_S = 2.0
# Of many rows at once: not asked again in these words.
_LONG_STATEMENT = 10_000
# What is raised when a database does not answer: it is not there, it is full, others hold it.
NO_ANSWER: tuple[type[Exception], ...] = (InterfaceError, OperationalError, PoolTimeout)
_PRAGMAS = (
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
    def snapshot(self) -> Iterator[Connection]:
        """Look at one state of the database, however many questions are asked of it."""
        with self.engine.connect() as db:
            if not self.is_sqlite:
                db = db.execution_options(isolation_level="REPEATABLE READ")
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


def insert_new(db: Connection, table: Table, row: Mapping[str, Any]) -> str | None:
    """Write a row with an identity, and give it; None where another row is in its way.

    Unlike an error this lets the transaction go on, whatever the database.
    """
    fresh = make_insert(db, table).values(**row).on_conflict_do_nothing()
    new_id: str | None = db.scalar(fresh.returning(table.c.id))
    return new_id


def make_insert(db: Connection, table: Table) -> SqliteInsert | PostgresInsert:
    """Begin an insert that can say `on_conflict_do_nothing` and `on_conflict_do_update`."""
    return SqliteInsert(table) if db.dialect.name == "sqlite" else PostgresInsert(table)


class UnstorableText(InputError, DontWrapMixin):
    """A text with a character that one of the databases cannot hold."""

    def __init__(self) -> None:
        super().__init__(
            "a text holds a zero character or half a character, which cannot be kept",
            "take it out, and try again",
        )


def _refuse_unstorable(
    db: Connection, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
) -> None:
    """Refuse on both databases what PostgreSQL cannot hold, as something a user can mend."""
    for row in parameters if many else (parameters,):
        for value in row.values() if isinstance(row, Mapping) else row:
            if isinstance(value, str) and not value.isprintable():
                try:
                    value.encode()
                except UnicodeEncodeError:
                    raise UnstorableText from None
                if "\0" in value:
                    raise UnstorableText


def _dump_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # A zero is escaped; a backslash of somebody's own is escaped itself.
    if re.search(r"(?<!\\)(?:\\\\)*\\u0000", text):
        raise UnstorableText
    return text


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


def need_answer(studio: Studio) -> None:
    """Refuse a database that cannot be used: who starts a command is to read why."""
    try:
        with studio.read() as db:
            # SQLite opens any file, and looks into it when it is asked something.
            db.exec_driver_sql("SELECT 1 FROM sqlite_master" if studio.is_sqlite else "SELECT 1")
    except (DBAPIError, PoolTimeout, sqlite3.Error) as error:
        cause = getattr(error, "orig", None) or error
        said = cause.args[0] if cause.args else ""
        # PostgreSQL says what is wrong in fields, of which M is the message.
        reason = said.get("M") if isinstance(said, dict) else " ".join(str(said).split())[:200]
        raise NoCapacity(
            f"the database {studio.engine.url.render_as_string()} cannot be opened ({reason})",
            "start it, or check --database",
        ) from None


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
    file = Path(parts.database)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(
            f"the folder {file.parent} cannot be made ({error.strerror})", "name another file"
        ) from None
    arguments = {"timeout": BUSY_S, "check_same_thread": False}
    engine = create_engine(
        parts,
        connect_args=arguments,
        json_serializer=_dump_json,
        pool_size=16,
        max_overflow=48,
    )
    event.listen(engine, "before_cursor_execute", _refuse_unstorable)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: Any) -> None:
        # The driver begins no transaction of its own: `begin` below does, and says which.
        connection.isolation_level = None
        if not file.stat().st_size:
            # It will hold hashes of passwords, and what people write.
            file.chmod(0o600)
        write_ahead(connection, BUSY_S)
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
    # As other programs of PostgreSQL do, which the driver leaves to its caller.
    parts = parts.set(
        username=parts.username or os.environ.get("PGUSER") or getpass.getuser(),
        password=parts.password or os.environ.get("PGPASSWORD"),
    )
    socket = parts.query.get("host", "")
    if parts.drivername == "postgresql+pg8000" and str(socket).startswith("/"):
        # libpq's way to name the folder of a socket, in the driver's words.
        parts = parts.difference_update_query(["host"])
        parts = parts.update_query_dict({"unix_sock": f"{socket}/.s.PGSQL.{parts.port or 5432}"})
    try:
        engine = create_engine(
            parts,
            json_serializer=_dump_json,
            pool_size=16,
            max_overflow=16,
        )
    except ModuleNotFoundError as error:
        raise PackageMissing(error.name or "pg8000", "web") from None
    event.listen(engine, "before_cursor_execute", _refuse_unstorable)
    _try_idle(engine)
    if engine.dialect.driver == "pg8000":
        _translate_once()
    return engine


def _translate_once() -> None:
    """Have the driver translate the placeholders of a statement once.

    It goes through a statement letter by letter whenever it is run, which takes longer than
    most answers. What comes out depends on nothing but the statement.
    """
    from pg8000 import legacy  # type: ignore[import-untyped]

    translate = getattr(legacy, "convert_paramstyle", None)
    if translate is None or hasattr(translate, "__wrapped__"):
        return
    known = lru_cache(maxsize=1000)(lambda statement: translate("format", statement, ())[0])

    @wraps(translate)
    def convert(style: str, statement: str, values: Any) -> Any:
        if style != "format" or len(statement) > _LONG_STATEMENT:
            return translate(style, statement, values)
        return known(statement), values

    legacy.convert_paramstyle = convert


def _try_idle(engine: Engine) -> None:
    """Have connections tried that were not used for some seconds: the server may have gone.

    To try them every time, as the pool can, costs as much as a question.
    """

    @event.listens_for(engine, "checkin")
    def note(_: Any, record: ConnectionPoolEntry) -> None:
        record.info["used"] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def check(connection: Any, record: ConnectionPoolEntry, _: Any) -> None:
        if time.monotonic() - record.info.get("used", time.monotonic()) < _IDLE_S:
            return
        try:
            is_alive = engine.dialect.do_ping(connection)
            connection.rollback()
        except engine.dialect.loaded_dbapi.Error:
            is_alive = False
        if not is_alive:
            # The pool drops it and opens another.
            raise DisconnectionError
