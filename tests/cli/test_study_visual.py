"""`fabula study run` where the study runs metrics itself: a survey, and stories nobody rated."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.release_samples import FOLDERS, SAMPLES, put
from fakes.visual_survey import write_survey

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
SURVEY = """
title = "Six stories"
dataset = "visual_survey"
paper = "rovist"
parts = ["columns", "by_aspect", "votes", "references", "example", "means", "systems", "scatter"]

[study]
resamples = 20

[metrics]
"ROUGE-1" = "rouge(n=1, stem=False)"
Coverage = "coverage"
Ours = { grounding = "unique_words", non_redundancy = "rovist_nr" }

[references]
counts = [1, 2, 3]

[example]
item = "q2"
"""
UNRATED = """
title = "Systems and people"
dataset = "vist"
human = "Human"
items = 2
parts = ["columns", "means", "references", "systems", "between_metrics"]

[metrics]
"BLEU-1" = "bleu(order=1, tokenize='captions')"
NR = "rovist_nr"
"ROUGE-1" = "rouge(n=1, stem=False)"

[references]
counts = [1, 2]
"""


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_survey_is_studied_with_metrics_that_the_file_names(fabula: Run, tmp_path: Path) -> None:
    study = tmp_path / "survey.toml"
    study.write_text(SURVEY, encoding="utf-8")
    folder = write_survey(tmp_path / "survey")
    done = fabula("study", "run", study, "--path", folder, "-o", "out")
    assert done.returncode == 0, done.stderr
    said = done.stderr.decode()
    assert "Coverage: 6 of 6 without a value: give the story a prompt" in said
    out = tmp_path / "out" / "tables"
    first, second, *baselines = read(out / "by_aspect.csv")
    assert (first["metric"], second["metric"]) == ("ROUGE-1", "Ours")
    assert {row["metric"] for row in baselines} == {"words", "unique_words", "word_length", "mattr"}
    # Unique words 2, 4, 6, 8, 3, 5 beside grounding, as in the test of the part.
    assert float(second["grounding ρ"]) == pytest.approx(16 / (17.5 * 17) ** 0.5)
    assert second["coherence ρ"] == ""
    assert read(out / "printed_table_2.csv")[0]["overall"] == "0.754"
    page = (tmp_path / "out" / "study.html").read_text(encoding="utf-8")
    assert (
        "GLACNet" in page and "Missing here" in page and "a cat sat on the big warm stone" in page
    )


def test_stories_that_nobody_rated_are_studied_by_their_scores(fabula: Run, tmp_path: Path) -> None:
    study = tmp_path / "vist.toml"
    study.write_text(UNRATED, encoding="utf-8")
    folder = put(tmp_path / FOLDERS["vist"], SAMPLES["vist"])
    done = fabula("study", "run", study, "--path", folder, "--partial", "-o", "out")
    assert done.returncode == 0, done.stderr
    rows = read(tmp_path / "out" / "tables" / "means.csv")
    assert [row["metric"] for row in rows] == ["BLEU-1", "NR", "ROUGE-1"]
    assert "Human" in rows[0] and "AREL" in rows[0]
    lines = done.stderr.decode().splitlines()
    assert any(line.startswith("systems ") and line.endswith("nothing to show") for line in lines)
    assert (tmp_path / "out" / "figures" / "between_item_spearman.svg").is_file()


def test_without_ratings_and_metrics_there_is_nothing_to_study(fabula: Run, tmp_path: Path) -> None:
    study = tmp_path / "vist.toml"
    study.write_text('title = "V"\ndataset = "vist"\n', encoding="utf-8")
    folder = put(tmp_path / FOLDERS["vist"], SAMPLES["vist"])
    done = fabula("study", "run", study, "--path", folder, "--partial", "-o", "out")
    assert done.returncode == 2 and b"no ratings" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("rovist_nr", "rovist_nnr", b"no metric is called 'rovist_nnr'"),
        ('paper = "rovist"', 'paper = "rovist2"', b"paper"),
        ("[1, 2, 3]", '["one"]', b"counts"),
        ('"coverage"', '"rouge.reach"', b"rouge gives no 'reach'"),
    ],
)
def test_what_is_wrong_in_the_file_is_one_line(
    fabula: Run, tmp_path: Path, old: str, new: str, words: bytes
) -> None:
    study = tmp_path / "survey.toml"
    study.write_text(SURVEY.replace(old, new), encoding="utf-8")
    done = fabula("study", "run", study, "--path", write_survey(tmp_path / "s"), "-o", "out")
    assert done.returncode == 2 and words in done.stderr and b"Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
