from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fabula.core.dataset import Preference
from fabula.core.errors import InputError
from fabula.datasets.rocstories import load as load_rocstories
from fabula.datasets.storycloze import load
from fakes.release_samples import SAMPLES, lines, put

NAME = "validation.jsonl"
ROW = {"id": "k", "context": ["A.", "B.", "C.", "D."], "endings": ["E.", "F."], "right": 0}


def test_the_right_ending_is_preferred_wherever_it_stands(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLES["storycloze"]))
    assert dataset.preferences == (
        Preference("k1.2", "k1.1", "label"),
        Preference("k2.1", "k2.2", "label"),
    )
    assert [story.item for story in dataset.stories] == ["k1", "k1", "k2", "k2"]


def test_a_story_is_all_five_sentences(tmp_path: Path) -> None:
    first = load(put(tmp_path, SAMPLES["storycloze"])).stories[0]
    assert first.text == (
        "Ida had a loaf. It was warm. A gull came by. It looked hungry. Ida sold the sea."
    )


def test_a_file_of_another_name_is_read_and_not_counted(tmp_path: Path) -> None:
    folder = put(tmp_path, {"mine.jsonl": lines(ROW)})
    dataset = load(folder / "mine.jsonl")
    assert len(dataset.stories) == 2 and not dataset.card.counts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"right": 2}, "right 2 is neither 0 nor 1"),
        ({"right": True}, "right True is neither 0 nor 1"),
        ({"right": None}, "field 'right' is missing"),
        ({"context": ["A."]}, "field 'context' holds 1 values, not 4"),
        ({"endings": ["E.", "F.", "G."]}, "field 'endings' holds 3 values, not 2"),
        ({"endings": ["E.", 5]}, "field 'endings' is no list of texts"),
        ({"endings": ["E.", " E. "]}, "both endings are the same"),
    ],
)
def test_a_row_that_is_wrong_is_named(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"line 1: {message}"):
        load(put(tmp_path, {NAME: lines(ROW | changes)}))


def test_a_context_that_comes_again_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2: story 'k\.1' was there before"):
        load(put(tmp_path, {NAME: lines(ROW, ROW)}))


def test_the_right_endings_of_the_release_are_in_rocstories_and_no_wrong_one_is(
    shared: Path,
) -> None:
    dataset = load(shared / "data" / "storycloze")

    def letters(text: str) -> str:
        return "".join(filter(str.isalnum, text.lower()))

    known = {letters(story.text) for story in load_rocstories(shared / "data/rocstories").stories}
    seen = {story.id for story in dataset.stories if letters(story.text) in known}
    assert seen == {choice.better for choice in dataset.preferences}
