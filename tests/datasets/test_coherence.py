from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.datasets import load_dataset
from fabula.datasets.coherence import load
from fakes.release_samples import SAMPLES, lines, put

AMT = SAMPLES["coherence"]["AMT_ROC.CSV"]
TEA = "ann made tea . </s> it was cold . </s> she made it again . </s>"
KITE = "bo flew a kite . </s> the kite was a spoon . </s> </s>"
BY_STORY = [
    {"id": 0, "story": TEA, "ratings": [5, 4], "raters": ["W1", "W2"], "mean": 4.5},
    {"id": 1, "story": KITE, "ratings": [0, None], "raters": ["W1", "W2"], "mean": 0.0},
]


def refused(folder: Path, name: str, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load(put(folder, SAMPLES["coherence"] | {name: text}))
    return str(caught.value)


def test_zero_is_a_rating_and_an_empty_answer_is_none(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["coherence"]))
    assert [(s.story, s.scorer, s.value) for s in dataset.ratings] == [
        ("0", "human:W1", 5),
        ("1", "human:W1", 0),
        ("0", "human:W2", 4),
    ]
    assert {score.aspect for score in dataset.ratings} == {"coherence"}


def test_the_tag_behind_a_sentence_is_dropped(tmp_path: Path) -> None:
    first, second = load(put(tmp_path, SAMPLES["coherence"])).stories
    assert first.text == "ann made tea . it was cold . she made it again ."
    assert second.text == "bo flew a kite . the kite was a spoon ."


def test_predictions_find_their_story_by_its_text(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["coherence"]))
    assert {score.story: score.value for score in dataset.scores} == {"0": 0.875, "1": 0.125}


def test_the_same_by_story_gives_the_same(tmp_path: Path) -> None:
    by_story = load(put(tmp_path / "a", {"coherence_roc300.jsonl": lines(*BY_STORY)}))
    by_worker = load(put(tmp_path / "b", {"AMT_ROC.CSV": AMT}))
    assert by_story.stories == by_worker.stories and not len(by_story.scores)
    assert sorted(map(repr, by_story.ratings)) == sorted(map(repr, by_worker.ratings))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (AMT.replace(",5,0", ",6,0"), "line 2, Input.text1: rating 6 is outside the scale 0 to 5"),
        (AMT.replace(",5,0", ",fine,0"), "rating 'fine' is no number"),
        (AMT.replace("W2", "W1"), "'human:W1' for story '0' on 'coherence' was there before"),
        (AMT.replace("Answer.text2", "Answer"), "field 'Answer.text2' is missing"),
        ("WorkerId,Answer\nW1,3\n", "no column Input.text1"),
    ],
)
def test_answers_that_are_wrong_are_named(tmp_path: Path, text: str, message: str) -> None:
    assert message in refused(tmp_path, "AMT_ROC.CSV", text)


def test_predictions_that_are_wrong_are_named(tmp_path: Path) -> None:
    name = "Pred_advROC_roberta.txt"
    assert "line 1: a story that nobody rated" in refused(tmp_path, name, "no such story\t0.5\n")
    assert "rating 2 is outside the scale 0 to 1" in refused(tmp_path, name, f"{TEA}\t2\n")
    assert "line 2: a score of 'MANPLTS'" in refused(tmp_path, name, f"{TEA}\t.5\n{TEA}\t.5\n")
    assert "line 1: 1 cells between" in refused(tmp_path, name, f"{TEA}\n")


def test_a_story_with_more_ratings_than_raters_is_refused(tmp_path: Path) -> None:
    row = BY_STORY[0] | {"ratings": [5, 4, 3]}
    with pytest.raises(InputError, match="line 1: field 'ratings' holds 3 values, not 2"):
        load(put(tmp_path, {"coherence_roc300.jsonl": lines(row)}))


def test_the_predictions_correlate_with_people_as_printed(shared: Path) -> None:
    from scipy import stats

    printed = json.loads((shared / "reference" / "golden.json").read_text("utf-8"))
    wanted = printed["manplts_public_predictions"]["ROC"]
    dataset = load_dataset("coherence", shared / "data" / "coherence")
    ratings: dict[str, list[float]] = {}
    for score in dataset.ratings:
        ratings.setdefault(score.story, []).append(score.value)
    means = [sum(ratings[score.story]) / 5 for score in dataset.scores]
    values = [score.value for score in dataset.scores]
    assert stats.spearmanr(values, means)[0] == pytest.approx(wanted["spearman"], abs=1e-9)
    assert stats.kendalltau(values, means)[0] == pytest.approx(wanted["kendall"], abs=1e-9)


def test_both_forms_of_the_release_say_the_same(shared: Path) -> None:
    folder = shared / "data" / "coherence"
    by_worker, by_story = load(folder / "AMT_ROC.CSV"), load(folder / "coherence_roc300.jsonl")
    assert by_worker.stories == by_story.stories
    assert sorted(map(repr, by_worker.ratings)) == sorted(map(repr, by_story.ratings))
