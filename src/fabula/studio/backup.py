"""A whole studio in one file, taken while others write, and put back into an empty one.

The file is a zip of `manifest.json` and of a table of JSON lines each, the same whichever database
it comes from: a studio that outgrows SQLite is restored into PostgreSQL. The manifest names the
revision of the tables and the rows and checksum of each. Passwords and tokens are in it as hashes
only, yet it holds all that people wrote: it is readable by its owner alone.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Connection,
    DateTime,
    LargeBinary,
    MetaData,
    Table,
    event,
    func,
    insert,
    select,
    text,
)

from fabula._version import __version__
from fabula.core.errors import Conflict, InputError, UserError
from fabula.core.files import write_atomically
from fabula.core.protocols import watch
from fabula.studio.database import Studio
from fabula.studio.migrations import hold_alone, read_state, upgrade
from fabula.studio.tables import Json, Moment

_FORMAT = "fabula studio backup 1"
_MANIFEST = "manifest.json"
_HEX = "\\x"
_ROWS_AT_ONCE = 500
# What may be there before anybody has come: it gives way to what is restored.
_PASSING = {"links", "attempts", "settings", "audit"}


@dataclass(frozen=True)
class BackupTable:
    """A table in a backup."""

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Backup:
    """What a backup holds: `revision` is that of the tables."""

    revision: str
    made_at: str
    made_by: str
    tables: tuple[BackupTable, ...]
    format: str = _FORMAT

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        return sum(table.rows for table in self.tables)


def backup(studio: Studio, path: Path, *, overwrite: bool = False) -> Backup:
    """Write one moment of the studio into a file, and read it again to be sure.

    Nobody has to stop writing. A file of SQLite is checked for damage first.
    """
    if path.exists() and not overwrite:
        raise UserError(f"{path} is there already", "choose another file, or pass --overwrite")
    with studio.snapshot() as db:
        found = read_state(db)
        if found.state not in ("current", "behind"):
            raise Conflict("there is no studio in this database", "name another with --database")
        if studio.is_sqlite:
            _refuse_damage(db)
        with write_atomically(path) as partial:
            partial.touch(mode=0o600)
            with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
                tables = tuple(_write_table(db, archive, table) for table in _reflect(db))
                moment = datetime.now(UTC).isoformat(timespec="seconds")
                made = Backup(found.database, moment, f"fabula {__version__}", tables)
                archive.writestr(_MANIFEST, json.dumps(asdict(made), indent=1))
            check_backup(partial)
    return made


def restore(studio: Studio, path: Path) -> Backup:
    """Put a backup into an empty studio, all of it or nothing; it is checked before."""
    held = check_backup(path)
    with hold_alone(studio) as db, zipfile.ZipFile(path) as archive:
        if read_state(db).state == "empty":
            upgrade(db, held.revision)
        tables = {table.name: table for table in _reflect(db)}
        _refuse_rows(db, held, tables)
        for name in held.tables:
            if name.name not in tables:
                raise InputError(f"{path}: there is no table {name.name}", "look at its manifest")
            _read_table(db, archive, tables[name.name])
        if not studio.is_sqlite:
            _set_counters(db, tables)
        upgrade(db)
    return held


def check_backup(path: Path) -> Backup:
    """Read a backup from end to end and compare its checksums."""
    damaged = InputError(f"{path} is no backup of a studio, or damaged", "take another")
    try:
        with zipfile.ZipFile(path) as archive:
            fields = json.loads(archive.read(_MANIFEST))
            if fields.get("format") != _FORMAT:
                raise damaged
            tables = tuple(BackupTable(**table) for table in fields.pop("tables"))
            held = Backup(**fields, tables=tables)
            for table in held.tables:
                watch.get().tell(f"checking {table.name}")
                with archive.open(f"{table.name}.jsonl") as file:
                    lines, digest = 0, hashlib.sha256()
                    for line in file:
                        lines += 1
                        digest.update(line)
                if (lines, digest.hexdigest()) != (table.rows, table.sha256):
                    raise InputError(f"{path}: the table {table.name} is damaged", "take another")
            return held
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from None
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, AttributeError, EOFError):
        raise damaged from None


def _reflect(db: Connection) -> list[Table]:
    """Give the tables as they are in the database, whatever its revision, in order of need."""
    metadata = MetaData()

    @event.listens_for(metadata, "column_reflect")
    def unify(_inspector: Any, _table: Any, column: Any) -> None:
        if isinstance(column["type"], JSON):
            column["type"] = Json
        elif isinstance(column["type"], DateTime):
            column["type"] = Moment()

    metadata.reflect(db)
    return [table for table in metadata.sorted_tables if table.name != "alembic_version"]


def _refuse_damage(db: Connection) -> None:
    found = db.exec_driver_sql("PRAGMA integrity_check").scalar()
    if found != "ok":
        raise UserError(f"the database is damaged ({found})", "restore the last backup")


def _write_table(db: Connection, archive: zipfile.ZipFile, table: Table) -> BackupTable:
    watch.get().tell(f"writing {table.name}")
    # What refers to a row of its own table comes after it, as it has to when it is restored.
    own = [key.parent for key in table.foreign_keys if key.column.table is table]
    order = *(column.is_not(None) for column in own), *table.primary_key.columns
    rows = select(table).order_by(*order)
    stream = db.execute(rows, execution_options={"yield_per": _ROWS_AT_ONCE}).mappings()
    count, digest = 0, hashlib.sha256()
    with archive.open(f"{table.name}.jsonl", "w", force_zip64=True) as file:
        for row in stream:
            line = json.dumps(dict(row), ensure_ascii=False, default=_write_value).encode() + b"\n"
            file.write(line)
            digest.update(line)
            count += 1
    return BackupTable(table.name, count, digest.hexdigest())


def _write_value(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, bytes | memoryview):
        # As PostgreSQL reads and writes it.
        return f"{_HEX}{bytes(value).hex()}"
    raise TypeError(f"{type(value).__name__} has no place in a backup")


def _refuse_rows(db: Connection, held: Backup, tables: dict[str, Table]) -> None:
    """Refuse a studio that somebody uses, and tables that the backup does not fit."""
    found = read_state(db)
    if found.state in ("ahead", "foreign") or found.database != held.revision:
        raise Conflict(
            f"this database has tables {found.database or 'of its own'}, and the backup "
            f"{held.revision}",
            "restore it into a database without any tables",
        )
    for name, table in tables.items():
        if name not in _PASSING and db.execute(select(table).limit(1)).first():
            raise Conflict(
                f"this studio is not empty: it has {name}",
                "restore into an empty database, named with --database",
            )
    # The log of an empty studio tells of links for its first person, and keeps what it has.
    for name in sorted(_PASSING - {"audit"}):
        db.execute(tables[name].delete())


def _read_table(db: Connection, archive: zipfile.ZipFile, table: Table) -> None:
    watch.get().tell(f"restoring {table.name}")
    with archive.open(f"{table.name}.jsonl") as file:
        rows: Iterator[Any] = map(json.loads, file)
        if table.name == "audit":
            first = db.scalar(select(func.max(table.c.id))) or 0
            rows = (row | {"id": first + row["id"]} for row in rows)
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            if db.dialect.name == "postgresql":
                # One statement for all rows, made of them by the server.
                db.execute(
                    text(
                        f'INSERT INTO "{table.name}" SELECT * FROM '
                        f'jsonb_populate_recordset(NULL::"{table.name}", CAST(:rows AS jsonb))'
                    ),
                    {"rows": json.dumps(batch, ensure_ascii=False)},
                )
            else:
                db.execute(insert(table), list(_read_values(table, batch)))


def _read_values(table: Table, batch: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Make moments and bytes of what JSON holds in their place."""
    moments = [column.name for column in table.columns if isinstance(column.type, Moment)]
    binaries = [column.name for column in table.columns if isinstance(column.type, LargeBinary)]
    for row in batch:
        for name in moments:
            row[name] = datetime.fromisoformat(row[name]) if row[name] else None
        for name in binaries:
            row[name] = bytes.fromhex(row[name].removeprefix(_HEX)) if row[name] else row[name]
        yield row


def _set_counters(db: Connection, tables: dict[str, Table]) -> None:
    """Let PostgreSQL number on from the greatest number that came in."""
    for name in tables:
        counter = text("SELECT pg_get_serial_sequence(:name, 'id')")
        columns = tables[name].columns
        if "id" in columns and (sequence := db.scalar(counter, {"name": name})):
            after = text(
                f'SELECT setval(:sequence, COALESCE((SELECT max(id) FROM "{name}"), 0) + 1, false)'
            )
            db.execute(after, {"sequence": sequence})
