from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.writingprompts import load
from fakes.release_samples import SAMPLES, lines, put

ORIGINAL = {
    "valid.wp_source": "[ WP ] A quiet bell\n[ CW ] No letter e\n",
    "valid.wp_target": "Dong . <newline> <newline> Silence .\nGood morning .\n",
}


def test_stories_on_one_prompt_share_an_item(tmp_path: Path) -> None:
    assert load(put(tmp_path, SAMPLES["writingprompts"])).stories == (
        Story("1.1", "Dong.\nSilence.", "A quiet bell", item="1"),
        Story("1.2", "No dong.", "A quiet bell", item="1"),
        Story("2.1", "Alone.", item="2"),
        Story("3.1", "Alone too.", item="3"),
    )


def test_the_corpus_itself_is_read_by_its_pairs_of_files(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, ORIGINAL))
    assert dataset.stories == (
        Story("1.1", "Dong .\n\nSilence .", "A quiet bell", item="1"),
        Story("2.1", "Good morning .", "[ CW ] No letter e", item="2"),
    )
    assert not dataset.card.counts


def test_one_part_is_read_where_its_file_is_given(tmp_path: Path) -> None:
    put(tmp_path, ORIGINAL | {"test.wp_source": "a\n", "test.wp_target": "b\n"})
    assert len(load(tmp_path).stories) == 3
    assert [story.text for story in load(tmp_path / "test.wp_target").stories] == ["b"]


@pytest.mark.parametrize("target", ["One .\n", "One .\nTwo .\nThree .\n"])
def test_files_of_unlike_length_are_refused(tmp_path: Path, target: str) -> None:
    with pytest.raises(InputError, match="have not the same number of lines"):
        load(put(tmp_path, ORIGINAL | {"valid.wp_target": target}))


def test_a_file_without_its_other_half_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"valid\.wp_target is not there"):
        load(put(tmp_path, {"valid.wp_source": "a\n"}))


def test_a_row_without_a_story_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: field 'story' is missing"):
        load(put(tmp_path, {"writingprompts.jsonl": lines({"prompt": "a"})}))
