from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def run(fabula: Run, tmp_path: Path) -> Path:
    """The folder of a run over the bundled stories."""
    done = fabula("score", "examples", "-m", "repetition, words, rouge", "-o", "run", "-q")
    assert done.returncode == 0, done.stderr
    return tmp_path / "run"


@pytest.fixture
def said(fabula: Run, run: Path) -> Callable[..., str]:
    """What the command prints of two systems; fails where it fails."""

    def say(*words: str) -> str:
        done = fabula("compare", run, *words)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    return say


def test_the_table_marks_who_is_better_and_fits_into_100_columns(said: Callable[..., str]) -> None:
    text = said("human", "loop")
    lines = text.splitlines()
    assert lines[0] == "A is human, B is loop: 14 shared items"
    assert max(map(len, lines[:-1])) <= 100 and lines[-1].startswith("cite: fabula ")
    [repetition] = [line for line in lines if line.startswith(" Repetition ↓")]
    [words] = [line for line in lines if line.startswith(" Words –")]
    assert repetition.endswith("A better") and words.endswith("A higher")
    assert "100 %" in repetition


def test_the_last_words_say_what_was_found_and_how(said: Callable[..., str]) -> None:
    text = " ".join(said("human", "loop").split())
    assert "Of 4 metrics (aspects counted apart) with a better way, 1 prefers human, " in text
    assert "1 of 1 metric without a better way (–) found a difference" in text
    assert "p is corrected for 5 comparisons (Holm), level 0.05" in text
    assert "10,000 resamples, seed 0" in text


def test_a_system_does_not_differ_from_itself(said: Callable[..., str]) -> None:
    text = said("human", "human", "-m", "repetition")
    assert "No difference in quality was found between human and human: 0 of 1 metric." in text
    assert "neither" in text


def test_json_is_the_whole_comparison(said: Callable[..., str]) -> None:
    found = json.loads(said("human", "loop", "-f", "json", "--seed", "3", "--correction", "bh"))
    assert (found["a"], found["b"], found["shared_items"]) == ("human", "loop", 14)
    assert found["procedure"] == {
        "resamples": 10_000, "seed": 3, "correction": "bh", "alpha": 0.05,
    }  # fmt: skip
    first = found["rows"][0]
    assert (first["scorer"], first["direction"], first["favours"]) == ("repetition", "lower", "A")
    assert first["difference"] == pytest.approx(first["mean_b"] - first["mean_a"])
    assert first["signature"].startswith("repetition|")


def test_jsonl_and_csv_are_its_rows(said: Callable[..., str]) -> None:
    lines = [json.loads(line) for line in said("human", "loop", "-f", "jsonl").splitlines()]
    cells = list(csv.DictReader(io.StringIO(said("human", "loop", "-f", "csv"))))
    assert [row["verdict"] for row in cells] == [row["verdict"] for row in lines]
    assert list(cells[0]) == list(lines[0])
    assert float(cells[0]["p"]) == lines[0]["p"]


def test_latex_is_a_whole_table(said: Callable[..., str]) -> None:
    text = said("human", "loop", "-f", "latex")
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert lines[0] == r"\begin{tabular}{lrrrrrrl}" and lines[-1] == r"\end{tabular}"
    body = [line for line in lines if line.endswith(r"\\")]
    assert all(line.count("&") == 7 for line in body)
    assert len(body) == 6 and r"Repetition $\downarrow$" in text and r"100 \%" in text


def test_only_the_metrics_named_are_compared(said: Callable[..., str]) -> None:
    for wanted in ("words", "baselines"):
        rows = said("human", "loop", "-m", wanted, "-f", "jsonl").splitlines()
        assert [json.loads(row)["scorer"] for row in rows] == ["words"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("run", "human", "loup"), "no system is called 'loup' here; did you mean 'loop'?"),
        (("run", "human", "loop", "-m", "bleu"), "the run has no scores of bleu; known: rep"),
        (("run", "human", "loop", "-m", "blue"), "no metric or set is called 'blue'"),
        (("run", "human", "loop", "--alpha", "2"), "alpha=2.0 will not do"),
        (("nowhere", "human", "loop"), "nowhere is no run folder"),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    fabula: Run, run: Path, words: tuple[str, ...], expected: str
) -> None:
    done = fabula("compare", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.decode().startswith(f"fabula: {expected}")


def score_rows(fabula: Run, tmp_path: Path, rows: list[dict[str, str]]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "some.jsonl").write_text(text, encoding="utf-8")
    assert fabula("score", "some.jsonl", "-m", "words,rouge", "-o", "some").returncode == 0


def test_several_stories_of_a_system_for_an_item_are_one_line(fabula: Run, tmp_path: Path) -> None:
    rows = [{"text": "One.", "system": s, "item": i} for s in "ab" for i in ("1", "2", "2")]
    score_rows(fabula, tmp_path, rows)
    done = fabula("compare", "some", "a", "b")
    assert done.returncode == 2 and b"item '2' and system 'a'" in done.stderr


def test_stories_without_items_are_one_line(fabula: Run, tmp_path: Path) -> None:
    score_rows(fabula, tmp_path, [{"text": "One.", "system": system} for system in "ab"])
    done = fabula("compare", "some", "a", "b")
    assert done.returncode == 2
    assert b"share 1 item" in done.stderr and b"systems known: a, b" in done.stderr


def test_what_is_left_out_and_what_was_in_vain_is_said(fabula: Run, tmp_path: Path) -> None:
    rows = [{"text": "One two.", "system": s, "item": i} for s in "ab" for i in "123"]
    score_rows(fabula, tmp_path, [*rows, {"text": "One.", "system": "a", "item": "4"}])
    text = " ".join(fabula("compare", "some", "a", "b").stdout.decode().split())
    assert "too few" in text and "Words –*" in text
    assert "Up to 4 items were left out" in text
    assert "No metric with a better way has values of both systems." in text
    assert "No difference could have been found" in text


def test_runs_are_compared_with_one_another(fabula: Run, tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two", "three")):
        rows = [{"text": "One." + " More." * (n + 9 * number)} for n in range(8)]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
        metrics = "words" if number else "words,type_token_ratio"
        assert not fabula("score", f"{name}.jsonl", "-m", metrics, "-o", name, "-q").returncode
    done = fabula("compare", "one", "two")
    assert done.stderr.decode().splitlines() == [
        "stories are matched by id: 8 items of all systems",
        "left out, for not every run has it: type_token_ratio",
    ]
    assert done.stdout.decode().startswith("A is one, B is two: 8 shared items\n")
    done = fabula("compare", "one", "two", "three", "-f", "jsonl", "-q")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["a"], row["b"]) for row in rows] == [("one", "two"), ("one", "three")]
    # Two tests, all of whose signs agree: p is 2 / 2⁸, and Holm's correction doubles it.
    assert [row["adjusted_p"] for row in rows] == pytest.approx([4 / 2**8] * 2)
    assert fabula("compare", "one", "nowhere").returncode == 2
