"""One way of using two databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import DatabaseError

from fabula.core.errors import SettingError
from fabula.studio.database import open_studio
from fabula.studio.tables import people, roles


def names(studio):
    with studio.read() as db:
        return list(db.scalars(select(people.c.name)))


def test_a_transaction_that_fails_changes_nothing(studio):
    with pytest.raises(RuntimeError), studio.write() as db:
        db.execute(insert(people).values(name="ann"))
        raise RuntimeError
    assert names(studio) == []


def test_a_reader_sees_what_was_committed(studio):
    with studio.write() as db:
        db.execute(insert(people).values(name="ann"))
        assert names(studio) == []
    assert names(studio) == ["ann"]


def test_a_row_cannot_name_one_that_is_not_there(studio):
    with pytest.raises(DatabaseError), studio.write() as db:
        db.execute(insert(roles).values(person_id="0" * 32, role="author"))


def test_a_moment_comes_back_in_utc(studio):
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone(timedelta(hours=2)))
    with studio.write() as db:
        db.execute(insert(people).values(name="ann", seen_at=moment))
    with studio.read() as db:
        found = db.scalar(select(people.c.seen_at))
    assert found == moment and found.utcoffset() == timedelta(0) and found.tzinfo == UTC


@pytest.mark.parametrize("url", ["studio.sqlite", "mysql://host/name", "sqlite://", ""])
def test_an_address_that_will_not_do_is_refused(url, monkeypatch):
    monkeypatch.setenv("FABULA_DATABASE_URL", "nonsense")
    with pytest.raises(SettingError):
        open_studio(url)
