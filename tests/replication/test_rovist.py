"""RoViST's printed figures, and the study files and the survey that are shipped for them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.meta.study import read_study
from fabula.replication.rovist import FIGURE_3, FIGURE_5, TABLE_1, TABLE_2, RovistPublication
from fabula.reports.parts import WITHOUT_RATINGS, find_part, known_parts
from fabula.reports.study_blocks import TableBlock
from fabula.scoring.study_scores import score_study

REPO = Path(__file__).parents[2]
STUDIES = ("rovist", "vist", "vist_people")


def test_printed_figures_are_those_of_the_paper(shared: Path) -> None:
    golden = json.loads((shared / "reference" / "golden.json").read_text(encoding="utf-8"))
    printed = golden["rovist"]
    rows = [printed["table1_rovist"][name] for name in
            ("Grounding", "Coherence", "Non-redun", "Overall")]  # fmt: skip
    assert [list(row) for row in TABLE_1.values()] == rows
    assert {system: list(row) for system, row in FIGURE_5.items()} == {
        system: row for system, row in printed["fig5_coherence"].items() if system != "note"
    }
    for system, row in printed["fig3_human"].items():
        assert FIGURE_3[system] == tuple(row[key] for key in ("VG", "C", "NR", "votes"))


def test_printed_tables_stand_below_their_parts_and_say_whose_they_are() -> None:
    paper = RovistPublication()
    for part in ("by_aspect", "votes", "example", "order"):
        (table, *_) = paper.blocks(part)
        assert isinstance(table, TableBlock)
        assert "as printed" in table.title and "GLACNet" in table.note
    assert list(TABLE_2.values()) == [0.423, 0.663, 0.379, 0.754]
    assert not paper.blocks("systems") and not paper.values
    assert paper.value("by_aspect", "RoViST") is None


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_file_names_parts_and_metrics_that_there_are(name: str) -> None:
    study = read_study(REPO / "studies" / f"{name}.toml")
    for part in (*study.parts, *study.options):
        find_part(part)
    untold = Dataset(study.dataset, DatasetCard("", "", ""), (Story("1", "", system="A"),))
    # No story has a text, so that every metric is made and none is run.
    scored = score_study(replace(study, human=""), untold)
    assert {column.name for column in scored.columns} == set(study.metrics)
    assert not any(column.scored for column in scored.columns)
    if study.dataset != "visual_survey":
        assert set(study.parts) <= {*WITHOUT_RATINGS}


def test_parts_that_need_no_ratings_are_parts() -> None:
    assert set(WITHOUT_RATINGS) <= set(known_parts())


def test_the_survey_of_the_examples_is_whole() -> None:
    survey = load_dataset("visual_survey", REPO / "examples" / "visual_survey")
    assert survey.counts["items"] == 6 and survey.counts["systems"] == 4
    assert len({rating.scorer for rating in survey.ratings}) == 6
    assert all(len(story.references) == 3 for story in survey.stories)
    # Every rater chose one story of each sequence, over three others.
    assert len(survey.preferences) == 6 * 6 * 3
