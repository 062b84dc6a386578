from __future__ import annotations

import csv
import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]

# Ann and Bo mostly agree, Cy gives 3 to all; plot is rated on all, style on few stories.
PLOT = "12345123451234512345123451"
RATERS = {"ann": PLOT, "bo": "22345123551234512344123451", "cy": "3" * 26}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A long table of ratings of one's own."""
    lines = ["story,rater,aspect,value"]
    for rater, values in RATERS.items():
        lines += [f"s{i},{rater},plot,{value}" for i, value in enumerate(values)]
        lines += [f"s{i},{rater},style,{value}" for i, value in enumerate(values[:9])]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def said(fabula: Run, table: Path) -> Callable[..., str]:
    def say(*words: str) -> str:
        done = fabula("agree", table, "--resamples", "100", *words)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout.decode()

    return say


def test_the_table_has_a_line_an_aspect_and_fits_into_100_columns(
    said: Callable[..., str],
) -> None:
    text = said()
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    [head] = [line for line in lines if "aspect" in line and "alpha" in line]
    assert head.split() == ["aspect", "stories", "each", "ICC(2,1)", "ICC(2,k)", "alpha", "reading"]
    assert any(line.startswith(" plot") for line in lines)
    words = " ".join(text.split())
    assert "n is too small on style: fewer than 20 stories." in words
    assert "Koo and Li, 2016" in words and "100 resamples, seed 0. Alpha is ordinal." in words


def test_one_aspect_shows_every_coefficient(said: Callable[..., str]) -> None:
    text = said("-a", "plot")
    for name in ("ICC(1,1)", "ICC(3,k)", "Fleiss kappa", "AC2 quadratic", "Kendall W"):
        assert f" {name} " in text


def test_by_rater_the_careless_come_to_light(said: Callable[..., str]) -> None:
    lines = said("--by", "rater").splitlines()
    [cy] = [line for line in lines if line.startswith(" cy") and " plot " in line]
    assert "gives one value only" in cy
    [ann] = [line for line in lines if line.startswith(" ann") and " plot " in line]
    assert " 26 " in ann
    rows = json.loads(said("--by", "rater", "-f", "json"))["rows"]
    assert [row["rater"] for row in rows] == ["ann", "bo", "cy"] * 2


def test_the_other_formats_hold_the_same_rows(said: Callable[..., str]) -> None:
    whole = json.loads(said("-f", "json"))
    lines = [json.loads(line) for line in said("-f", "jsonl").splitlines()]
    cells = list(csv.DictReader(io.StringIO(said("-f", "csv"))))
    assert whole["rows"] == lines and len(lines) == len(cells) == 30
    assert whole["level"] == "ordinal" and whole["words"]
    assert list(cells[0]) == list(lines[0])
    assert float(cells[0]["value"]) == lines[0]["value"]


def test_latex_is_a_whole_table(said: Callable[..., str]) -> None:
    lines = [line for line in said("-f", "latex").splitlines() if not line.startswith("%")]
    assert lines[0] == r"\begin{tabular}{lrrrrrl}" and lines[-1] == r"\end{tabular}"
    assert all(line.count("&") == 6 for line in lines if line.endswith(r"\\"))


def test_nominal_values_are_read_as_such(said: Callable[..., str]) -> None:
    text = said("--level", "nominal")
    assert "ICC" not in text
    assert "Alpha is nominal." in " ".join(text.split())


def test_hannas_raters_are_not_known(fabula: Run, shared: Path) -> None:
    source = ("agree", "hanna", "--path", shared / "data" / "hanna", "-q", "--resamples", "20")
    done = fabula(*source, "-f", "json")
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    rows = {(row["aspect"], row["statistic"]): row for row in found["rows"]}
    row = rows["complexity", "ICC(2,k)"]
    assert (row["value"], row["note"]) == (None, "needs rater ids")
    assert rows["complexity", "ICC(1,1)"]["value"] == pytest.approx(0.278044, abs=5e-7)
    refused = fabula(*source, "--by", "rater")
    assert refused.returncode == 2 and b"does not say who gave which rating" in refused.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("mine.csv", "-a", "plott"), "no aspect is called 'plott' here; did you mean 'plot'?"),
        (("nowhere.csv",), "nowhere.csv: no such file"),
    ],
)
def test_what_the_user_can_mend_is_one_line(
    fabula: Run, table: Path, words: tuple[str, ...], expected: str
) -> None:
    done = fabula("agree", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.decode().startswith(f"fabula: {expected}")


def test_slots_lay_out_busy_raters_and_fill_the_free_places(fabula: Run, tmp_path: Path) -> None:
    """Of two columns, ann has one; whoever else rated a story stands in the other."""
    lines = ["story,rater,plot"]
    for i, (first, second) in enumerate(["12", "21", "33", "45", "54", "34"]):
        lines += [f"s{i},ann,{first}", f"s{i},guest{i},{second}"]
    path = tmp_path / "crowd.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {}
    for slots in ([], ["--slots", "2"], ["--slots", "ann,guest0"]):
        done = fabula("agree", path, "--resamples", "20", "-f", "jsonl", *slots)
        rows = [json.loads(line) for line in done.stdout.decode().splitlines()]
        found[tuple(slots)] = next(row for row in rows if row["statistic"] == "ICC(2,k)")
    plain, counted, named = found.values()
    assert plain["value"] is None and plain["note"] == "no two stories were rated by all raters"
    # By hand: mean squares of stories 221/60, of columns 1/12, of what is left 29/60.
    stories, columns, noise = 221 / 60, 1 / 12, 29 / 60
    expected = (stories - noise) / (stories + (columns - noise) / 6)
    assert counted["value"] == pytest.approx(expected) and counted["n"] == 6
    assert named["value"] == counted["value"]
    assert counted["note"] == "in 2 slots: ann, guest0; others in free places"


@pytest.mark.parametrize(
    ("slots", "message"),
    [("1", "--slots 1 will not do"), ("ann", "two different raters"), ("ann,zoe", "called 'zoe'")],
)
def test_slots_that_will_not_do_are_named(
    fabula: Run, table: Path, slots: str, message: str
) -> None:
    done = fabula("agree", table, "--slots", slots)
    assert done.returncode == 2 and message in done.stderr.decode()
