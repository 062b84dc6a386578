"""Runs below a folder: done, going on, stopped, broken."""

from __future__ import annotations

import json
import os
import platform

import pytest

from fabula.core.score import Score, Status, Summary
from fabula.core.story import Story
from fabula.core.table import score_row
from fabula.datasets.tables.stories import StoryLayout
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.folder import RUN
from fabula.scoring.run_list import Follower, find_runs, open_follower
from fabula.scoring.shards.run import ShardOptions, run_shards
from fabula.scoring.shards.worker import ShardWorker
from fakes.runs import write_run

DEAD, HERE = 2**22 - 3, platform.node()


def begin(folder, pid, *, node=HERE, stories=3, metrics=("length",)):
    """A run that somebody has begun to write."""
    partial = folder / f".partial-{node}-{pid}-x1y2"
    partial.mkdir(parents=True)
    told = {"started": "2026-02-03T10:00:00+00:00", "input": "new.jsonl", "stories": stories}
    (partial / "begun.json").write_text(json.dumps(told | {"metrics": list(metrics)}))
    return partial


def test_runs_are_found_wherever_they_lie_the_latest_first(tmp_path):
    write_run(tmp_path / "a")
    write_run(tmp_path / "deep" / "er" / "b")
    (tmp_path / "no run").mkdir()
    (tmp_path / ".hidden").mkdir()
    runs = find_runs(tmp_path)
    assert sorted(run.name for run in runs) == ["a", "deep/er/b"]
    assert {run.state for run in runs} == {"finished"}
    assert runs[0].moment >= runs[1].moment
    assert runs[0].stories == runs[0].record["input"]["stories"] > 0
    assert runs[0].metrics == [entry["spec"] for entry in runs[0].record["metrics"]]


def test_a_folder_may_itself_be_a_run(tmp_path):
    write_run(tmp_path / "a")
    assert [run.name for run in find_runs(tmp_path / "a")] == ["."]


def test_a_record_that_was_altered_says_so(tmp_path):
    write_run(tmp_path / "a")
    record = json.loads((tmp_path / "a" / RUN).read_text())
    (tmp_path / "a" / RUN).write_text(json.dumps(record | {"seconds": 999}))
    [run] = find_runs(tmp_path)
    assert run.state == "broken"
    assert "altered" in run.problem


@pytest.mark.parametrize(
    ("pid", "node", "state"),
    [
        (os.getpid(), platform.node(), "going"),
        (DEAD, platform.node(), "stopped"),
        (DEAD, "another-machine", "going"),
    ],
    ids=["ours", "ended", "elsewhere"],
)
def test_a_run_goes_on_for_as_long_as_who_writes_it_lives(tmp_path, pid, node, state):
    begin(tmp_path / "new", pid, node=node)
    [run] = find_runs(tmp_path)
    assert (run.name, run.state, run.input, run.stories) == ("new", state, "new.jsonl", 3)
    assert run.metrics == ["length"]
    assert run.systems == []


def test_a_run_that_gets_more_metrics_is_both(tmp_path):
    write_run(tmp_path / "a")
    begin(tmp_path / "a", os.getpid(), metrics=("bleu",))
    [run] = find_runs(tmp_path)
    assert run.state == "going"
    assert run.record is not None
    assert run.metrics[-1] == "bleu"
    assert len(run.metrics) == len(run.record["metrics"]) + 1


def test_what_a_killed_run_left_does_not_hide_a_run_that_is_whole(tmp_path):
    write_run(tmp_path / "a")
    begin(tmp_path / "a", DEAD)
    [run] = find_runs(tmp_path)
    assert run.state == "finished"


def spell(system, name, value):
    story = Story(name, "A text.", system=system)
    return json.dumps(score_row(story, Score(name, "length", "", value))) + "\n"


def test_a_follower_reads_on_where_it_was_and_waits_for_whole_lines(tmp_path):
    partial = begin(tmp_path / "new", os.getpid())
    follower = Follower(partial)
    follower.look()
    assert follower.stories == 0
    third = spell("a", "3", 8.0)
    (partial / "scores.jsonl").write_text(spell("a", "1", 2.0) + spell("b", "2", 5.0) + third[:9])
    follower.look()
    assert follower.stories == 2
    with (partial / "scores.jsonl").open("a") as file:
        file.write(third[9:])
    follower.look()
    follower.look()
    assert follower.stories == 3
    means = {system: cell.mean for system, cell in follower.summary.cells["length", ""].items()}
    assert means == {"a": 5.0, "b": 5.0}


def test_a_summary_comes_back_from_its_rows():
    summary = Summary()
    for value in (1.0, 2.0, 6.0):
        summary.add("a", Score("s", "length", "", value))
    summary.add("a", Score("s", "length", "", float("nan"), status=Status.EMPTY_TEXT))
    again = Summary.from_rows(summary.rows())
    assert again.rows() == summary.rows()
    assert again.systems == ["a"]


def test_a_run_in_shards_is_seen_from_its_first_moment(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    rows = [{"id": f"s{n}", "text": "A lamp went out.", "system": "ab"[n % 2]} for n in range(40)]
    file = tmp_path / "all.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer, seen = ShardWorker.answer, []

    def look(self, call):
        [run] = find_runs(tmp_path)
        follower = open_follower(run.partial)
        follower.look()
        seen.append((call.verb, run.state, run.stories, follower.stories))
        return answer(self, call)

    def score(metrics):
        seen.clear()
        options = ShardOptions(str(tmp_path / "run"), stories=20)
        run_shards([str(file)], StoryLayout(), choose_metrics(metrics), options)

    monkeypatch.setattr(ShardWorker, "answer", look)
    score("words")
    assert seen[0] == ("survey", "going", None, 0)
    # The file is cut by bytes.
    assert seen[2:] == [("score", "going", 40, 0), ("score", "going", 40, 21)]
    [run] = find_runs(tmp_path)
    assert (run.state, run.partial) == ("finished", None)
    score("words, mattr")
    assert seen[-1] == ("score", "going", 40, 21)


def test_a_run_in_shards_that_was_ended_is_stopped(tmp_path):
    hidden = tmp_path / "run" / ".shards"
    hidden.mkdir(parents=True)
    told = {"started": "2026-01-01T00:00:00+00:00", "input": "a", "stories": 3, "metrics": ["x"]}
    (hidden / "begun.json").write_text(json.dumps(told))
    lock = tmp_path / "run" / ".lock"
    for words, state in (
        (None, "stopped"),
        (f"{DEAD} on {platform.node()}", "stopped"),
        (f"{os.getpid()} on {platform.node()}", "going"),
        (f"{DEAD} on another-machine", "going"),
    ):
        if words:
            lock.write_text(words)
        [run] = find_runs(tmp_path)
        assert (run.name, run.state, run.stories) == ("run", state, 3), words
