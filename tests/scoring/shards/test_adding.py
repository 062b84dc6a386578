"""Metrics that are added to a finished run in shards: the files of a run that had all of them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from fabula.core import addresses
from fabula.core.addresses import Folder, RemotePlace
from fabula.core.errors import InputError, UserError
from fabula.core.table import read_scores
from fabula.datasets.tables.stories import StoryLayout
from fabula.scoring.folder import read_run
from fakes.object_store import BUCKET

from .conftest import make_rows, write_jsonl, write_parquet
from .test_run_shards import files_of, kill_workers, marks, score, start, wait_for_marks

pytest.importorskip("pyarrow")

FIRST, MORE = "words, rouge(n=2), cider", "mattr, self_bleu, perplexity(model='fake()')"


def record_of(folder: Path) -> dict[str, Any]:
    """What run.json says that does not depend on when and how long."""
    record = read_run(folder)
    for name in ("finished", "seconds", "cpu_s", "phases", "checksum"):
        record.pop(name)
    for entry in record["metrics"]:
        entry.pop("seconds")
    return record


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_and_record_are_those_of_a_run_that_had_all_metrics(
    tmp_path: Path, shards: str, jobs: int
):
    score(shards, tmp_path / "all", f"{FIRST}, {MORE}")
    score(shards, tmp_path / "run", FIRST)
    stories = {name: data for name, data in files_of(tmp_path / "run").items() if "stories" in name}
    stamps = [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("run/stories/*"))]
    result = score(shards, tmp_path / "run", MORE, jobs=jobs)
    assert result.kept == ("words", "rouge(n=2)", "cider")
    assert files_of(tmp_path / "run") == files_of(tmp_path / "all")
    assert stories.items() <= files_of(tmp_path / "run").items()
    assert stamps == [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("run/stories/*"))]
    assert record_of(tmp_path / "run") == record_of(tmp_path / "all")
    assert not (tmp_path / "run" / ".shards").exists()


def test_what_is_there_is_not_computed_again(tmp_path: Path, shards: str, monkeypatch: Any):
    from fabula.scoring.shards.worker import ShardWorker

    score(shards, tmp_path / "run", FIRST)
    asked: list[tuple[str, list[str]]] = []
    answer = ShardWorker.answer

    def note(self: Any, call: Any) -> Any:
        asked.append((call.verb, [metric.spec for metric in self.plan.metrics]))
        return answer(self, call)

    monkeypatch.setattr(ShardWorker, "answer", note)
    score(shards, tmp_path / "run", f"words, mattr, {FIRST}")
    assert asked and {tuple(specs) for _, specs in asked} == {("mattr",)}
    asked.clear()
    before = (tmp_path / "run" / "run.json").stat().st_mtime_ns
    assert len(score(shards, tmp_path / "run", "mattr, words").kept) == 4
    assert not asked
    assert (tmp_path / "run" / "run.json").stat().st_mtime_ns == before


def test_numbered_stories_and_shards_without_a_story_are_added_to(tmp_path: Path):
    rows = [{"text": f"story number {number}"} for number in range(30)]
    file = write_jsonl(tmp_path / "all.jsonl", [*rows[:10], *([{"text": None}] * 12), *rows[10:]])
    how: Any = {"layout": StoryLayout(skip_bad=True), "stories": 4}
    score(str(file), tmp_path / "all", "words, mattr", **how)
    score(str(file), tmp_path / "run", "words", **how)
    score(str(file), tmp_path / "run", "mattr", **how)
    assert any(part["stories"] == 0 for part in read_run(tmp_path / "run")["parts"])
    assert files_of(tmp_path / "run") == files_of(tmp_path / "all")


def test_a_metric_that_had_no_value_for_want_of_something_is_asked_again(
    tmp_path: Path, shards: str, monkeypatch: Any
):
    from fabula.metrics.mattr import Mattr

    value = Mattr.value

    def fail(self: Any, story: Any) -> float:
        if story.id == "s90":
            raise OSError("a model was not there")
        return float(value(self, story))

    monkeypatch.setattr(Mattr, "value", fail)
    score(shards, tmp_path / "run", "mattr, words")
    assert {str(s.status) for s in read_scores(tmp_path / "run") if s.story == "s90"} >= {"failed"}
    monkeypatch.setattr(Mattr, "value", value)
    assert score(shards, tmp_path / "run", "words").kept == ("mattr", "words")
    assert score(shards, tmp_path / "run", "mattr").kept == ("words",)
    score(shards, tmp_path / "all", "words, mattr")
    assert files_of(tmp_path / "run") == files_of(tmp_path / "all")


def test_other_stories_and_other_versions_are_refused(tmp_path: Path, monkeypatch: Any):
    from fabula.metrics.words import Words

    file = write_parquet(tmp_path / "all.parquet", make_rows(60))
    score(str(file), tmp_path / "run", "words")
    before = files_of(tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(Words, "revision", 99)
        with pytest.raises(UserError, match="holds words in another version"):
            score(str(file), tmp_path / "run", "words, mattr")
    write_parquet(file, make_rows(61))
    with pytest.raises(UserError, match=r"another run \(other files\)"):
        score(str(file), tmp_path / "run", "mattr")
    assert files_of(tmp_path / "run") == before and read_run(tmp_path / "run")


def test_a_part_that_was_altered_is_not_added_to(tmp_path: Path, shards: str):
    score(shards, tmp_path / "run", "words")
    part = tmp_path / "run" / "scores" / "part-00001.parquet"
    data = bytearray(part.read_bytes())
    data[40] ^= 1
    part.write_bytes(bytes(data))
    with pytest.raises(InputError, match=r"part-00001\.parquet was altered since"):
        score(shards, tmp_path / "run", "mattr")


def test_what_another_command_began_to_add_has_to_be_finished_first(
    tmp_path: Path, shards: str, monkeypatch: Any
):
    from fabula.scoring.shards import run

    score(shards, tmp_path / "run", "words")
    before = files_of(tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(run, "put_in_place", _fail_at(2, run.put_in_place))
        with pytest.raises(OSError, match="killed"):
            score(shards, tmp_path / "run", "mattr")
    (tmp_path / "run" / ".shards" / "run.json").unlink()  # it was killed a little earlier
    with pytest.raises(
        UserError, match=r"other metrics are being added to .* \(mattr\); add those"
    ):
        score(shards, tmp_path / "run", "rouge(n=2)")
    assert files_of(tmp_path / "run") == before
    # What is asked for is there: nothing is begun.
    assert score(shards, tmp_path / "run", "words").kept == ("words",)
    score(shards, tmp_path / "run", "mattr")
    score(shards, tmp_path / "run", "rouge(n=2)")
    score(shards, tmp_path / "all", "words, mattr, rouge(n=2)")
    assert files_of(tmp_path / "run") == files_of(tmp_path / "all")


def _fail_at(turn: int, act: Any) -> Any:
    """Give a function that does as another does, but is killed the so-manieth time."""
    turns: list[int] = []

    def do(*given: Any) -> Any:
        turns.append(1)
        if len(turns) == turn:
            raise OSError("killed")
        return act(*given)

    return do


@pytest.mark.parametrize("turn", [1, 2, 4])
def test_a_kill_while_files_are_put_in_place_is_made_good_by_the_next_command(
    tmp_path: Path, shards: str, monkeypatch: Any, turn: int
):
    score(shards, tmp_path / "run", "words")
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "move", _fail_at(turn, Folder.move))
        with pytest.raises(OSError, match="killed"):
            score(shards, tmp_path / "run", "mattr")
    if turn > 1:
        with pytest.raises(
            InputError, match=r"just being put in place; wait .* fabula score again"
        ):
            read_run(tmp_path / "run")
    assert score(shards, tmp_path / "run", "words").kept == ("words", "mattr")
    score(shards, tmp_path / "all", "words, mattr")
    assert files_of(tmp_path / "run") == files_of(tmp_path / "all")
    assert not (tmp_path / "run" / ".shards").exists()


def test_a_run_that_was_killed_at_its_very_end_is_added_to(
    tmp_path: Path, shards: str, monkeypatch: Any
):
    from fabula.scoring.shards import run

    with monkeypatch.context() as patch:
        patch.setattr(run, "clear_hidden", _fail_at(1, run.clear_hidden))
        with pytest.raises(OSError, match="killed"):
            score(shards, tmp_path / "run", "words")
    assert json.loads((tmp_path / "run" / ".shards" / "plan.json").read_text())
    score(shards, tmp_path / "run", "mattr")
    score(shards, tmp_path / "all", "words, mattr")
    assert files_of(tmp_path / "run") == files_of(tmp_path / "all")


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_a_kill_while_metrics_are_added_leaves_the_run_as_it_was_and_is_gone_on_from(
    tmp_path: Path, toy_environment: Any
):
    file = str(write_parquet(tmp_path / "all.parquet", make_rows(240)))
    first, more = ["-m", "words, cider"], ["-m", "slow(seconds=0.01), self_bleu"]
    every = ["-m", "words, cider, slow(seconds=0.01), self_bleu"]
    for folder, metrics in (("whole", every), ("run", first)):
        assert start(file, tmp_path / folder, *metrics, env=toy_environment).wait(180) == 0
    before = files_of(tmp_path / "run")
    for _ in range(2):
        driver = start(file, tmp_path / "run", *more, "-j", "2", env=toy_environment)
        scored = len([mark for mark in marks(tmp_path / "run") if mark.name.startswith("score")])
        wait_for_marks(driver, tmp_path / "run", 16 + scored)  # 15 are of the survey
        if driver.poll() is None:
            kill_workers(driver.pid)
            time.sleep(0.4)
        driver.kill()
        driver.wait()
        assert files_of(tmp_path / "run") == before and read_run(tmp_path / "run")
    assert (tmp_path / "run" / ".shards").is_dir(), "it was too fast to be killed"
    assert start(file, tmp_path / "run", *more, "-j", "2", env=toy_environment).wait(180) == 0
    assert files_of(tmp_path / "run") == files_of(tmp_path / "whole")


def test_metrics_are_added_at_an_address(tmp_path: Path, shards: str, store: Any, monkeypatch: Any):
    monkeypatch.setattr(addresses, "_FIRST_WAIT_S", 0.02)
    score(shards, tmp_path / "all", "words, mattr, cider")
    address = f"s3://{BUCKET}/added"
    score(shards, address, "words")
    store.on = True
    score(shards, address, "mattr, cider")
    store.on = False
    place = RemotePlace(address)
    for name, data in files_of(tmp_path / "all").items():
        assert place.read(name) == data
    assert place.sizes(".shards") == {}
