from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def said(fabula: Run) -> Callable[..., str]:
    def say(*words: str) -> str:
        done = fabula("plan", *words)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    return say


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two systems, ten items, two raters who differ by one point now and then."""
    lines = ["story,item,system,rater,plot,style"]
    for i in range(10):
        for system in "xy":
            for rater in (0, 1):
                value = 1 + (i + (system == "y")) % 4 + (rater and i % 2)
                lines.append(f"{system}{i},{i},{system},r{rater},{value},{5 - i % 3}")
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_table_is_items_by_raters(said: Callable[..., str]) -> None:
    text = said("--items", "50,100", "--raters", "1,3", "--effect", "0.3", "--half-width", "0.2")
    lines = text.splitlines()
    assert lines[0].startswith("Power to find a difference of 0.3 between two systems' means")
    [head] = [line for line in lines if line.startswith(" items")]
    assert head.split() == ["items", "1", "rater", "3", "raters"]
    words = " ".join(text.split())
    assert "For power 0.8 it takes items: 177 with 1, 95 with 3 raters." in words
    assert "For half-width 0.2 it takes items:" in words
    assert "With 50 items no number of raters will do." in words
    assert "Assumed: ICC(1,1) of one rating 0.30, standard deviation 1.00." in words
    assert "Sign-flip test at 0.05 in 2,000 simulated studies a cell, seed 0" in words


def test_json_holds_designs_needs_and_assumptions(said: Callable[..., str]) -> None:
    found = json.loads(
        said("--items", "60", "--correlation", "0.4", "--versus", "0.2", "-f", "json")
    )
    assert found["question"] == "two correlations" and found["assumed"]["icc"] == 0.3
    assert [row["raters"] for row in found["rows"]] == [1, 3, 5]
    assert {need["wish"] for need in found["needs"]} == {"power 0.8"}
    assert found["design"]["items"] == [60]


def test_an_effect_may_be_in_standard_deviations(said: Callable[..., str]) -> None:
    one, other = (
        said("--items", "40", "--effect", effect, "--sd", "2", "-f", "csv")
        for effect in ("0.6", "0.3sd")
    )
    assert one == other


def test_noise_comes_from_ratings_of_ones_own(said: Callable[..., str], table: Path) -> None:
    words = ("--items", "30", "--effect", "0.5", "--from", str(table), "--aspect", "plot")
    found = json.loads(said(*words, "-f", "json"))
    # Raters differ by 1 on every second item: within-story variance is 1/2 there, 0 elsewhere.
    assert found["assumed"]["sd"] ** 2 * (1 - found["assumed"]["icc"]) == pytest.approx(0.25)


def test_hannas_complexity_can_be_planned_for(said: Callable[..., str], shared: Path) -> None:
    words = ("--from", "hanna", "--path", str(shared / "data" / "hanna"), "--aspect", "complexity")
    found = json.loads(said("--items", "96", "--correlation", "0.4", *words, "-f", "json"))
    assert found["assumed"]["icc"] == pytest.approx(0.278044, abs=5e-7)


def test_latex_is_a_whole_table(said: Callable[..., str]) -> None:
    text = said("--items", "50", "--correlation", "0.4", "-f", "latex")
    assert r"\begin{tabular}{lrrr}" in text and r"$\pm$" in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--items", "50"), "one effect is wanted; give --effect or --correlation"),
        (("--items", "50", "--effect", "1", "--correlation", ".3"), "one effect is wanted"),
        (("--items", "fifty", "--effect", "1"), "--items 'fifty' will not do; write 50,100,200"),
        (("--items", "50", "--effect", "big"), "--effect 'big' will not do; write 0.2 or 0.2sd"),
        (("--items", "50", "--effect", "1", "--icc", "0"), "icc=0.0 will not do"),
        (("--items", "50", "--effect", "1", "--versus", ".2"), "--versus and --between go with"),
        (
            ("--items", "50", "--effect", "1", "--from", "mine.csv"),
            "several aspects are rated; give --aspect: plot, style",
        ),
        (
            ("--items", "50", "--effect", "1", "--from", "mine.csv", "--aspect", "plots"),
            "no aspect is called 'plots' here; did you mean 'plot'?",
        ),
        (
            ("--items", "1000000000", "--effect", "0.3"),
            "items=1,000,000,000 times 2,000 studies or flips of signs is more than can be",
        ),
        (
            ("--items", "50", "--effect", "1e-300"),
            "effect=1e-300 is nothing beside a standard deviation of 1; give a larger one",
        ),
        (
            ("--items", "50", "--effect", "0.3", "--half-width", "1e-320"),
            "half_width=",
        ),
        (
            ("--items", "50", "--effect", "0.3", "--sd", "1e308"),
            "sd=inf will not do; give less than 1e+100",
        ),
        (
            ("--items", "9000000000", "--correlation", "0.3"),
            "items=9,000,000,000 will not do; give at most 1,000,000,000",
        ),
        (
            ("--items", "50", "--effect", "1", "--from", "mine.csv", "--icc", ".4"),
            "--from tells ICC and spread itself",
        ),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    fabula: Run, table: Path, words: tuple[str, ...], expected: str
) -> None:
    done = fabula("plan", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.decode().startswith(f"fabula: {expected}")
