from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.dataset import Preference
from fabula.core.errors import InputError
from fabula.datasets.manplts import load
from fakes.release_samples import SAMPLES, put


def test_a_plausible_story_begins_an_item_and_is_preferred(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["manplts"]))
    assert [(story.id, story.item, story.system) for story in dataset.stories[2:6]] == [
        ("test:0", "test:1", "human"),
        ("test:1", "test:1", "manipulated"),
        ("test:2", "test:1", "manipulated"),
        ("test:3", "test:2", "human"),
    ]
    assert dataset.preferences == (
        Preference("valid:0", "valid:1", "label"),
        Preference("test:0", "test:2", "label"),
        Preference("test:3", "test:4", "label"),
    )


def test_a_label_is_a_score_and_nobody_s_rating(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["manplts"]))
    assert not len(dataset.ratings)
    assert [score.value for score in dataset.scores] == [1, 0, 1, 0, 0, 1, 0]
    assert {(score.scorer, score.aspect) for score in dataset.scores} == {("label", "plausible")}


def test_the_training_part_is_read_where_it_is_there_and_not_counted(tmp_path: Path) -> None:
    more = {"AF_ManPlts_train.tsv": "0\t1\t0\tdi sat .\n"}
    dataset = load(put(tmp_path, SAMPLES["manplts"] | more))
    assert dataset.stories[0].id == "train:0" and not dataset.card.counts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\t2\t0\ta .\n", "line 1: label '2' is neither 0 nor 1"),
        ("0\t1\t1\ta .\n", "line 1: two ids, '0' and '1'"),
        ("0\t0\t0\ta .\n", "line 1: no plausible story before this one"),
        ("0\t1\ta .\n", "line 1: 3 cells"),
        ("0\t1\t0\ta .\n0\t0\t0\tb .\n", "line 2: story 'test:0' was there before"),
    ],
)
def test_a_line_that_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(put(tmp_path, {"AF_ManPlts_test.tsv": text}))
