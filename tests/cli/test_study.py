from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.study import USUAL_PARTS
from fakes.hanna_study import hanna_study
from fakes.release_samples import FOLDERS, SAMPLES, put

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
ITEMS, SYSTEMS = 6, ("oak", "fern", "moss", "tide")
STUDY = """
title = "Tales of the wood"
dataset = "wood"
parts = ["standing", "systems", "comparison", "scatter"]

[study]
resamples = 20
"""


def rows() -> list[dict[str, object]]:
    """A made-up release: later systems write longer and better."""
    return [
        {
            "id": f"{item}-{system}",
            "item": str(item),
            "system": system,
            "text": "The wood was old and said so. " * (1 + place + (item * 7 + place) % 3),
            "ann": 1 + (place + item) % 5,
            "bo": 1 + (place + item * item) % 5,
            "mine": place + (item * 3 + place * 5) % 4 / 4,
        }
        for item in range(ITEMS)
        for place, system in enumerate(SYSTEMS)
    ]


@pytest.fixture
def wood(fabula: Run, tmp_path: Path) -> Path:
    """A study file of a table that was added as a data set."""
    made = rows()
    with (tmp_path / "wood.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(made[0]))
        writer.writeheader()
        writer.writerows(made)
    done = fabula("data", "add", "wood", "wood.csv", "--gold", "ann,bo")
    assert done.returncode == 0, done.stderr
    path = tmp_path / "wood.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def failed(done: subprocess.CompletedProcess[bytes]) -> str:
    """The one line that a command said before it gave up, after the times of parts."""
    assert done.returncode == 2 and not done.stdout
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("fabula: ")]
    assert len(lines) == 1 and b"Traceback" not in done.stderr
    return lines[0]


def test_a_study_is_run_into_a_folder(fabula: Run, wood: Path, tmp_path: Path) -> None:
    done = fabula("study", "run", wood, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().split() == [str(Path("out", "study.html"))]
    page = (tmp_path / "out" / "study.html").read_text(encoding="utf-8")
    assert "Tales of the wood" in page and "The wood was old and said so." in page
    with (tmp_path / "out" / "tables" / "correlations.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    metrics = {"mine", "words", "unique_words", "word_length", "mattr"}
    assert {line["metric"] for line in lines} == metrics
    assert len(lines) == len(metrics) * 2 * 3 * 3  # aspects, levels, coefficients
    assert (tmp_path / "out" / "figures" / "standing_item_ann.svg").is_file()
    assert (tmp_path / "out" / "tables" / "systems.tex").is_file()


def test_times_of_parts_go_to_stderr_unless_quiet(fabula: Run, wood: Path) -> None:
    lines = fabula("study", "run", wood, "-o", "out").stderr.decode().splitlines()
    assert [line.split("  ")[0] for line in lines] == [
        "data and baselines", "correlations with intervals", "standing", "systems", "comparison",
        "scatter", "page, tables and figures", "in all",
    ]  # fmt: skip
    assert all(" s" in line for line in lines)
    assert [line for line in lines if line.endswith("nothing to show")] == [lines[4]]
    quiet = fabula("study", "run", wood, "-o", "out", "-q")
    assert (quiet.returncode, quiet.stderr) == (0, b"")


def test_a_study_without_parts_has_the_usual_ones(fabula: Run, wood: Path) -> None:
    wood.write_text('title = "Wood"\ndataset = "wood"\n[study]\nresamples = 20\n', encoding="utf-8")
    said = fabula("study", "run", wood, "-o", "out").stderr.decode()
    for part in USUAL_PARTS:
        assert any(line.startswith(f"{part} ") for line in said.splitlines())


@pytest.mark.parametrize("name", ["mans", "union"])
def test_a_release_is_read_where_it_lies(fabula: Run, tmp_path: Path, name: str) -> None:
    folder = put(tmp_path / FOLDERS[name], SAMPLES[name])
    study = tmp_path / "small.toml"
    study.write_text(f'title = "Small"\ndataset = "{name}"\n', encoding="utf-8")
    words = ("study", "run", study, "-o", "out", "--path", folder)
    assert f"{name}: " in failed(fabula(*words))
    done = fabula(*words, "--partial", "-q")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Small" in (tmp_path / "out" / "study.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"systems"', '"sytems"', "no part of a study is called 'sytems'; did you mean 'systems'"),
        ('"wood"', '"woods"', "woods: no such file or data set; did you mean 'wood'"),
        ("resamples", "resample", "wood.toml: study.resample is no field that is known"),
        ("title", "tittle", "wood.toml: tittle is no field that is known"),
        ("[study]", "[study", "wood.toml is no TOML"),
        ("[study]", '[study]\nscorers = ["mien"]', "no scorer is called 'mien'"),
        ("[study]", '[study]\ncontrol = "word"', "no scorer is called 'word'"),
    ],
)
def test_what_a_user_can_mend_is_one_line(
    fabula: Run, wood: Path, old: str, new: str, words: str
) -> None:
    wood.write_text(STUDY.replace(old, new, 1), encoding="utf-8")
    assert words in failed(fabula("study", "run", wood, "-o", "out"))


def test_a_file_that_is_not_there_is_refused(fabula: Run) -> None:
    done = fabula("study", "run", "nowhere.toml", "-o", "out")
    assert done.returncode == 2 and b"nowhere.toml" in done.stderr


def test_a_control_and_a_family_come_from_the_file(fabula: Run, wood: Path, tmp_path: Path) -> None:
    more = '[study]\ncontrol = "words"\nscorers = ["mine", "family:baseline"]'
    wood.write_text(STUDY.replace("[study]", more), encoding="utf-8")
    done = fabula("study", "run", wood, "-o", "out", "-q")
    assert (done.returncode, done.stderr) == (0, b"")
    with (tmp_path / "out" / "tables" / "correlations.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert all(line["value"] == "" for line in lines if line["metric"] == "words")
    assert any(line["value"] for line in lines if line["metric"] == "mine")


def test_meta_writes_the_usual_report_beside_its_table(
    fabula: Run, wood: Path, tmp_path: Path
) -> None:
    done = fabula("meta", "wood", "--resamples", "20", "-q", "-f", "json", "-o", "report")
    assert done.returncode == 0, done.stderr
    assert done.stderr.decode().split() == [str(Path("report", "study.html"))]
    printed = json.loads(done.stdout)["rows"]
    with (tmp_path / "report" / "tables" / "correlations.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(printed) == 5 * 2 * 3 * 3
    page = (tmp_path / "report" / "study.html").read_text(encoding="utf-8")
    assert "wood: metrics and ratings" in page


@pytest.mark.slow
def test_hanna_s_study_runs_from_end_to_end(
    shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ran = hanna_study(shared, tmp_path_factory)
    assert ran.stdout.strip() == str(ran.folder / "study.html")
    assert "nothing to show" not in ran.stderr and "in all" in ran.stderr
    page = (ran.folder / "study.html").read_text(encoding="utf-8")
    assert "Table 4. Systems by their ratings" in page
    with (ran.folder / "tables" / "printed.csv").open(encoding="utf-8") as file:
        printed = list(csv.DictReader(file))
    assert len(printed) > 4000
    assert [line["what"] for line in printed if line["holds"] != "True"] == [
        "surprise, kendall, Novelty-1",
        "complexity, kendall, Novelty-1",
    ]
    with (ran.folder / "tables" / "correlations.csv").open(encoding="utf-8") as file:
        assert sum(1 for _ in csv.DictReader(file)) == (72 + 4) * 6 * 3 * 3


def test_a_study_beside_its_table_says_where_both_lie(fabula: Run, tmp_path: Path) -> None:
    stories = [
        Story(f"{item}-{system}", f"It was {item} by the {system}. " * (item + 1),
              system=system, item=str(item))
        for item in range(ITEMS) for system in SYSTEMS
    ]  # fmt: skip
    scores = [
        Score(story.id, f"human:{rater}", "mood", 1.0 + (len(story.text) + place) % 5)
        for place, rater in enumerate(("r1", "r2"))
        for story in stories
    ]
    folder = tmp_path / "people"
    ScoreTable(stories, scores).save(folder)
    study = 'title = "Mood"\ndataset = "."\nreport = "report"\nparts = ["standing"]\n'
    metrics = '\n[study]\nresamples = 20\n\n[metrics]\ndistinct = "distinct"\n'
    (folder / "study.toml").write_text(study + metrics, encoding="utf-8")
    done = fabula("study", "run", folder / "study.toml", "-q")
    assert done.returncode == 0, done.stderr.decode()
    page = folder / "report" / "study.html"
    assert done.stdout.decode().strip() == str(page) and "distinct" in page.read_text("utf-8")
