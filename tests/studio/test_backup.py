"""A studio in a file, and back, between databases."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import zipfile

import pytest
from sqlalchemy import insert, select

from fabula.core.errors import Conflict, InputError, UserError
from fabula.studio.backup import backup, check_backup, restore
from fabula.studio.database import open_studio
from fabula.studio.links import make_link
from fabula.studio.migrations import migrate, schema_state, upgrade
from fabula.studio.people import find_person, write_audit
from fabula.studio.sign_in import sign_in
from fabula.studio.tables import METADATA, audit, people
from fabula.studio.tokens import find_token
from fakes.studio_content import PASSWORD, fill_studio


def read_all(studio):
    """Every row of every table."""
    with studio.snapshot() as db:
        return {
            table.name: [
                dict(row)
                for row in db.execute(select(table).order_by(*table.primary_key.columns)).mappings()
            ]
            for table in METADATA.sorted_tables
        }


@pytest.fixture
def filled(studio):
    return fill_studio(studio)


@pytest.fixture(scope="module")
def whole_backup(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    whole = open_studio(f"sqlite:///{folder / 'studio.sqlite'}")
    migrate(whole)
    fill_studio(whole)
    backup(whole, folder / "whole.zip")
    whole.close()
    return (folder / "whole.zip").read_bytes()


@pytest.fixture
def archive(whole_backup, tmp_path):
    """A backup of a studio with something in every table."""
    path = tmp_path / "studio.zip"
    path.write_bytes(whole_backup)
    return path


def test_what_was_backed_up_is_what_is_restored(studio, filled, blank, tmp_path):
    """Into a blank database of each kind: the fixtures give all four pairs."""
    before = read_all(studio)
    assert all(before[name] for name in before if name not in ("links", "erasures"))
    made = backup(studio, tmp_path / "studio.zip")
    assert made.rows == sum(map(len, before.values())) and made.revision == "0001"
    assert restore(blank, tmp_path / "studio.zip") == made
    assert read_all(blank) == before
    assert schema_state(blank).state == "current"
    assert find_token(blank, filled.secret) == filled.ann
    assert sign_in(blank, "ann", PASSWORD).person == filled.ann
    with blank.write() as db:
        write_audit(db, None, "after")
    assert [row["action"] for row in read_all(blank)["audit"]][-1] == "after"


def test_a_restored_log_is_kept_as_any_other(archive, blank):
    restore(blank, archive)
    with pytest.raises(Exception, match="append-only"), blank.write() as db:
        db.execute(audit.delete())


def test_a_backup_is_one_moment_while_others_write(studio, tmp_path):
    stop, written = threading.Event(), []

    def write():
        while not stop.is_set():
            with studio.write() as db:
                name = f"p{len(written)}"
                db.execute(insert(people).values(name=name))
                write_audit(db, None, "create_person", name)
            written.append(name)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(written) < 20:
            time.sleep(0.002)
        backup(studio, tmp_path / "one.zip")
        atleast = len(written)
    finally:
        stop.set()
        writer.join()
    other = open_studio(f"sqlite:///{tmp_path / 'other.sqlite'}")
    restore(other, tmp_path / "one.zip")
    rows = read_all(other)
    other.close()
    assert {row["name"] for row in rows["people"]} == {row["object"] for row in rows["audit"]}
    assert 20 <= len(rows["people"]) <= atleast + 1


def test_a_studio_in_use_is_not_restored_into(studio, filled, tmp_path):
    backup(studio, tmp_path / "studio.zip")
    before = read_all(studio)
    with pytest.raises(Conflict, match="this studio is not empty"):
        restore(studio, tmp_path / "studio.zip")
    assert read_all(studio) == before


def test_a_studio_that_waits_for_its_first_person_is_empty(archive, studio):
    make_link(studio, None, purpose="first", roles=["admin"])
    held = {table.name: table.rows for table in restore(studio, archive).tables}
    assert find_person(studio, "ann").roles == {"author"}
    rows = read_all(studio)
    assert rows["links"] == [] and rows["audit"][0]["action"] == "make_link"
    assert len(rows["audit"]) == 1 + held["audit"] > 5


def test_a_backup_is_not_written_over_and_is_its_owners(studio, tmp_path):
    path = tmp_path / "studio.zip"
    backup(studio, path)
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(UserError, match="is there already"):
        backup(studio, path)
    backup(studio, path, overwrite=True)


def change_archive(path, name, change):
    with zipfile.ZipFile(path) as archive:
        members = {info: archive.read(info) for info in archive.namelist()}
    members[name] = change(members[name])
    with zipfile.ZipFile(path, "w") as archive:
        for info, data in members.items():
            archive.writestr(info, data)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("people.jsonl", lambda data: data.replace(b"ann", b"eve"), "people is damaged"),
        ("people.jsonl", lambda data: data.splitlines(True)[0], "people is damaged"),
        ("manifest.json", lambda data: b"{}", "no backup"),
        ("manifest.json", lambda data: b"[1]", "no backup"),
        ("manifest.json", lambda data: data.replace(b"backup 1", b"backup 2"), "no backup"),
        ("manifest.json", lambda data: data.replace(b'"0001"', b'"0999"'), "newer Fabula"),
    ],
)
def test_a_damaged_backup_changes_nothing(archive, tmp_path, name, change, message):
    blank = open_studio(f"sqlite:///{tmp_path / 'blank.sqlite'}")
    change_archive(archive, name, change)
    with pytest.raises((InputError, Conflict), match=message):
        restore(blank, archive)
    assert schema_state(blank).state == "empty"
    blank.close()


def test_what_is_no_backup_is_refused(tmp_path):
    path = tmp_path / "studio.zip"
    with pytest.raises(InputError, match="cannot be read"):
        check_backup(path)
    path.write_bytes(b"PK\3\4 not quite")
    with pytest.raises(InputError, match="no backup"):
        check_backup(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps({"format": "other"}))
    with pytest.raises(InputError, match="no backup"):
        check_backup(path)


def test_a_restore_that_fails_at_the_end_leaves_nothing(archive, blank, monkeypatch):
    def fail_at_the_end(db, revision="head"):
        if revision == "head":
            raise RuntimeError("the power is gone")
        upgrade(db, revision)

    monkeypatch.setattr("fabula.studio.backup.upgrade", fail_at_the_end)
    with pytest.raises(RuntimeError):
        restore(blank, archive)
    assert schema_state(blank).state == "empty"


def test_a_row_that_names_one_that_is_not_there_is_not_restored(archive, blank):
    games = {table.name: table for table in check_backup(archive).tables}["games"]
    nothing = hashlib.sha256(b"").hexdigest()
    change_archive(archive, "games.jsonl", lambda _: b"")
    change_archive(
        archive,
        "manifest.json",
        lambda data: data.replace(games.sha256.encode(), nothing.encode()).replace(
            b'"games",\n   "rows": 1', b'"games",\n   "rows": 0'
        ),
    )
    with pytest.raises(Exception, match=r"violates foreign key|would name one that is not there"):
        restore(blank, archive)
    assert schema_state(blank).state == "empty"
