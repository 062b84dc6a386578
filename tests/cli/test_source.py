"""What FILE of `fabula score` may name: a file, an added data set, or stdin."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.datasets import DATASETS
from fakes.release_samples import SAMPLES, put

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
TABLE = "id,text,fun\n1,One two three.,3\n2,One.,4\n"
SCORE = ("-m", "words", "-q", "--scores", "--no-cache")


def values(done: subprocess.CompletedProcess[bytes]) -> dict[str, float]:
    assert (done.returncode, done.stderr) == (0, b"")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["story"]: line["value"] for line in lines}


@pytest.fixture
def own(fabula: Run, tmp_path: Path) -> Path:
    """A table that was added as `own`."""
    path = tmp_path / "tales.csv"
    path.write_text(TABLE, encoding="utf-8")
    assert fabula("data", "add", "own", path, "--gold", "fun").returncode == 0
    return path


def test_a_table_that_was_added_is_scored_by_its_name(fabula: Run, own: Path) -> None:
    assert values(fabula("score", "own", *SCORE)) == {"1": 3.0, "2": 1.0}
    assert values(fabula("score", own, *SCORE)) == {"1": 3.0, "2": 1.0}


def test_a_run_of_a_name_says_the_name(fabula: Run, own: Path, tmp_path: Path) -> None:
    done = fabula("score", "own", "-m", "words", "-o", "run", "-q")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert record["input"]["path"] == "own" and record["input"]["stories"] == 2


def test_a_release_that_was_added_is_scored_by_its_name(fabula: Run, shared: Path) -> None:
    assert fabula("data", "add", "hanna", shared / "data" / "hanna").returncode == 0
    found = values(fabula("score", "hanna", *SCORE))
    assert len(found) == 1056 and min(found.values()) > 0


def test_a_release_that_is_not_whole_is_refused(fabula: Run, tmp_path: Path) -> None:
    folder = put(tmp_path / "mans", SAMPLES["mans"])
    assert fabula("data", "add", "mans", folder).returncode == 0
    done = fabula("score", "mans", *SCORE)
    assert done.returncode == 2 and b"mans: 6 stories where the release has 2,000" in done.stderr


def test_a_folder_of_that_name_does_not_hide_the_data_set(
    fabula: Run, own: Path, tmp_path: Path
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "other.txt").write_text("Another tale of many words.", encoding="utf-8")
    assert values(fabula("score", "own", *SCORE)) == {"1": 3.0, "2": 1.0}
    assert set(values(fabula("score", "./own", *SCORE))) == {"other"}


def test_the_bundled_examples_have_a_name(fabula: Run) -> None:
    assert len(values(fabula("score", "examples", *SCORE))) > 10


def test_table_alone_is_no_name(fabula: Run, own: Path) -> None:
    done = fabula("score", "table", *SCORE)
    assert done.returncode == 2 and not done.stdout
    assert "table: no such file or data set" in done.stderr.decode()


def test_a_name_that_means_nothing_is_told_all_data_sets(fabula: Run, own: Path) -> None:
    done = fabula("score", "hannah", *SCORE)
    said = done.stderr.decode()
    assert done.returncode == 2 and len(said.splitlines()) == 1
    assert "hannah: no such file or data set" in said
    listed = said.split("data sets: ")[1].strip().split(", ")
    assert listed == sorted({*DATASETS.names(), "own"} - {"table"})


def test_a_release_that_is_not_at_hand_says_how_to_add_it(fabula: Run) -> None:
    done = fabula("score", "hanna", *SCORE)
    assert done.returncode == 2 and b"fabula data add" in done.stderr
    assert b"Traceback" not in done.stderr


def test_stories_may_come_by_stdin(fabula: Run) -> None:
    lines = b'{"id": "a", "text": "One two."}\n{"id": "b", "text": "One."}\n'
    assert values(fabula("score", "-", *SCORE, stdin=lines)) == {"a": 2.0, "b": 1.0}
    table = fabula("score", "-", *SCORE, "--input-format", "csv", stdin=TABLE.encode())
    assert values(table) == {"1": 3.0, "2": 1.0}
    empty = fabula("score", "-", *SCORE, stdin=b"nonsense\n")
    assert empty.returncode == 2 and b"stdin" in empty.stderr
