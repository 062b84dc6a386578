from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from threading import Timer

import pytest

from fabula.core.errors import UserError
from fabula.core.files import (
    cache_home,
    data_home,
    lock_file,
    note_written,
    open_atomically,
    refuse_foreign,
    write_ahead,
    write_text,
    write_texts,
)


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable set, and a home folder that is known."""
    for variable in ("FABULA_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", "/home/ann")


def test_without_variables_the_users_usual_folders_are_used() -> None:
    assert data_home() == Path("/home/ann/.local/share/fabula")
    assert cache_home() == Path("/home/ann/.cache/fabula")


def test_xdg_folders_come_before_the_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert data_home() == Path("/data/fabula")
    assert cache_home() == Path("/home/ann/.cache/fabula")


def test_fabula_home_comes_before_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.setenv("FABULA_HOME", "~/tales")
    assert data_home() == Path("/home/ann/tales")
    assert cache_home() == Path("/home/ann/tales/cache")


def test_a_file_that_is_written_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "notes.txt"
    write_text(path, "one\n")
    with pytest.raises(RuntimeError), open_atomically(path) as file:
        file.write("half")
        raise RuntimeError
    assert path.read_text() == "one\n" and list(path.parent.iterdir()) == [path]


def test_a_folder_is_no_file_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path, Path()):
        with pytest.raises(UserError, match="cannot be written"):
            write_text(path, "one")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names on Unix only")
def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "one")
    assert os.read(reader, 10) == b"one" and pipe.is_fifo()
    os.close(reader)


def test_what_fabula_wrote_may_be_written_again_and_what_it_did_not_may_not(tmp_path: Path) -> None:
    write_text(tmp_path / "ours.csv", "1\n")
    note_written(tmp_path, ["ours.csv"])
    refuse_foreign(tmp_path, ["ours.csv", "absent.csv"])
    write_text(tmp_path / "theirs.csv", "1\n")
    with pytest.raises(UserError, match=r"theirs\.csv is there, and not by Fabula; .*--overwrite"):
        refuse_foreign(tmp_path, ["ours.csv", "theirs.csv"])
    write_text(tmp_path / "ours.csv", "by hand\n")
    with pytest.raises(UserError, match=r"ours\.csv was altered since Fabula wrote it"):
        refuse_foreign(tmp_path, ["ours.csv"])
    refuse_foreign(tmp_path, ["ours.csv", "theirs.csv"], overwrite=True)


def test_a_kill_between_noting_and_writing_leaves_a_file_that_is_ours(tmp_path: Path) -> None:
    write_text(tmp_path / "page.html", "old")
    note_written(tmp_path, ["page.html"])
    write_text(tmp_path / "partial" / "page.html", "new")
    note_written(tmp_path, ["page.html"], tmp_path / "partial")
    refuse_foreign(tmp_path, ["page.html"])
    write_text(tmp_path / "page.html", "new")
    refuse_foreign(tmp_path, ["page.html"])


def test_a_link_and_a_list_that_cannot_be_read_vouch_for_nothing(tmp_path: Path) -> None:
    write_text(tmp_path / "mine.csv", "mine")
    (tmp_path / "ours.csv").symlink_to("mine.csv")
    note_written(tmp_path, ["ours.csv"])
    with pytest.raises(UserError, match="not by Fabula"):
        refuse_foreign(tmp_path, ["ours.csv"])
    (tmp_path / "ours.csv").unlink()
    write_text(tmp_path / "ours.csv", "1")
    for text in ("[" * 100_000, "[]", '{"files": {"ours.csv": 1}}', "{"):
        write_text(tmp_path / ".fabula.json", text)
        with pytest.raises(UserError, match="not by Fabula"):
            refuse_foreign(tmp_path, ["ours.csv"])


def test_pages_that_say_the_same_are_written_and_others_only_when_asked(tmp_path: Path) -> None:
    write_texts(tmp_path, {"a.md": "one", "b.md": "two"})
    write_texts(tmp_path, {"a.md": "one", "b.md": "two"})
    with pytest.raises(UserError, match=r"b\.md was altered"):
        write_texts(tmp_path, {"a.md": "new", "b.md": "other"} | {"a.md": "one"})
    write_texts(tmp_path, {"b.md": "other"}, overwrite=True)
    assert (tmp_path / "b.md").read_text() == "other"


def test_a_lock_lets_one_in_and_goes(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    taken = pytest.raises(BlockingIOError, match=f"{os.getpid()} on ")
    with lock_file(path), taken, lock_file(path, wait=False):
        pass
    assert not path.exists()
    with lock_file(path, wait=False):
        pass


def test_write_ahead_waits_where_sqlite_itself_gives_up_at_once(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    database = sqlite3.connect(file, isolation_level=None, timeout=30)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        write_ahead(database, 0)
    release = Timer(0.1, other.execute, ("COMMIT",))
    release.start()
    write_ahead(database, 30)
    release.join()
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()
    database.close()


def test_write_ahead_refuses_at_once_what_waiting_does_not_mend(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_text("no database, whatever it is called" * 40)
    database = sqlite3.connect(tmp_path / "a.sqlite")
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        write_ahead(database, 30)
    database.close()
