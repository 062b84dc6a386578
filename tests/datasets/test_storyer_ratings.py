from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError
from fabula.datasets import list_findings
from fabula.datasets.storyer_ratings import ASPECTS, load, load_correlation
from fakes.release_samples import SAMPLES, put, submission

NAME = "train_rate_reason_small.json"


def refused(folder: Path, *rows: Any) -> str:
    with pytest.raises(InputError) as caught:
        load(put(folder, {NAME: json.dumps(rows)}))
    return str(caught.value)


def test_a_submission_is_a_rater_and_its_comments_are_notes(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["storyer_ratings"]))
    found = [(s.story, s.scorer, s.aspect, s.value, s.note) for s in dataset.ratings]
    assert found == [
        ("1.1", "human:1", "opening", 4, "Bright."),
        ("1.1", "human:1", "ending", 2, "Abrupt."),
        ("1.1", "human:2", "opening", 5, "Lovely."),
        ("2.1", "human:1", "novelty", 1, "Old hat."),
    ]
    assert dataset.stories[0].text == "A lamp.\n\nA wish."
    assert not dataset.card.raters_known


def test_upvotes_are_scores_not_ratings(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["storyer_ratings"]))
    assert [(s.story, s.scorer, s.value) for s in dataset.scores] == [
        ("1.1", "upvotes", 7),
        ("2.1", "upvotes", 0),
    ]
    assert dataset.scorers["upvotes"].direction == "higher"


def test_what_is_no_rating_is_named_with_its_slot(tmp_path: Path) -> None:
    assert "story 1, comment 1: rating 6 is outside the scale 1 to 5" in refused(
        tmp_path, submission("a", 1.0, [1, 6, "x"])
    )
    assert "comment 1: aspect 11 is not 1 to 10" in refused(
        tmp_path, submission("a", 1.0, [11, 3, "x"])
    )
    assert "comment 1: the comment is no text" in refused(tmp_path, submission("a", 1.0, [1, 3, 7]))
    assert "comment 1: not [aspect, rating, comment]" in refused(
        tmp_path, submission("a", 1.0, [1, 3])
    )
    assert "field 'comments' holds 6 values, not 5" in refused(
        tmp_path, submission("a", 1.0, *[[-1, -1, None]] * 6)
    )


def test_an_aspect_rated_twice_in_a_submission_is_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, submission("a", 1.0, [1, 3, "x"], [1, 4, "y"]))
    assert (
        "comment 2: a score of 'human:1' for story '1.1' on 'opening' was there before" in message
    )


def test_votes_that_contradict_each_other_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [submission("a", 1.0), submission("a", 2.0, [1, 3, "x"]), submission("b", 5.0)]
    # What nobody counted is missing, not 0, and contradicts nothing.
    rows += [submission("b", None, [2, 3, "y"]), submission("c", float("nan"))]
    dataset = load(put(tmp_path, {NAME: json.dumps(rows)}))
    texts = {story.id: story.text for story in dataset.stories}
    assert [(texts[one.story], one.value) for one in dataset.scores] == [("b", 5.0)]
    assert dataset.card.quirks[-1] == (
        "Left out: upvotes of 1 story whose submissions tell them differently."
    )


def test_a_correlation_set_has_one_mean_rating_a_story(tmp_path: Path) -> None:
    path = tmp_path / "mine.pkl"
    path.write_bytes(pickle.dumps([("A lamp. <br>Lit.", 0.25), ["No lamp.", 1]]))
    dataset = load(path)
    assert [story.text for story in dataset.stories] == ["A lamp.\nLit.", "No lamp."]
    assert [(s.scorer, s.aspect, s.value) for s in dataset.ratings] == [
        ("human:mean", "overall", 0.25),
        ("human:mean", "overall", 1.0),
    ]
    assert dataset.card.scale("overall") == (0, 1) and not dataset.card.counts


def test_a_row_of_a_correlation_set_that_comes_again_is_left_out_and_counted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "mine.pkl"
    path.write_bytes(pickle.dumps([("a", 0.5), ("b", 0.25), ("a", 0.5)]))
    dataset = load_correlation(path)
    assert [(one.story, one.value) for one in dataset.ratings] == [("1", 0.5), ("2", 0.25)]
    assert list_findings(dataset) == ["Left out: 1 row that came before."]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", 1.5)], "row 1: rating 1.5 is outside the scale 0 to 1"),
        (
            [("a", 0.5), ("a", 0.75)],
            "row 2: the story of mine.pkl, row 1, rated 0.75 and not 0.5",
        ),
        ([(0.5, "a")], "row 1: field 'story' holds a float"),
    ],
)
def test_a_correlation_set_that_is_wrong_is_refused(
    tmp_path: Path, rows: list[Any], message: str
) -> None:
    path = tmp_path / "mine.pkl"
    path.write_bytes(pickle.dumps(rows))
    with pytest.raises(InputError, match=message):
        load_correlation(path)


def test_the_aspects_are_the_ten_of_the_paper() -> None:
    assert len(ASPECTS) == 10 and ASPECTS[2] == "ending" and ASPECTS[9] == "novelty"


def test_parts_of_a_release_are_read_together_and_a_submission_once(tmp_path: Path) -> None:
    first = submission("a", 1.0, [1, 3, "Bright."])
    second = submission("a", 1.0, [1, 2, "Dull."])
    put(tmp_path, {"test_rate.json": json.dumps([first, second])})
    put(tmp_path, {"train_rate.json": json.dumps([first]), "curated.json": "none"})
    dataset = load(tmp_path)
    assert [(s.scorer, s.value) for s in dataset.ratings] == [("human:1", 3), ("human:2", 2)]
    assert dataset.card.quirks[-1] == "Left out: 1 submission that came before."


def test_a_rating_without_a_comment_is_kept_and_whole_numbers_may_be_floats(
    tmp_path: Path,
) -> None:
    rows = [submission("a", 1.0, [2.0, 3.0, float("nan")], [None, 4, "on nothing"])]
    dataset = load(put(tmp_path, {NAME: json.dumps(rows)}))
    assert [(s.aspect, s.value, s.note) for s in dataset.ratings] == [("middle", 3.0, "")]
