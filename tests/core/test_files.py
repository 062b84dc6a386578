from __future__ import annotations

import os
from pathlib import Path

import pytest

from fabula.core.errors import UserError
from fabula.core.files import cache_home, data_home, open_atomically, write_text


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
