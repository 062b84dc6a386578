"""One way of using two databases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import DatabaseError

from fabula.core.errors import InputError, NoCapacity, SettingError
from fabula.studio.database import need_answer, open_studio
from fabula.studio.tables import audit, people, roles


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


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"], ids=ascii)
def test_what_one_database_cannot_hold_is_refused_by_both(studio, text):
    for table, row in (
        (people, {"name": "ann", "display": text}),
        (audit, {"action": "a", "detail": {"deep": [{"er": text}]}}),
        (audit, {"action": "a", "detail": {text: 1}}),
    ):
        with pytest.raises(InputError, match="cannot be kept"), studio.write() as db:
            db.execute(insert(table).values(row))
        with pytest.raises(InputError, match="cannot be kept"), studio.read() as db:
            db.execute(select(people).where(people.c.name == text))
    assert names(studio) == []


@pytest.mark.parametrize(
    "text", [r"\u0000", r"\\u0000", "\U0001f40c\n\t\u2028", "\x7f\x01"], ids=ascii
)
def test_odd_characters_come_back_as_they_were(studio, text):
    with studio.write() as db:
        db.execute(insert(people).values(name="ann", display=text))
        db.execute(insert(audit).values(action="a", detail={text: [text]}))
    with studio.read() as db:
        assert db.scalar(select(people.c.display)) == text
        assert db.scalar(select(audit.c.detail)) == {text: [text]}


@pytest.mark.parametrize("url", ["postgresql://ann:secret@127.0.0.1:1/x", "sqlite:///{folder}"])
def test_a_database_that_cannot_be_opened_is_named_without_its_password(url, tmp_path):
    studio = open_studio(url.format(folder=tmp_path))
    with pytest.raises(NoCapacity) as refused:
        need_answer(studio)
    assert "cannot be opened" in str(refused.value) and "secret" not in str(refused.value)


def test_a_file_is_its_owners_alone(tmp_path):
    studio = open_studio(f"sqlite:///{tmp_path / 'new.sqlite'}")
    need_answer(studio)
    with studio.write() as db:
        db.exec_driver_sql("CREATE TABLE notes (id INTEGER)")
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    studio.close()
    assert set(modes.values()) == {0o600} and "new.sqlite-wal" in modes


def test_a_connection_that_the_server_has_closed_is_replaced(studio, monkeypatch):
    if studio.is_sqlite:
        pytest.skip("a file has no server that closes connections")
    with studio.read() as db:
        mine = db.exec_driver_sql("SELECT pg_backend_pid()").scalar()
    other = open_studio(studio.engine.url.render_as_string(hide_password=False))
    with other.read() as db:
        # Waits until it is gone.
        ended = db.exec_driver_sql("SELECT pg_terminate_backend(%s, 10000)", (mine,)).scalar()
    other.close()
    assert ended
    monkeypatch.setattr("fabula.studio.database._IDLE_S", 0.0)
    with studio.read() as db:
        assert db.exec_driver_sql("SELECT pg_backend_pid()").scalar() != mine
