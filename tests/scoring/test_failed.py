"""A metric that raises on one story costs that score, not the run, unless that is strict."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.core.errors import UserError
from fabula.core.metric import Metric
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.scoring.cache import ScoreCache
from fabula.scoring.evaluate import evaluate

Toy = Callable[..., Metric]
STORIES = [
    Story(str(n), "a bug" if n == 11 else f"text {n}", system="ab"[n % 2]) for n in range(20)
]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", ["buggy", "fussy"])
def test_a_metric_that_raises_fails_on_that_story_alone(toy: Toy, name: str, jobs: int) -> None:
    table = evaluate(STORIES, [toy(name), toy("counted")], jobs=jobs)
    failed = [score for score in table if not score.ok]
    assert [(score.story, score.scorer, score.status) for score in failed] == [
        ("11", name, Status.FAILED)
    ]
    assert failed[0].note.startswith("ZeroDivisionError: a bug")
    assert failed[0].note.endswith("(story '11')") and "\n" not in failed[0].note
    assert len(list(table)) == 40


@pytest.mark.parametrize(
    ("how", "note"),
    [
        ("exit", "SystemExit: 0"),
        ("few", "TypeError: fussy(how='few') gave 0 readings for 1 stories"),
        ("words", "TypeError: must be real number, not str"),
        ("plain", "TypeError: 3.0 is no reading of 1 value"),
    ],
)
def test_other_ways_to_go_wrong_fail_too(toy: Toy, how: str, note: str) -> None:
    failed = [score for score in evaluate(STORIES, toy("fussy", how=how)) if not score.ok]
    assert [(score.story, score.note) for score in failed] == [("11", f"{note} (story '11')")]


def test_want_of_memory_and_what_the_user_can_mend_end_the_run(toy: Toy) -> None:
    with pytest.raises(MemoryError):
        evaluate(STORIES, toy("fussy", how="memory"))
    with pytest.raises(UserError, match="fabula models pull it"):
        evaluate(STORIES, toy("fussy", how="user"))


def test_a_batch_at_which_a_metric_raises_fails_as_a_whole(toy: Toy) -> None:
    table = evaluate(STORIES, toy("spread"))
    failed = {score.story: score.note for score in table if score.status is Status.FAILED}
    assert list(failed) == [story.id for story in STORIES if story.system == "b"]
    assert failed["1"] == "ValueError: no bugs here, at story '11' of its batch (story '1')"


def test_what_failed_is_not_kept_so_that_a_mended_metric_reads_it(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric, cache = toy("buggy"), tmp_path / "kept.sqlite"
    evaluate(STORIES, metric, cache=cache)
    with ScoreCache(cache) as store:
        assert len(store) == len(STORIES) - 1
    monkeypatch.setattr(type(metric), "value", lambda self, story: 2.0)
    values = {score.story: score.value for score in evaluate(STORIES, metric, cache=cache)}
    assert values["11"] == 2.0 and values["0"] == 1.0


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", ["buggy", "fussy"])
def test_a_strict_run_ends_and_names_metric_and_story(toy: Toy, name: str, jobs: int) -> None:
    with pytest.raises(UserError) as caught:
        evaluate(STORIES, toy(name), jobs=jobs, strict=True)
    assert str(caught.value).startswith(f"{name} failed on story '11': ZeroDivisionError: a bug")


def test_the_command_says_what_failed_or_ends_if_it_is_strict(
    toy_environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "stories.jsonl"
    rows = [{"id": story.id, "text": story.text} for story in STORIES]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    command = [sys.executable, "-c", "from fabula.cli import main; main()", "score", str(file)]
    environment = toy_environment | {"FABULA_HOME": str(tmp_path), "COLUMNS": "200"}

    def score(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, "-m", "buggy,words", *words], capture_output=True, text=True, env=environment
        )

    done = score()
    assert done.returncode == 0
    assert "failed" in done.stdout and "ZeroDivisionError: a bug" in done.stdout
    strict = score("--strict", "-q")
    assert strict.returncode == 2 and strict.stdout == ""
    assert strict.stderr.splitlines() == [
        "fabula: buggy failed on story '11': ZeroDivisionError: a bug; mend the metric, or leave "
        "--strict out to go on without that score"
    ]
