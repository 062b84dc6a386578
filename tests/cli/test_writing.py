"""No command writes over what it reads, nor over what Fabula did not write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabula.cli import cli
from fabula.core.errors import UserError

STORIES = "".join(
    json.dumps({"id": f"{s}{n}", "text": "Once. " * n, "system": s, "item": str(n), "mine": n})
    + "\n"
    for s in "ab"
    for n in range(1, 4)
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    Path("stories.jsonl").write_text(STORIES)
    rows = "".join(f"a{n},{n},0.{n}\n" for n in range(1, 4))
    Path("scores.csv").write_text("id,fun,words\n" + rows)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words, catch_exceptions=False)


def refused(*words: str) -> str:
    with pytest.raises(UserError) as caught:
        run(*words)
    return str(caught.value)


def test_convert_writes_over_neither_the_table_nor_other_files() -> None:
    words = ("data", "convert", "scores.csv", "--gold", "fun", "-f", "csv", "-o")
    assert "scores.csv is what is being read" in refused(*words, ".", "--overwrite")
    Path("out").mkdir()
    Path("out/stories.csv").write_text("mine")
    assert "out/stories.csv is there, and not by Fabula" in refused(*words, "out")
    assert Path("out/stories.csv").read_text() == "mine"
    assert run(*words, "out", "--overwrite").exit_code == 0
    assert run(*words, "out").exit_code == 0


def test_a_run_is_converted_and_reported_beside_its_own_files() -> None:
    run("score", "stories.jsonl", "-m", "words", "-o", "run", "-q", "--no-cache")
    before = Path("run/scores.jsonl").read_bytes()
    for words in (("data", "convert", "run", "-o", "run", "--overwrite"),):
        assert "is what is being read" in refused(*words)
    assert "is what is being read" in refused("report", "run", "-o", "run/stories.jsonl", "-q")
    assert Path("run/scores.jsonl").read_bytes() == before
    assert run("data", "convert", "run", "-o", "run/plain").exit_code == 0
    assert run("data", "convert", "run", "-o", "run/plain").exit_code == 0


def test_stress_never_writes_over_its_stories() -> None:
    words = ("stress", "stories.jsonl", "-m", "words", "-o", ".", "-q", "--no-cache")
    assert "stories.jsonl is what is being read" in refused(*words)
    assert "stories.jsonl is what is being read" in refused(*words, "--overwrite")
    assert Path("stories.jsonl").read_text() == STORIES


def test_a_study_page_that_is_not_ours_is_refused_before_anything_is_computed() -> None:
    Path("out").mkdir()
    Path("out/study.html").write_text("mine")
    Path("study.toml").write_text('title = "t"\ndataset = "scores.csv"\n')
    assert "out/study.html is there" in refused("study", "run", "study.toml", "-o", "out")
    assert Path("out/study.html").read_text() == "mine"


def test_pairs_and_comments_never_write_over_what_they_read() -> None:
    posts = ("data", "pairs", "stories.jsonl", "-o", "stories.jsonl")
    assert "stories.jsonl is what is being read" in refused(*posts)
    augment = ("comments", "augment", "stories.jsonl", "-o", "./stories.jsonl")
    assert "stories.jsonl is what is being read" in refused(*augment)
    assert Path("stories.jsonl").read_text() == STORIES


def test_weights_of_others_are_not_trained_over() -> None:
    from fabula.learned.training.folder import TrainingFolder

    Path("model.safetensors").write_bytes(b"mine")
    for resume in (False, True):
        with pytest.raises(UserError, match=r"model\.safetensors is there, and not by a training"):
            TrainingFolder(Path(), resume=resume).open()


def test_pages_of_metrics_are_not_written_over_notes() -> None:
    Path("index.md").write_text("mine")
    assert "index.md" in refused("data", "docs", "-o", ".")
    assert Path("index.md").read_text() == "mine" and not Path("hanna.md").exists()
    assert run("data", "docs", "-o", ".", "--overwrite").exit_code == 0


def test_clearing_a_cache_leaves_other_files_alone() -> None:
    assert "stories.jsonl is no cache of Fabula" in refused(
        "cache", "clear", "--cache", "stories.jsonl"
    )
    assert Path("stories.jsonl").read_text() == STORIES


@pytest.mark.parametrize("command", [("report", "run"), ("compare", "run"), ("meta", "run")])
def test_an_altered_run_is_one_line_by_every_command_that_reads_it(
    command: tuple[str, ...],
) -> None:
    run("score", "stories.jsonl", "-m", "words", "-o", "run", "-q", "--no-cache", "--no-report")
    record = Path("run/run.json").read_text()
    Path("run/run.json").write_text(record.replace('"metrics": [', '"metrics": [7, ', 1))
    assert "run.json" in refused(*command)
    Path("run/run.json").write_text(record)
    with Path("run/scores.jsonl").open("a") as file:
        file.write("\n")
    assert "run/scores.jsonl was altered since the run wrote it" in refused(*command)


def test_a_run_of_before_there_were_lists_takes_more_metrics_and_a_new_report() -> None:
    words = ("score", "stories.jsonl", "-o", "run", "-q", "--no-cache", "-m")
    assert run(*words, "words").exit_code == 0
    record = json.loads(Path("run/run.json").read_text())
    del record["checksum"]
    Path("run/run.json").write_text(json.dumps(record))
    Path("run/.fabula.json").unlink()
    assert run(*words, "mattr").exit_code == 0
    assert "mattr" in Path("run/report.html").read_text()
    assert "checksum" in json.loads(Path("run/run.json").read_text())


def test_a_review_is_not_written_over_a_story_of_the_folder() -> None:
    Path("tales").mkdir()
    for name in "ab":
        Path("tales", f"{name}.txt").write_text("Once upon a time.")
    words = ("review", "tales", "-o", "tales/a.txt")
    assert "tales/a.txt is what is being read" in refused(*words)
    assert "is what is being read" in refused("review", "tales/b.txt", "-o", "tales/../tales/b.txt")
    assert Path("tales/a.txt").read_text() == "Once upon a time."
