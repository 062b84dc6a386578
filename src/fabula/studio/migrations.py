"""The tables of a database as this version of Fabula wants them, or a sentence why not.

Every change of the tables is a revision in `_migrations`; a database knows which it has. All that
lie between are done in one transaction, by one process at a time, and a file of SQLite that holds
something is copied before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, inspect, text

from fabula.core.errors import Conflict
from fabula.studio.database import Studio, need_answer

_SCRIPTS = Path(__file__).parent / "_migrations"
# Any number will do, as long as nobody else takes it for something else.
_POSTGRES_LOCK = 0x0FAB07A


@dataclass(frozen=True)
class SchemaState:
    """What tables a database has: those of `database`, where this Fabula wants `package`.

    `empty` has none, `behind` is to be migrated, `ahead` is a newer Fabula's, and `foreign` holds
    tables that are no studio's.
    """

    state: Literal["empty", "behind", "current", "ahead", "foreign"]
    database: str
    package: str


@dataclass(frozen=True)
class Migrated:
    """What `migrate` did: from which state to which, and where the file of before lies."""

    before: SchemaState
    after: SchemaState
    copy: Path | None = None


def schema_state(studio: Studio) -> SchemaState:
    """Tell what tables a database has."""
    with studio.read() as db:
        return read_state(db)


def need_schema(studio: Studio) -> None:
    """Refuse a database that cannot be opened, or whose tables are not those of this version."""
    need_answer(studio)
    found = schema_state(studio)
    if found.state in ("empty", "behind"):
        problem = "has no tables yet" if found.state == "empty" else "has tables of an older Fabula"
        raise Conflict(f"the database {problem}", "run: fabula studio migrate")
    _refuse_unknown(found)


def migrate(studio: Studio) -> Migrated:
    """Bring a database to the tables of this version, all the way or not at all.

    Several processes may start at once: one does it, the others wait and find it done.
    """
    need_answer(studio)
    with hold_alone(studio) as db:
        before = read_state(db)
        _refuse_unknown(before)
        if before.state == "current":
            return Migrated(before, before)
        copy = _copy_file(studio, before) if studio.is_sqlite and before.database else None
        upgrade(db)
        return Migrated(before, read_state(db), copy)


def upgrade(db: Connection, revision: str = "head") -> None:
    """Bring a database that is held alone up to a revision."""
    config = _configure()
    if revision != "head":
        try:
            ScriptDirectory.from_config(config).get_revision(revision)
        except CommandError:
            raise Conflict(
                f"tables {revision} are those of a newer Fabula", "install that version"
            ) from None
    config.attributes["connection"] = db
    command.upgrade(config, revision)


def _configure() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    return config


def read_state(db: Connection) -> SchemaState:
    """Tell what tables the database of a transaction has."""
    scripts = ScriptDirectory.from_config(_configure())
    package = scripts.get_current_head() or ""
    found = MigrationContext.configure(db).get_current_revision()
    if found is None:
        return SchemaState("foreign" if inspect(db).get_table_names() else "empty", "", package)
    if found == package:
        return SchemaState("current", found, package)
    try:
        scripts.get_revision(found)
    except CommandError:
        return SchemaState("ahead", found, package)
    return SchemaState("behind", found, package)


def _refuse_unknown(found: SchemaState) -> None:
    if found.state == "ahead":
        raise Conflict(
            f"this database was made by a newer Fabula (tables {found.database}, and this version "
            f"knows them up to {found.package})",
            "install that version, or name another database with --database",
        )
    if found.state == "foreign":
        raise Conflict(
            "this database holds tables that are no studio's", "name an empty one with --database"
        )


@contextmanager
def hold_alone(studio: Studio) -> Iterator[Connection]:
    """Give one transaction beside which no other process migrates or restores."""
    if not studio.is_sqlite:
        with studio.write() as db:
            db.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _POSTGRES_LOCK})
            yield db
        return
    with studio.turn, studio.engine.connect() as db:
        db = db.execution_options(fabula_write=True)
        driver = db.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        # A table that is made anew would take the rows that name it along; checked at the end.
        # The pragma does nothing inside a transaction.
        driver.execute("PRAGMA foreign_keys = OFF")
        try:
            with db.begin():
                yield db
                if broken := db.exec_driver_sql("PRAGMA foreign_key_check").all():
                    raise Conflict(
                        f"a row of {broken[0][0]} would name one that is not there",
                        "restore another backup",
                    )
        finally:
            driver.execute("PRAGMA foreign_keys = ON")


def _copy_file(studio: Studio, before: SchemaState) -> Path:
    """Copy a file of SQLite beside itself; whoever calls holds it, so that nobody writes."""
    assert studio.engine.url.database
    source = Path(studio.engine.url.database)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    target = source.with_name(f"{source.name}.{before.database}-{stamp}")
    target.touch(mode=0o600)
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
    return target
