from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
TALES = [
    "The fox slept.",
    "A fox slept under the old bridge until the river rose.",
    "Nobody in the village believed that the lighthouse had begun to speak, least of all Marta.",
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three systems on eight items, rated by hand; longer tales are rated higher."""
    rows = [
        {
            "story": f"{system}{item}", "item": f"i{item}", "system": system,
            "text": TALES[place] + " Then it rained." * (item % 3),
            "plot": 1 + place + (item + place) % 2 / 2, "style": 1 + (item * (place + 1)) % 4,
            "close": 5 * place + item % 3, "far": -place + item / 10,
        }
        for place, system in enumerate("abc")
        for item in range(8)
    ]  # fmt: skip
    path = tmp_path / "rated.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture
def said(fabula: Run, table: Path) -> Callable[..., str]:
    """What the command prints of the table; fails where it fails."""

    def say(*words: str) -> str:
        done = fabula("rank", table, "--gold", "plot,style", "--lower", "far", *words)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    return say


def rows(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_baselines_stand_beside_the_metrics(said: Callable[..., str]) -> None:
    text = said()
    assert text.startswith("6 metrics by agreement with people on ")
    names = {row["metric"]: row["family"] for row in rows(said("-f", "jsonl"))}
    assert names.keys() == {"close", "far", "words", "unique_words", "word_length", "mattr"}
    assert names["words"] == "baseline"
    assert "The best trivial baseline, " in text and "Made of 12 columns" in text


def test_without_baselines_only_the_metrics_are_ranked(said: Callable[..., str]) -> None:
    found = rows(said("--no-baselines", "-f", "jsonl"))
    assert {row["metric"] for row in found} == {"close", "far"}
    assert sorted(row["points"] for row in found)[-1] <= 12


def test_patterns_choose_and_drop_metrics(said: Callable[..., str]) -> None:
    kept = rows(said("-m", "*words", "-f", "jsonl"))
    assert {row["metric"] for row in kept} == {"words", "unique_words"}
    left = rows(said("-x", "*word*", "-x", "mattr", "-f", "jsonl"))
    assert {row["metric"] for row in left} == {"close", "far"}


@pytest.mark.parametrize("by", ["borda", "kemeny", "mean"])
def test_every_rule_ranks_all_metrics(said: Callable[..., str], by: str) -> None:
    found = rows(said("--by", by, "-a", "plot", "--level", "system", "-f", "jsonl"))
    assert len(found) == 6 and found[0]["rank"] == 1
    assert "mean_system" in found[0] and "mean_item" not in found[0]


def test_kemeny_says_how_many_rankings_are_as_good(said: Callable[..., str]) -> None:
    found = json.loads(said("--by", "kemeny", "-f", "json"))
    assert found["solutions"] >= 1 and found["distance"] >= 0
    assert "the least there can be" in " ".join(found["words"])


def test_only_the_best_are_printed(said: Callable[..., str]) -> None:
    found = json.loads(said("--top", "2", "-f", "json"))
    assert len(found["rows"]) == 2 and found["metrics"] == 6
    assert len(list(csv.DictReader(io.StringIO(said("--top", "2", "-f", "csv"))))) == 2


def test_systems_are_ranked_by_their_ratings(said: Callable[..., str]) -> None:
    found = rows(said("--systems", "-a", "plot", "-f", "jsonl"))
    assert [row["system"] for row in found] == ["c", "b", "a"]
    # Ratings of c: 3 and 3.5 in turn over eight items.
    assert found[0]["value"] == pytest.approx(3.25) and found[0]["count"] == 8
    assert [row["cluster"] for row in found] == [1, 2, 3]


@pytest.mark.parametrize("by", ["win_rate", "elo"])
def test_systems_are_ranked_by_choices(said: Callable[..., str], by: str) -> None:
    found = rows(said("--systems", "--by", by, "-a", "plot", "--resamples", "20", "-f", "jsonl"))
    assert [row["system"] for row in found] == ["c", "b", "a"]
    assert all(row["low"] <= row["value"] <= row["high"] for row in found)


@pytest.mark.parametrize("words", [(), ("--systems",)])
def test_latex_is_a_whole_table(said: Callable[..., str], words: tuple[str, ...]) -> None:
    lines = [line for line in said(*words, "-f", "latex").splitlines() if line[0] != "%"]
    assert lines[0].startswith(r"\begin{tabular}") and lines[-1] == r"\end{tabular}"
    assert len({line.count("&") for line in lines if line.endswith(r"\\")}) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--by", "elo"), "metrics are not ranked by elo; known: borda, kemeny, mean"),
        (("--systems", "--by", "borda"), "systems are not ranked by borda; known: mean"),
        (("-a", "plott"), "no aspect is called 'plott'; did you mean 'plot'?"),
        (("-m", "nothing*"), "no scorer is called 'nothing*'"),
        (("-x", "*"), "there are no metrics to rank"),
        (
            ("--systems", "--by", "bradley_terry", "-a", "plot"),
            "Bradley–Terry strengths do not exist",
        ),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    fabula: Run, table: Path, words: tuple[str, ...], expected: str
) -> None:
    done = fabula("rank", table, "--gold", "plot,style", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.decode().startswith(f"fabula: {expected}")


def test_table_6_of_hanna_from_the_command(fabula: Run, shared: Path) -> None:
    source = ("hanna", "--path", shared / "data" / "hanna")
    how = ("--no-baselines", "-x", "judge:*", "--level", "item", "--top", "5", "-f", "jsonl", "-q")
    done = fabula("rank", *source, *how)
    assert done.returncode == 0, done.stderr
    found = {row["metric"]: row["points"] for row in rows(done.stdout.decode())}
    assert found == {
        "chrF": 1237, "S3-Pyramid": 1198, "ROUGE-1 Recall": 1186, "S3-Responsiveness": 1177,
        "BERTScore Recall": 1158,
    }  # fmt: skip
