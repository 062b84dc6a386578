from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from fabula.core.errors import InputError, UserError
from fabula.scoring.folder import PARQUET, RUN, SCORES, RunFolder, read_run

QUESTION = {"input": "abc", "columns": {"text": ["text"]}, "metrics": ["words"]}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def publish(path: Path, text: str = "{}\n", question: dict[str, object] = QUESTION) -> None:
    folder = RunFolder(path)
    with folder.partial() as partial:
        (partial / SCORES).write_text(text)
        folder.publish(partial, {"question": question})


def left_by(path: Path, pid: int, node: str = "") -> Path:
    left = path / f".partial-{node or platform.node()}-{pid}"
    left.mkdir(parents=True)
    (left / SCORES).write_text("half a li")
    return left


def ended_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_files_are_put_in_place_and_the_hidden_folder_goes(tmp_path: Path) -> None:
    publish(tmp_path / "deep" / "run")
    assert names(tmp_path / "deep" / "run") == [RUN, SCORES]


def test_the_record_holds_the_checksum_of_every_file(tmp_path: Path) -> None:
    publish(tmp_path, "once\n")
    found = read_run(tmp_path)
    assert found["files"] == {SCORES: hashlib.sha256(b"once\n").hexdigest()}
    assert found["question"] == QUESTION


def test_nothing_is_put_in_place_before_it_is_whole(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with pytest.raises(ZeroDivisionError), folder.partial() as partial:
        (partial / SCORES).write_text("half")
        assert names(tmp_path) == [partial.name]
        raise ZeroDivisionError
    assert names(tmp_path) == []


def test_a_failure_leaves_the_files_of_an_earlier_run_alone(tmp_path: Path) -> None:
    publish(tmp_path, "earlier\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ZeroDivisionError), RunFolder(tmp_path).partial() as partial:
        (partial / SCORES).write_text("half")
        raise ZeroDivisionError
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_the_new_run_does_not_have_goes(tmp_path: Path) -> None:
    (tmp_path / PARQUET).write_text("of a run with pyarrow")
    publish(tmp_path)
    assert names(tmp_path) == [RUN, SCORES]


def test_the_same_question_may_be_asked_again_and_another_may_not(tmp_path: Path) -> None:
    publish(tmp_path)
    RunFolder(tmp_path).refuse_another(dict(QUESTION))
    with pytest.raises(UserError) as caught:
        RunFolder(tmp_path).refuse_another(QUESTION | {"input": "x", "metrics": ["bleu"]})
    line = str(caught.value)
    assert str(tmp_path) in line and "other input, other metrics" in line
    assert "--overwrite" in line


def test_an_empty_folder_refuses_nothing(tmp_path: Path) -> None:
    RunFolder(tmp_path).refuse_another(QUESTION)
    RunFolder(tmp_path / "absent").refuse_another(QUESTION)
    assert names(tmp_path) == []


@pytest.mark.parametrize("text", ["not JSON", "", "[]", "null", '"text"', "\x80"])
def test_a_record_that_cannot_be_read_is_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / RUN).write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=r"run\.json"):
        RunFolder(tmp_path).refuse_another(QUESTION)


def test_what_a_dead_process_left_is_swept(tmp_path: Path) -> None:
    left = left_by(tmp_path, ended_process())
    publish(tmp_path)
    assert not left.exists()


def test_what_a_living_process_or_another_machine_writes_is_kept(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        alive = left_by(tmp_path, process.pid)
        elsewhere = left_by(tmp_path, ended_process(), node="another-machine")
        publish(tmp_path)
        assert alive.exists() and elsewhere.exists()
        process.communicate(b"\n")


def test_what_a_killed_process_of_our_own_number_left_does_not_stand_in_the_way(
    tmp_path: Path,
) -> None:
    # In a container every run may be process 1 of a machine that keeps its name.
    left_by(tmp_path, os.getpid())
    publish(tmp_path, "whole\n")
    assert (tmp_path / SCORES).read_text() == "whole\n"
    assert names(tmp_path) == [RUN, SCORES]


def test_a_file_in_place_of_the_folder_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="cannot be written"):
        publish(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_the_record_is_json_that_others_can_read(tmp_path: Path) -> None:
    publish(tmp_path, question=QUESTION | {"metrics": ["réd"]})
    text = (tmp_path / RUN).read_text(encoding="utf-8")
    assert "réd" in text and json.loads(text)["question"]["metrics"] == ["réd"]


def test_reading_a_folder_that_is_no_run_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run folder"):
        read_run(tmp_path)
