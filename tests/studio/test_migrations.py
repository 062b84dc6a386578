"""Migrations make the very tables that verbs use, once, on both databases."""

from __future__ import annotations

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import delete, insert, inspect, select, text, update
from sqlalchemy.exc import DatabaseError

from fabula.core.errors import Conflict
from fabula.studio.database import open_studio
from fabula.studio.migrations import migrate, need_schema, schema_state
from fabula.studio.tables import (
    METADATA,
    assignments,
    audit,
    drafts,
    edits,
    erasures,
    games,
    machines,
    people,
    scenes,
)
from fakes.first_migration import COMMAND, DIALECTS, find_file, render_tables


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_first_migration_is_that_of_the_tables(dialect):
    written = find_file(dialect).read_text(encoding="utf-8")
    assert written == render_tables(dialect), f"the tables have changed; run: {COMMAND}"


def test_migrating_makes_exactly_the_tables(studio):
    with studio.read() as db:
        context = MigrationContext.configure(db, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []


def test_a_blank_database_is_empty_then_current(blank):
    assert schema_state(blank).state == "empty"
    with pytest.raises(Conflict, match="fabula studio migrate"):
        need_schema(blank)
    done = migrate(blank)
    assert (done.before.state, done.after.state, done.copy) == ("empty", "current", None)
    assert schema_state(blank) == done.after
    need_schema(blank)


def test_migrating_again_does_nothing(studio):
    done = migrate(studio)
    assert done.before == done.after and done.copy is None


def test_processes_that_start_at_once_do_not_collide(blank_url):
    studios = [open_studio(blank_url) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(migrate, studios))
    assert sorted(one.before.state for one in done) == ["current"] * 3 + ["empty"]
    assert {one.after.state for one in done} == {"current"}
    for studio in studios:
        studio.close()


def test_a_newer_database_is_refused_with_a_sentence(studio):
    with studio.write() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert schema_state(studio).state == "ahead"
    for refuse in (migrate, need_schema):
        with pytest.raises(Conflict, match="made by a newer Fabula"):
            refuse(studio)


def test_tables_of_somebody_else_are_left_alone(blank):
    with blank.write() as db:
        db.execute(text("CREATE TABLE recipes (id INTEGER)"))
    with pytest.raises(Conflict, match="no studio's"):
        migrate(blank)
    with blank.read() as db:
        assert inspect(db).get_table_names() == ["recipes"]


def test_a_migration_that_fails_leaves_nothing(blank, monkeypatch):
    upgrade = command.upgrade

    def fail_at_the_end(config, revision):
        upgrade(config, revision)
        raise RuntimeError("the power is gone")

    monkeypatch.setattr("fabula.studio.migrations.command.upgrade", fail_at_the_end)
    with pytest.raises(RuntimeError):
        migrate(blank)
    assert schema_state(blank).state == "empty"
    with blank.read() as db:
        assert inspect(db).get_table_names() == []


def test_a_file_is_copied_before_it_is_upgraded(studio, monkeypatch, tmp_path):
    """An older database is made up: its revision is one that the scripts know as an ancestor."""
    if not studio.is_sqlite:
        pytest.skip("PostgreSQL is backed up by who runs it")
    scripts = tmp_path / "scripts"
    monkeypatch.setattr("fabula.studio.migrations._SCRIPTS", grow_scripts(scripts))
    with studio.write() as db:
        db.execute(insert(people).values(name="ann"))
    assert schema_state(studio).state == "behind"
    done = migrate(studio)
    assert done.after.database == "0002" and done.copy is not None
    with sqlite3.connect(done.copy) as copy:
        assert copy.execute("SELECT name FROM people").fetchall() == [("ann",)]
        assert copy.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    copy.close()
    with studio.read() as db:
        assert "hue" in {column["name"] for column in inspect(db).get_columns("people")}
        assert db.scalars(select(people.c.name)).all() == ["ann"]
        assert db.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def grow_scripts(folder: Path) -> Path:
    """Copy the migrations and add one that makes a table anew."""
    shutil.copytree(Path(find_file("sqlite")).parents[1], folder)
    (folder / "versions" / "0002_hue.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        "revision, down_revision = '0002', '0001'\n"
        "def upgrade():\n"
        "    with op.batch_alter_table('people', recreate='always') as batch:\n"
        "        batch.add_column(sa.Column('hue', sa.Integer))\n"
    )
    return folder


def write_log(studio):
    """One row in every append-only table; the identity of the draft."""
    with studio.write() as db:
        ids = {}
        for table, row in (
            (people, {"name": "ann"}),
            (games, {"owner_id": "people", "title": "t"}),
            (scenes, {"game_id": "games", "number": 1}),
            (machines, {"name": "m", "spec": "lorem"}),
            (drafts, {"game_id": "games", "scene_id": "scenes", "author_id": "people",
                      "key": "k", "format": "move"}),
        ):  # fmt: skip
            row = {name: ids.get(value, value) for name, value in row.items()}
            ids[table.name] = db.execute(insert(table).values(row)).inserted_primary_key.id
        edit = {"draft_id": ids["drafts"], "version": 1, "position": 0, "person_id": ids["people"]}
        span = {"start": 0, "stop": 0, "removed": "", "inserted": "Once", "source": "person"}
        db.execute(insert(edits).values(edit | span))
        db.execute(insert(audit).values(action="sign_in"))
        assigned = {"story": ids["games"], "number": 1, "machine_id": ids["machines"]}
        decision = {"reason": "first", "seed": 0, "turn": 1, "states": {}}
        db.execute(insert(assignments).values(assigned | decision))
    return ids["drafts"]


@pytest.mark.parametrize("table", [edits, audit, assignments], ids=str)
def test_a_log_cannot_be_changed_nor_shortened(studio, table):
    write_log(studio)
    column = {"edits": "inserted", "audit": "action", "assignments": "story"}[table.name]
    for change in (update(table).values({column: "forged"}), delete(table)):
        with pytest.raises(DatabaseError, match="append-only"), studio.write() as db:
            db.execute(change)
    with studio.read() as db:
        assert len(db.execute(select(table)).all()) == 1
        assert not db.execute(select(table).where(table.c[column] == "forged")).all()


def test_a_log_cannot_be_emptied_at_a_stroke(studio):
    write_log(studio)
    sneak = (
        "INSERT OR REPLACE INTO audit (id, at, action, object, detail) "
        "VALUES (1, '2026-01-01 00:00:00', 'forged', '', '{}')"
        if studio.is_sqlite
        else "TRUNCATE edits"
    )
    with pytest.raises(DatabaseError, match="append-only"), studio.write() as db:
        db.execute(text(sneak.replace(":", r"\:")))


def test_a_draft_goes_with_its_log_only_when_it_is_erased(studio):
    draft = write_log(studio)
    with pytest.raises(DatabaseError, match="append-only"), studio.write() as db:
        db.execute(delete(drafts))
    with studio.write() as db:
        db.execute(insert(erasures).values(draft_id=draft))
        db.execute(delete(drafts).where(drafts.c.id == draft))
    with studio.read() as db:
        assert db.execute(select(edits)).all() == []
        assert len(db.execute(select(audit)).all()) == 1


def test_the_log_of_an_erased_draft_cannot_be_rewritten_either(studio):
    draft = write_log(studio)
    with studio.write() as db:
        db.execute(insert(erasures).values(draft_id=draft))
    with pytest.raises(DatabaseError, match="append-only"), studio.write() as db:
        db.execute(update(edits).values(inserted="forged"))
