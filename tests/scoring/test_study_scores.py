"""Metrics that a study file names, run over the stories of its data set."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabula.core.dataset import Dataset
from fabula.core.errors import SettingError, UnknownName
from fabula.core.table import ScoreTable
from fabula.meta.study import StudyFile
from fabula.scoring.study_scores import (
    ScoredStudy,
    StudyColumn,
    choose_items,
    score_study,
    tell_reference,
)
from fakes.visual_survey import load_survey

ROUGE = "rouge(n=1, stem=False)"


@pytest.fixture
def survey(tmp_path: Path) -> Dataset:
    return load_survey(tmp_path / "survey")


def run(dataset: Dataset, metrics: dict[str, Any], **file: Any) -> ScoredStudy:
    return score_study(StudyFile("S", dataset.name, metrics=metrics, **file), dataset)


def test_a_column_bears_the_name_that_the_file_gives_it(survey: Dataset) -> None:
    scored = run(survey, {"How long": "words", "ROUGE": f"{ROUGE}.recall"})
    values = {(one.scorer, one.story): one.value for one in scored.dataset.scores}
    assert values["How long", "q1/C"] == 6
    # Of the three references "red dog" is found whole.
    assert values["ROUGE", "q1/B"] == 1.0
    assert values["votes", "q1/C"] == 0.75
    assert scored.columns == (
        StudyColumn("How long", "words", scored=6, stories=6),
        StudyColumn("ROUGE", ROUGE, value="recall", scored=6, stories=6),
    )
    assert scored.dataset.scorers["ROUGE"].uses == ("reference",)


def test_of_several_values_the_last_is_meant(survey: Dataset) -> None:
    scored = run(survey, {"ROUGE": ROUGE})
    by_story = {one.story: one for one in scored.dataset.scores if one.scorer == "ROUGE"}
    # "red dog ran home" beside "red dog": precision ½, recall 1.
    assert by_story["q1/B"].value == pytest.approx(2 / 3)
    assert by_story["q1/B"].aspect == ""


def test_of_values_with_and_without_a_name_the_one_without_is_meant(survey: Dataset) -> None:
    plain, original = run(survey, {"VG": "rovist_vg", "Paper": "rovist_vg.original"}).columns
    assert (plain.value, original.value) == ("", "original")
    # There are no pictures to look at, and both say so.
    assert plain.why == original.why == "give the story its images"


def test_parts_of_a_column_are_held_against_their_own_aspect(survey: Dataset) -> None:
    scored = run(survey, {"Ours": {"grounding": "words", "coherence": "unique_words"}})
    aspects = {one.aspect for one in scored.dataset.scores if one.scorer == "Ours"}
    assert aspects == {"grounding", "coherence"}
    assert [one.aspect for one in scored.columns] == ["grounding", "coherence"]


def test_a_metric_that_lacks_something_has_no_column_and_says_why(survey: Dataset) -> None:
    scored = run(survey, {"Coverage": "coverage", "Words": "words"})
    lacking, there = scored.columns
    assert (lacking.scored, lacking.why) == (0, "give the story a prompt")
    assert there.scored == 6
    assert "Coverage" not in scored.dataset.scores.scorers
    assert "Coverage" not in scored.dataset.scorers


def test_weights_that_are_not_there_cost_their_own_column_alone(
    survey: Dataset, tmp_path: Path
) -> None:
    absent = str(tmp_path / "nowhere")
    scored = run(survey, {"Order": f"rovist_c(weights={absent!r})", "Words": "words"})
    assert [one.scored for one in scored.columns] == [0, 6]
    assert "nowhere" in scored.columns[0].why


def test_a_story_that_lacks_what_others_have_is_counted(survey: Dataset) -> None:
    first, *others = survey.stories
    bare = replace(survey, stories=(replace(first, references=()), *others))
    (column,) = run(bare, {"ROUGE": ROUGE}).columns
    assert (column.scored, column.stories, column.why) == (5, 6, "give the story a reference")


def test_references_are_taken_one_by_one(survey: Dataset) -> None:
    options = {"references": {"counts": [2, 1, 3]}}
    scored = run(survey, {"ROUGE": ROUGE, "Words": "words"}, options=options)
    assert list(scored.by_references) == [1, 2, 3]
    first, second = (
        {one.story: one.value for one in scored.by_references[count]} for count in (1, 2)
    )
    # "red dog" beside "red cat": one of two words; beside "red dog" all. Words read no reference.
    assert first["q1/A"] == pytest.approx(0.5)
    assert second["q1/A"] == pytest.approx(1.0)
    assert scored.by_references[1].scorers == ["ROUGE"]


def test_metrics_that_take_long_need_not_be_run_again_for_every_number(survey: Dataset) -> None:
    both = {"ROUGE": ROUGE, "BLEU": "bleu(order=1)"}
    options = {"references": {"counts": [1, 2], "metrics": ["BLEU"]}}
    assert run(survey, both, options=options).by_references[2].scorers == ["BLEU"]


def test_stories_with_too_few_references_are_left_out_of_all_counts(survey: Dataset) -> None:
    first, *others = survey.stories
    short = replace(survey, stories=(replace(first, references=("red cat",)), *others))
    scored = run(short, {"ROUGE": ROUGE}, options={"references": {"counts": [1, 2]}})
    assert {one.story for one in scored.by_references[1]} == {one.id for one in others}


@pytest.mark.parametrize(
    ("metrics", "file", "words"),
    [
        ({"R": "rouge.reach"}, {}, "rouge gives no 'reach'"),
        ({"R": 3}, {}, "R: 3 is no metric"),
        ({"R": {"coherence": ["words"]}}, {}, "is no metric"),
        ({"W": "words"}, {"items": -1}, "items = -1"),
        ({"W": "words"}, {"human": "A"}, "'A' is a system of the data set"),
        ({"W": "words"}, {"options": {"references": {"counts": [0]}}}, "below 1"),
        (
            {"W": "words"},
            {"options": {"references": {"metrics": ["V"]}}},
            "no column is called 'V'",
        ),
    ],
)
def test_what_a_file_says_wrongly_is_named(survey: Dataset, metrics, file, words: str) -> None:
    with pytest.raises(SettingError, match=words):
        run(survey, metrics, **file)


def test_an_unknown_metric_is_an_error_and_no_missing_column(survey: Dataset) -> None:
    with pytest.raises(UnknownName, match="rogue"):
        run(survey, {"R": "rogue"})


def test_items_that_every_system_told_are_chosen_at_even_distances(survey: Dataset) -> None:
    extra = replace(survey.stories[0], id="q0/A", item="q0")
    chosen = choose_items(replace(survey, stories=(extra, *survey.stories)), 1)
    assert [one.id for one in chosen.stories] == ["q1/A", "q1/B", "q1/C"]
    assert {one.story for one in chosen.ratings} == {"q1/A", "q1/B", "q1/C"}
    assert {one.better for one in chosen.preferences} == {"q1/B", "q1/C"}


def test_people_are_told_as_a_system_and_no_longer_refer_to_themselves(survey: Dataset) -> None:
    told = tell_reference(replace(survey, ratings=ScoreTable()), "Human")
    human = [one for one in told.stories if one.system == "Human"]
    assert [(one.id, one.text, one.references) for one in human] == [
        ("Human/q1", "red cat", ("red dog", "blue bird")),
        ("Human/q2", "a cat sat", ("the fish", "a stone")),
    ]
    assert told.stories[0].references == ("red dog", "blue bird")
