from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from fabula import __version__
from fabula.core.errors import InputError, UserError
from fabula.core.metric import Metric
from fabula.core.story import Story
from fabula.datasets.tables.stories import StoryFile
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.run import RunOptions, RunResult, run

Toy = Callable[..., Metric]


@pytest.fixture
def file(tmp_path: Path, stories: list[Story]) -> Path:
    path = tmp_path / "stories.jsonl"
    fields = [
        {"id": s.id, "text": s.text, "references": s.references, "system": s.system}
        for s in stories
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in fields))
    return path


def go(file: Path, metrics: str | list[Metric] = "words,rouge", **options: Any) -> RunResult:
    return run(StoryFile(file), choose_metrics(metrics), RunOptions(**options))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_record_says_what_was_run_on_what(file: Path, tmp_path: Path) -> None:
    go(file, folder=tmp_path / "out")
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["question"]["input"] == sha256(file)
    assert [one.partition("|")[0] for one in record["question"]["metrics"]] == ["words", "rouge"]
    assert record["question"]["columns"]["text"] == ["text"]
    assert record["input"] == {"path": str(file), "format": "jsonl", "stories": 70}


def test_the_record_holds_signatures_and_versions(file: Path, tmp_path: Path) -> None:
    go(file, folder=tmp_path / "out")
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    metrics = {metric.spec: metric for metric in choose_metrics("words,rouge")}
    assert [one["spec"] for one in record["metrics"]] == list(metrics)
    for one in record["metrics"]:
        assert one["signature"] == metrics[one["spec"]].signature()
        assert one["short_signature"] == metrics[one["spec"]].signature(short=True)
        assert one["direction"] == metrics[one["spec"]].card.direction
    assert record["fabula"] == __version__
    assert record["versions"]["python"] == platform.python_version()
    assert record["versions"]["sacrebleu"] == importlib.metadata.version("sacrebleu")


def test_the_record_holds_the_checksums_of_the_files(file: Path, tmp_path: Path) -> None:
    result = go(file, folder=tmp_path / "out")
    names = ["scores.jsonl", "scores.parquet", "stories.jsonl"]
    assert sorted(contents(tmp_path / "out")) == ["run.json", *names]
    assert result.record["files"] == {name: sha256(tmp_path / "out" / name) for name in names}


def test_parquet_equals_jsonl(file: Path, tmp_path: Path) -> None:
    go(file, "strings", folder=tmp_path / "out")
    lines = (tmp_path / "out" / "scores.jsonl").read_text().splitlines()
    table = pq.read_table(tmp_path / "out" / "scores.parquet").to_pylist()
    assert [json.loads(line) for line in lines] == table


def test_one_job_two_jobs_and_the_cache_give_the_same_bytes(file: Path, tmp_path: Path) -> None:
    for name, options in {
        "one": {"cache": False},
        "two": {"cache": False, "jobs": 2},
        "kept": {"jobs": 2},
        "found": {},
    }.items():
        go(file, "strings", folder=tmp_path / name, **options)
    one = (tmp_path / "one" / "scores.jsonl").read_bytes()
    for name in ("two", "kept", "found"):
        assert (tmp_path / name / "scores.jsonl").read_bytes() == one


def test_the_same_run_again_gives_the_same_scores(file: Path, tmp_path: Path) -> None:
    go(file, folder=tmp_path / "out")
    before = contents(tmp_path / "out")
    go(file, folder=tmp_path / "out")
    after = contents(tmp_path / "out")
    assert {**after, "run.json": b""} == {**before, "run.json": b""}


def test_another_run_in_the_folder_is_refused_unless_it_may_be_lost(
    file: Path, tmp_path: Path
) -> None:
    go(file, folder=tmp_path / "out")
    before = contents(tmp_path / "out")
    file.write_text(file.read_text() + '{"id": "one more", "text": "One."}\n')
    with pytest.raises(UserError, match="other input"):
        go(file, folder=tmp_path / "out")
    assert contents(tmp_path / "out") == before
    go(file, folder=tmp_path / "out", overwrite=True)
    assert b"one more" in (tmp_path / "out" / "scores.jsonl").read_bytes()


def test_a_metric_is_added_to_a_run_over_the_same_stories(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go(file, "words,rouge", folder=tmp_path / "out", cache=False)
    before = json.loads((tmp_path / "out" / "run.json").read_text())
    rouge = type(choose_metrics("rouge")[0])
    monkeypatch.setattr(rouge, "compute", lambda *_: pytest.fail("computed again"))
    result = go(file, "rouge,bleu", folder=tmp_path / "out", cache=False)
    assert result.kept == ("words", "rouge")
    monkeypatch.undo()
    go(file, "words,rouge,bleu", folder=tmp_path / "at once", cache=False)
    for name in ("stories.jsonl", "scores.jsonl"):
        added, once = (tmp_path / folder / name for folder in ("out", "at once"))
        assert added.read_bytes() == once.read_bytes()
    assert pq.read_table(tmp_path / "out" / "scores.parquet") == pq.read_table(
        tmp_path / "at once" / "scores.parquet"
    )
    after = json.loads((tmp_path / "out" / "run.json").read_text())
    once = json.loads((tmp_path / "at once" / "run.json").read_text())
    assert after["question"] == once["question"] and after["summary"] == once["summary"]
    assert after["metrics"][:2] == before["metrics"]
    assert [metric["spec"] for metric in after["metrics"]] == ["words", "rouge", "bleu"]


def test_metrics_that_are_all_there_are_not_computed_again(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go(file, "words,rouge", folder=tmp_path / "out", cache=False)
    before = contents(tmp_path / "out")
    monkeypatch.setattr(
        type(choose_metrics("words")[0]), "read", lambda *_: pytest.fail("computed again")
    )
    rows: list[dict[str, Any]] = []
    go(file, "words", folder=tmp_path / "out", cache=False, on_row=rows.append)
    assert {**contents(tmp_path / "out"), "run.json": b""} == {**before, "run.json": b""}
    assert {row["scorer"] for row in rows} == {"words", "rouge"}


def test_a_run_that_was_altered_is_not_added_to(file: Path, tmp_path: Path) -> None:
    go(file, folder=tmp_path / "out")
    scores = tmp_path / "out" / "scores.jsonl"
    scores.write_text(scores.read_text().replace("1", "2"))
    before = contents(tmp_path / "out")
    with pytest.raises(UserError, match=r"scores\.jsonl was altered"):
        go(file, "bleu", folder=tmp_path / "out")
    assert contents(tmp_path / "out") == before


def test_the_stories_that_are_read_are_never_written_over(file: Path, tmp_path: Path) -> None:
    before = contents(tmp_path)
    with pytest.raises(UserError, match=r"stories\.jsonl is what is being read"):
        go(file, folder=tmp_path, overwrite=True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_in_the_middle_leaves_nothing(
    file: Path, tmp_path: Path, toy: Toy, jobs: int
) -> None:
    file.write_text(file.read_text() + '{"id": "culprit", "text": "a bug"}\n')
    with pytest.raises(UserError, match="failed on story 'culprit'"):
        go(file, [toy("buggy")], folder=tmp_path / "out", jobs=jobs, strict=True)
    assert not (tmp_path / "out").exists()


def test_a_failure_in_the_middle_leaves_an_earlier_run_alone(
    file: Path, tmp_path: Path, toy: Toy
) -> None:
    go(file, folder=tmp_path / "out")
    before = contents(tmp_path / "out")
    file.write_text(file.read_text() + '{"id": "culprit", "text": "a bug"}\n')
    with pytest.raises(UserError, match="failed on story 'culprit'"):
        go(file, [toy("buggy")], folder=tmp_path / "out", overwrite=True, strict=True)
    assert contents(tmp_path / "out") == before


def test_nothing_is_written_before_the_last_row_was_found_sound(file: Path, tmp_path: Path) -> None:
    file.write_text(file.read_text() + '{"id": "last", "text": null}\n')
    with pytest.raises(InputError, match="line 71"):
        go(file, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_damaged_cache_leaves_no_folder_behind(file: Path, tmp_path: Path, home: Path) -> None:
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "scores-v2.sqlite").write_bytes(b"no database " * 100)
    with pytest.raises(UserError, match="fabula cache clear"):
        go(file, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_rows_are_given_as_they_are_written(file: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = []
    go(file, folder=tmp_path / "out", on_row=rows.append)
    lines = (tmp_path / "out" / "scores.jsonl").read_text().splitlines()
    assert [row["story"] for row in rows] == [json.loads(line)["story"] for line in lines]


def test_an_error_of_who_is_given_the_rows_is_not_the_folders_fault(
    file: Path, tmp_path: Path
) -> None:
    def refuse(row: dict[str, Any]) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        go(file, folder=tmp_path / "out", on_row=refuse)


def test_without_a_folder_nothing_is_written_but_the_summary_is_there(
    file: Path, tmp_path: Path
) -> None:
    result = go(file, cache=False)
    assert result.folder is None and "files" not in result.record
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stories.jsonl"]
    words = [row for row in result.record["summary"] if row["scorer"] == "words"]
    assert sum(row["scored"] for row in words) == 69
    assert sum(row["left_out"] for row in words) == 1
    assert {"empty_text": 1} in [row["why"] for row in words]
