"""What comes through a pipe is put aside: so much and no more, and it does not stay."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fabula.core.errors import InputError
from fabula.datasets.table import read_table
from fabula.datasets.tables import spool
from fabula.datasets.tables.spool import make_spool
from fabula.datasets.tables.stories import StoryLayout, load_stories, open_stories


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == [], "nothing stays"


class Endless(io.RawIOBase):
    def __init__(self, pattern: bytes) -> None:
        self.pattern = pattern
        self.given = 0

    def read(self, size: int = -1) -> bytes:
        self.given += size
        return (self.pattern * (size // len(self.pattern) + 1))[:size]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (b"\0", "stdin: a line longer than 1 MiB; check that"),
        (b"y\n", "stdin: more than 3 MiB, and no end in sight; write it into a file"),
    ],
)
def test_what_has_no_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, pattern: bytes, words: str
) -> None:
    endless = Endless(pattern)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=endless))
    monkeypatch.setattr(spool, "MOST_BYTES", 3 * 1024**2)
    monkeypatch.setattr(spool, "MOST_LINE_BYTES", 1024**2)
    with pytest.raises(InputError, match=words), open_stories("-", StoryLayout()):
        pass
    assert endless.given <= 5 * 1024**2


def test_half_of_the_room_stays_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Endless(b"y\n")))
    usage = SimpleNamespace(free=4 * 1024**2)
    monkeypatch.setattr(spool.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(InputError, match="more than 2 MiB"), open_stories("-", StoryLayout()):
        pass


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device without an end")
def test_a_device_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MOST_FILE_BYTES", 2 * 1024**2)
    monkeypatch.setattr(spool, "MOST_LINE_BYTES", 1024**2)
    with pytest.raises(InputError, match="/dev/zero: a line longer"):
        open_stories("/dev/zero", StoryLayout()).__enter__()
    with pytest.raises(InputError, match="/dev/zero: more than 2 MiB"):
        load_stories("/dev/zero")


def test_a_pipe_is_read_as_its_name_says(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names here")
    pipe = tmp_path / "ratings.csv"
    os.mkfifo(pipe)
    words = "import sys; open(sys.argv[1], 'w').write('id;text;fun\\n1;a;0,5\\n2;b;1,5\\n')"
    for read in (read_fun, lambda path: [story.text for story in load_stories(str(path))]):
        writer = subprocess.Popen([sys.executable, "-c", words, str(pipe)])
        assert read(pipe) in ([0.5, 1.5], ["a", "b"])
        assert writer.wait() == 0


def read_fun(path: Path) -> list[Any]:
    return [score.value for score in read_table(path, gold=["fun"]).ratings]


KILLED = """
import tempfile, sys, time
tempfile.tempdir = sys.argv[1]
from fabula.datasets.tables.spool import make_spool
with make_spool() as folder:
    (folder / "stories.jsonl").write_text("much")
    print(folder, flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_what_a_killed_process_left_is_swept_and_what_a_living_one_has_is_not(
    temporary: Path,
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(temporary)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    folder = Path(process.stdout.readline().strip())
    with make_spool() as mine:
        assert folder.is_dir() and mine.is_dir()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (folder / "stories.jsonl").is_file()
    other = temporary / "fabula-aside-of-somebody"
    other.symlink_to(temporary.parent)
    with make_spool():
        assert not folder.exists() and other.is_symlink()
    other.unlink()
