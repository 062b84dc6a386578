from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.datasets.lamp import group_edits, load
from fakes.release_samples import SAMPLES, lines, put

NAME = "scores.jsonl"


def test_a_text_that_comes_again_is_one_story_with_another_rating(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["lamp"]))
    assert [story.id for story in dataset.stories] == ["train:1", "train:2", "train:3", "test:1"]
    assert [(s.story, s.scorer, s.value) for s in dataset.ratings] == [
        ("train:1", "human:1", 3),
        ("train:2", "human:1", 6),
        ("train:3", "human:1", 7),
        ("train:1", "human:2", 5),
        ("test:1", "human:1", 4),
    ]


def test_a_score_below_the_scale_is_a_missing_one(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in SAMPLES["lamp"][NAME].splitlines()]
    assert [row["score"] for row in rows].count(0) == 1
    dataset = load(put(tmp_path, SAMPLES["lamp"]))
    assert min(score.value for score in dataset.ratings) == 3


def test_the_instruction_to_a_judge_is_cut_off(tmp_path: Path) -> None:
    texts = [story.text for story in load(put(tmp_path, SAMPLES["lamp"])).stories]
    assert texts[1] == "Aunt Petra sold her piano to a man with no hands."
    assert not any("JSON" in text for text in texts)


def test_a_paragraph_and_its_edit_are_one_item(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["lamp"]))
    assert [(story.item, story.system) for story in dataset.stories] == [
        ("1", "version 1"), ("2", "version 1"), ("1", "version 2"), ("3", "version 1"),
    ]  # fmt: skip


def test_two_texts_that_belong_to_a_third_belong_together() -> None:
    words = [f"w{number}" for number in range(28)]
    # Fourteen words hold ten runs of five, thirteen hold nine.
    first, bridge, last = words[:14], words, words[14:]
    assert group_edits([" ".join(text) for text in (first, last)]) == [1, 2]
    assert group_edits([" ".join(text) for text in (first, last, bridge)]) == [1, 1, 1]
    assert group_edits([" ".join(text) for text in (words[:13], bridge)]) == [1, 2]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "A.", "score": 11, "part": "train"}, "rating 11 is outside the scale 1 to 10"),
        ({"text": "A.", "score": "?", "part": "train"}, "rating '\\?' is no number"),
        ({"text": "A.", "score": 4, "part": "dev"}, "part 'dev' is neither train nor test"),
        ({"text": "A.", "part": "test"}, "field 'score' is missing"),
        ({"text": 3, "score": 4, "part": "test"}, "field 'text' holds a int, not text"),
    ],
)
def test_a_row_that_is_wrong_is_named(tmp_path: Path, row: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=f"line 1: {message}"):
        load(put(tmp_path, {NAME: lines(row)}))


def test_most_items_of_the_release_are_a_paragraph_and_its_edit(shared: Path) -> None:
    dataset = load(shared / "data" / "lamp")
    sizes = Counter(Counter(story.item for story in dataset.stories).values())
    assert (sizes[1], sizes[2], max(sizes)) == (32, 900, 7)
    assert not any("JSON format" in story.text for story in dataset.stories)
