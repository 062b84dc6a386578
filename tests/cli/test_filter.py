"""`fabula filter`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.large_runs import make_rows, write_in_parts, write_scored


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("filter")
    return write_in_parts(write_scored(home / "run", make_rows()), home / "parts")


def test_without_a_file_it_says_what_would_be_left(fabula, folder: Path) -> None:
    result = fabula("filter", folder, "--keep", "rouge(n=1).f > 0.4 and words > 22")
    assert result.returncode == 0
    assert "of 36" in result.stdout.decode() and "rouge(n=1).f > 0.4" in result.stdout.decode()
    assert (
        "2 stories lack a value for rouge(n=1).f > 0.4, and were dropped" in result.stdout.decode()
    )
    assert "nothing is written: add -o FILE" in result.stderr.decode()


def test_where_nothing_is_asked_for_the_columns_are_named(fabula, folder: Path) -> None:
    words = " ".join(fabula("filter", folder).stdout.decode().split())
    assert "nothing was asked for; the run's columns: " in words and "rouge(n=1).f" in words


def test_what_it_writes_can_be_scored(fabula, folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    result = fabula(
        "filter", folder, "--keep", "words > 0", "--dedupe", "0.9", "--top", "50%", "--by",
        "repetition", "--per", "system", "-o", kept,
    )  # fmt: skip
    assert result.returncode == 0 and str(kept) in result.stderr.decode()
    rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    assert {row["system"] for row in rows} == {"ash", "birch", "cedar"}
    told = json.loads((tmp_path / "kept.jsonl.provenance.json").read_text(encoding="utf-8"))
    assert told["stories"] == len(rows) == 18
    again = fabula("score", kept, "-m", "words", "-f", "json", "--no-cache")
    assert again.returncode == 0 and json.loads(again.stdout)["input"]["stories"] == 18


def test_its_steps_are_for_programs_too(fabula, folder: Path) -> None:
    result = fabula("filter", folder, "--sample", "6", "--by", "mattr", "-f", "json", "-q")
    told = json.loads(result.stdout.decode())
    assert told["stories"] == 6 and told["run"]["stories"] == 36
    assert told["rows"][0]["step"] == "sample" and told["rows"][0]["out"] == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--keep", "wrds > 3"], "did you mean 'words'?"),
        (["--keep", "rouge(n=1) > 3"], "may be several columns: rouge(n=1).recall"),
        (["--keep", "words >"], "is no condition"),
        (["--top", "lots", "--by", "words"], "--top 'lots' will not do"),
        (["--top", "120%", "--by", "words"], "--top '120%' will not do"),
        (["--top", "5"], "--top needs to know by what"),
        (["--by", "words"], "--by does nothing by itself"),
        (["--sample", "5", "--quantiles", "4"], "--quantiles cuts the values of --by"),
    ],
)
def test_what_will_not_do_is_said_on_one_line(
    fabula, folder: Path, arguments: list[str], words: str
) -> None:
    result = fabula("filter", folder, *arguments)
    assert result.returncode == 2
    assert words in result.stderr.decode() and result.stderr.decode().count("\n") == 1


def test_files_of_others_stay(fabula, folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_text("mine", encoding="utf-8")
    assert fabula("filter", folder, "--sample", "2", "-o", mine).returncode == 2
    assert mine.read_text(encoding="utf-8") == "mine"
    assert fabula("filter", folder, "--sample", "2", "-o", mine, "--overwrite").returncode == 0
    assert fabula("filter", folder, "--sample", "3", "-o", mine).returncode == 0  # now it is ours
    missing = fabula("filter", tmp_path / "nowhere", "--sample", "2")
    assert missing.returncode == 2 and "is no run folder" in missing.stderr.decode()
