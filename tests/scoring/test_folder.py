from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError, UserError
from fabula.core.metric import Metric
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.folder import PARQUET, RUN, SCORES, STORIES, KeptMetrics, RunFolder, read_run
from fakes.runs import make_record

QUESTION = {"input": "abc", "columns": {"text": ["text"]}}
WORDS = choose_metrics("words")
ROW = '{"story": "1", "scorer": "words", "value": 2.0}\n'


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def publish(path: Path, text: str = ROW, question: dict[str, object] = QUESTION) -> None:
    folder = RunFolder(path)
    with folder.partial() as partial:
        (partial / STORIES).write_text("")
        (partial / SCORES).write_text(text)
        asked = question | {"metrics": [metric.identity for metric in WORDS]}
        folder.publish(partial, make_record(WORDS, question=asked))


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
    assert names(tmp_path / "deep" / "run") == [RUN, SCORES, STORIES]


def test_the_record_holds_the_checksum_of_every_file(tmp_path: Path) -> None:
    publish(tmp_path, "once\n")
    found = read_run(tmp_path)
    assert found["files"] == {
        name: hashlib.sha256(text).hexdigest()
        for name, text in ((STORIES, b""), (SCORES, b"once\n"))
    }
    assert QUESTION.items() <= found["question"].items()


def test_nothing_is_put_in_place_before_it_is_whole(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with pytest.raises(ZeroDivisionError), folder.partial() as partial:
        (partial / SCORES).write_text("half")
        assert names(tmp_path) == [".lock", partial.name]
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
    assert names(tmp_path) == [RUN, SCORES, STORIES]


def kept(path: Path, question: dict[str, object], metrics: list[Metric]) -> KeptMetrics:
    folder = RunFolder(path)
    folder.refuse_foreign()
    return folder.keep_metrics(question, metrics)


def test_the_same_stories_may_be_asked_again_and_others_may_not(tmp_path: Path) -> None:
    publish(tmp_path)
    assert kept(tmp_path, QUESTION, WORDS).specs == ["words"]
    assert kept(tmp_path, QUESTION, choose_metrics("bleu")).specs == ["words"]
    with pytest.raises(UserError) as caught:
        kept(tmp_path, QUESTION | {"input": "x"}, WORDS)
    line = str(caught.value)
    assert str(tmp_path) in line and "holds another run (other input)" in line
    assert "--overwrite" in line


def test_a_metric_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    publish(tmp_path)
    [words] = choose_metrics("words")
    object.__setattr__(words, "revision", 99)
    with pytest.raises(UserError, match="holds words in another version"):
        kept(tmp_path, QUESTION, [words])


@pytest.mark.parametrize(
    ("status", "again"), [("failed", True), ("missing_model", True), ("empty_text", False)]
)
def test_a_metric_whose_values_may_be_there_by_now_is_asked_again(
    tmp_path: Path, status: str, again: bool
) -> None:
    publish(tmp_path, ROW + ROW.replace("2.0", "null").replace("}", f', "status": "{status}"}}'))
    assert kept(tmp_path, QUESTION, WORDS).specs == ([] if again else ["words"])
    assert kept(tmp_path, QUESTION, choose_metrics("bleu")).specs == ["words"]


def test_an_empty_folder_refuses_nothing(tmp_path: Path) -> None:
    assert kept(tmp_path, QUESTION, WORDS) == KeptMetrics()
    assert kept(tmp_path / "absent", QUESTION, WORDS) == KeptMetrics()
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", [STORIES, SCORES, PARQUET, RUN])
def test_a_file_that_no_run_wrote_is_refused_unless_it_may_be_lost(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("mine\n")
    with pytest.raises(UserError, match=re.escape(name)):
        RunFolder(tmp_path).refuse_foreign()
    RunFolder(tmp_path).refuse_foreign(overwrite=True)
    with pytest.raises(UserError, match="is what is being read"):
        RunFolder(tmp_path).refuse_foreign([tmp_path / name], overwrite=True)


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_links_to_what_is_read_are_what_is_read(tmp_path: Path, link: Callable[..., None]) -> None:
    (tmp_path / "mine.jsonl").write_text("mine\n")
    (tmp_path / "run").mkdir()
    link(tmp_path / "mine.jsonl", tmp_path / "run" / STORIES)
    with pytest.raises(UserError, match="is what is being read"):
        RunFolder(tmp_path / "run").refuse_foreign([tmp_path / "mine.jsonl"], overwrite=True)


@pytest.mark.parametrize("name", [STORIES, SCORES])
def test_a_file_that_was_altered_is_named_by_whoever_reads_the_run(
    tmp_path: Path, name: str
) -> None:
    publish(tmp_path)
    with (tmp_path / name).open("a") as file:
        file.write("one more\n")
    with pytest.raises(InputError, match=f"{name} was altered since the run wrote it; put back"):
        read_run(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match=f"{name} is missing from the run"):
        read_run(tmp_path)


def test_a_record_that_was_altered_is_said(tmp_path: Path) -> None:
    publish(tmp_path)
    text = (tmp_path / RUN).read_text()
    (tmp_path / RUN).write_text(text.replace("0.1.0", "0.2.0"))
    with pytest.raises(InputError, match=r"run\.json was altered since the run wrote it"):
        read_run(tmp_path)


def change(record: dict[str, Any], path: str, value: Any) -> None:
    *above, last = path.split(".")
    for name in above:
        record = record[int(name) if name.isdigit() else name]
    if value is None:
        del record[last]
    else:
        record[last] = value


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("metrics", None, "metrics is missing"),
        ("metrics", {"a": 1}, "metrics must be a list"),
        ("metrics.0.spec", 7, r"metrics\[0\].spec must be a string"),
        ("metrics.0.direction", "sideways", "must be one of"),
        ("metrics.0.family", None, "family is missing"),
        ("input", "x", "input must be an object"),
        ("finished", "yesterday", "not the record of a run"),
        ("files", ["scores.jsonl"], "files must be an object"),
        ("question.metrics", [], "other metrics than were asked for"),
        ("versions", {"python": [[]]}, "versions.python must be a string"),
    ],
)
def test_a_record_of_wrong_types_is_a_line_that_names_them(
    tmp_path: Path, path: str, value: Any, words: str
) -> None:
    publish(tmp_path)
    record = json.loads((tmp_path / RUN).read_text())
    del record["checksum"]
    change(record, path, value)
    (tmp_path / RUN).write_text(json.dumps(record))
    with pytest.raises(InputError, match=words):
        read_run(tmp_path)


def test_a_record_that_is_nested_without_end_is_a_line(tmp_path: Path) -> None:
    publish(tmp_path)
    (tmp_path / RUN).write_text("[" * 100_000)
    with pytest.raises(InputError, match="not the record of a run"):
        read_run(tmp_path)


def test_a_record_without_an_end_is_not_read(tmp_path: Path) -> None:
    (tmp_path / RUN).symlink_to("/dev/zero")
    with pytest.raises(InputError, match="no run folder"):
        read_run(tmp_path)


def test_a_second_run_into_a_folder_is_refused_while_the_first_goes_on(tmp_path: Path) -> None:
    words = f"another run is being written .*{os.getpid()} on "
    with RunFolder(tmp_path).partial(), pytest.raises(UserError, match=words):
        publish(tmp_path)
    publish(tmp_path)
    assert names(tmp_path) == [RUN, SCORES, STORIES]


def test_the_lock_of_a_process_that_was_killed_is_taken_over(tmp_path: Path) -> None:
    words = "import sys, pathlib, time; from fabula.scoring.folder import RunFolder\n"
    words += (
        "with RunFolder(pathlib.Path(sys.argv[1])).partial(): print(flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", words, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline()
        with pytest.raises(UserError, match=f"process {process.pid} on "):
            publish(tmp_path)
        process.kill()
    publish(tmp_path)
    assert names(tmp_path) == [RUN, SCORES, STORIES]


def test_a_run_put_in_place_meanwhile_is_not_lost(tmp_path: Path) -> None:
    stamp = kept(tmp_path, QUESTION, WORDS).stamp
    publish(tmp_path)
    with pytest.raises(UserError, match="meanwhile"), RunFolder(tmp_path).partial(stamp):
        pass


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_what_was_being_put_in_place_when_a_run_was_killed_is_put_in_place(
    tmp_path: Path, moved: int
) -> None:
    publish(tmp_path / "whole", new := ROW.replace("2.0", "3.0"))
    publish(tmp_path / "run")
    partial = left_by(tmp_path / "run", ended_process())
    for path in (tmp_path / "whole").iterdir():
        path.replace(partial / path.name)
    for name in (STORIES, SCORES)[:moved]:
        (partial / name).replace(tmp_path / "run" / name)
    assert kept(tmp_path / "run", QUESTION, choose_metrics("bleu")).specs == ["words"]
    assert (tmp_path / "run" / SCORES).read_text() == new
    read_run(tmp_path / "run")


@pytest.mark.parametrize("text", ["not JSON", "", "[]", "null", '"text"', "\x80"])
def test_a_record_that_cannot_be_read_is_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / RUN).write_bytes(text.encode("latin-1"))
    with pytest.raises(UserError, match=r"run\.json"):
        kept(tmp_path, QUESTION, WORDS)


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
    assert names(tmp_path) == [RUN, SCORES, STORIES]


def test_a_file_in_place_of_the_folder_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="cannot be written"):
        publish(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_the_record_is_json_that_others_can_read(tmp_path: Path) -> None:
    publish(tmp_path, question=QUESTION | {"input": "réd"})
    text = (tmp_path / RUN).read_text(encoding="utf-8")
    assert "réd" in text and json.loads(text)["question"]["input"] == "réd"


def test_reading_a_folder_that_is_no_run_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run folder"):
        read_run(tmp_path)
