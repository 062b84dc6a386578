from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
FEW = ("stress", "examples", "-m", "repetition, words, rouge, self_bleu", "--resamples", "4000")


@pytest.fixture
def said(fabula: Run) -> Callable[..., str]:
    """What the command prints; fails where it fails."""

    def say(*words: str) -> str:
        done = fabula(*FEW, "-q", *words)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    return say


def test_the_table_is_metrics_by_perturbations_and_fits_into_100_columns(
    said: Callable[..., str],
) -> None:
    lines = said().splitlines()
    assert lines[0] == "56 stories, perturbed"
    assert max(map(len, lines[:-1])) <= 100 and lines[-1].startswith("cite: fabula ")
    assert "56 stories, set otherwise" in lines
    repetition, *_, share, _ = [line for line in lines if line.startswith(" Repetition ↓")]
    count = next(line for line in lines if line.startswith(" Words –"))
    assert share.split()[2:8] == ["44", "32–57", "21", "12–33", "98", "91–100"]
    # Repeated sentences are what repetition is for; words do not mind their order.
    assert "▼" in repetition.split()[4] and "▲" in repetition.split()[3]
    assert count.split()[2:4] == ["·", "·"] and "↑" in count.split()[4]


def test_the_worst_findings_are_said_in_words(said: Callable[..., str]) -> None:
    text = " ".join(said().split())
    assert "prefer broken text in" in text
    assert "ROUGE-L precision likes truncate: +2.46 SD, better in 100 % of 56 stories" in text
    assert (
        "Noticed by no metric with a better way: shuffle, swap_names, swap_paragraphs, graft."
        in text
    )
    assert "Moved by markdown alone: Self-BLEU (−1.08 SD)." in text
    assert "Not applicable, of 56 stories: swap_names to 31, wrong_name to 35, quotes to 12" in text
    assert "self_bleu: defined on a batch" in text
    assert "p is corrected for 132 tests (Holm), level 0.05" in text
    assert "4,000 resamples, seed 0" in text


def test_json_is_the_whole_result(said: Callable[..., str]) -> None:
    found = json.loads(said("-f", "json", "-p", "shuffle,quotes", "--seed", "2", "--share", ".5"))
    assert (found["stories"], found["seed"], found["share"]) == (56, 2, 0.5)
    assert [(one["name"], one["share"], one["applied"]) for one in found["perturbations"]] == [
        ("shuffle", 0.5, 56), ("quotes", None, 44),
    ]  # fmt: skip
    first = found["rows"][0]
    assert (first["scorer"], first["perturbation"]) == ("repetition", "shuffle")
    assert first["move"] == pytest.approx(first["mean_before"] - first["mean_after"])
    assert first["signature"].startswith("repetition|") and found["tests"] == 12


def test_jsonl_and_csv_are_its_rows(said: Callable[..., str]) -> None:
    lines = [json.loads(line) for line in said("-f", "jsonl", "-p", "repeat").splitlines()]
    cells = list(csv.DictReader(io.StringIO(said("-f", "csv", "-p", "repeat"))))
    assert [row["verdict"] for row in cells] == [row["verdict"] for row in lines]
    assert list(cells[0]) == list(lines[0])


def test_latex_is_a_whole_table(said: Callable[..., str]) -> None:
    text = said("-f", "latex", "-p", "repeat", "-p", "spacing")
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert lines[0] == r"\begin{tabular}{lr}" and lines[-1] == r"\end{tabular}"
    body = [line for line in lines if line.endswith(r"\\")]
    # What should move, what should not, and the shares, of which a count has none.
    assert len(body) == 8 + 8 + 6 and all(line.count("&") == 1 for line in body)
    assert r"Repetition $\downarrow$ & \textbf{$\blacktriangledown$" in text


def test_what_was_done_is_kept_and_not_written_over(fabula: Run, tmp_path: Path) -> None:
    words = ("stress", "examples", "-m", "words", "-p", "repeat", "--stories", "5", "-o", "out")
    assert fabula(*words).returncode == 0
    lines = (tmp_path / "out" / "stories.jsonl").read_bytes().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == 10 and len({row["original"] for row in rows}) == 5
    done = fabula(*words)
    assert done.returncode == 2 and b"out/stories.jsonl is there already" in done.stderr
    assert fabula(*words, "--overwrite", "-q").returncode == 0
    # The perturbed stories are stories themselves, to be scored like any others.
    assert fabula("score", "out/stories.jsonl", "-m", "words", "-q").returncode == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("stress", "examples", "-p", "shufle"), "no perturbation is called 'shufle'; did you"),
        (("stress", "examples", "-m", "blue"), "no metric or set is called 'blue'"),
        (("stress", "examples", "--share", "2"), "share=2.0 will not do"),
        (("stress", "nowhere"), "nowhere: no such file or data set"),
        (("stress", "-"), "stdin: holds no stories"),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    fabula: Run, words: tuple[str, ...], expected: str
) -> None:
    done = fabula(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.decode().startswith(f"fabula: {expected}")


def test_stories_may_come_from_a_pipe_and_too_few_are_said_so(fabula: Run) -> None:
    rows = [{"text": f"The {word} fell. It broke."} for word in ("cup", "vase")]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    done = fabula("stress", "-", "-m", "words", "-q", stdin=lines)
    text = " ".join(done.stdout.decode().split())
    assert done.returncode == 0 and "2 stories, perturbed" in text
    assert "No move could have been found" in text
    assert "No metric with a better way prefers a broken text." in text
