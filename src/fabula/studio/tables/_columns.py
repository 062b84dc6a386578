"""Kinds of columns: identities, moments in UTC, and JSON, alike on both databases."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import JSON, Column, DateTime, Dialect, ForeignKey, MetaData, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_N_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
# JSONB can be searched and does not keep the order of keys; nothing here relies on it.
Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
# A name in a closed list, spelled out in a check of its table.
Word = String(32)


class Moment(TypeDecorator[datetime]):
    """A moment in UTC; SQLite keeps no zone, so it is put back on the way out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Take moments that say where they are, and no others."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the moment with its zone."""
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


def new_id() -> str:
    """Make an identity that nobody can guess: 32 hexadecimal digits."""
    return uuid4().hex


def now() -> datetime:
    """This moment, in UTC."""
    return datetime.now(UTC)


def identity() -> Column[str]:
    """The column of an identity."""
    return Column("id", String(32), primary_key=True, default=new_id)


def belongs_to(target: str, name: str, *, on_delete: str = "CASCADE", **other: Any) -> Column[str]:
    """A column that names a row of another table; `nullable=False` unless told otherwise."""
    other = {"nullable": False, "index": True} | other
    return Column(name, String(32), ForeignKey(f"{target}.id", ondelete=on_delete), **other)


def moment(name: str, *, nullable: bool = False) -> Column[datetime]:
    """The column of a moment; one that must be there is now unless told otherwise."""
    return Column(name, Moment, nullable=nullable, default=None if nullable else now)
