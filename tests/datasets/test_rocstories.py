from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.rocstories import load
from fakes.release_samples import SAMPLES, lines, put

HEADER = "storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5\n"
SPRING, WINTER = "ROCStories_spring.csv", "ROCStories_winter.csv"


def test_sentences_are_joined_and_the_id_tells_the_form(tmp_path: Path) -> None:
    assert load(put(tmp_path, SAMPLES["rocstories"])).stories == (
        Story("cased:1", "Ann made tea. Good.", "Tea"),
        Story("lower-tok:2", "bo ran ."),
    )


def test_the_corpus_itself_is_read_from_all_its_files(tmp_path: Path) -> None:
    files = {
        SPRING: HEADER + 'a1,Tea,"Ann, again.",Two.,Three.,Four.,Five.\n',
        WINTER: HEADER + "b1,Run,One.,Two.,Three.,Four.,Five.\n",
    }
    dataset = load(put(tmp_path, files))
    assert dataset.stories == (
        Story("a1", "Ann, again. Two. Three. Four. Five.", "Tea"),
        Story("b1", "One. Two. Three. Four. Five.", "Run"),
    )
    assert not dataset.card.counts
    assert load(tmp_path / WINTER).stories == dataset.stories[1:]


def test_a_story_in_two_files_is_refused(tmp_path: Path) -> None:
    text = HEADER + "a1,Tea,One.,Two.,Three.,Four.,Five.\n"
    with pytest.raises(
        InputError, match=r"winter\.csv, line 2: story 'a1' was there before, at .*sp"
    ):
        load(put(tmp_path, {SPRING: text, WINTER: text}))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"form": "cased", "title": "", "sentences": []}, "line 1: field 'sentences' is no list"),
        ({"form": "cased", "title": "", "sentences": [1]}, "line 1: field 'sentences' is no list"),
        ({"form": "cased", "title": "", "sentences": "A."}, "holds a str, not a list"),
        ({"form": "cased", "sentences": ["A."]}, "field 'title' is missing"),
    ],
)
def test_a_row_that_is_wrong_is_named(tmp_path: Path, row: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(put(tmp_path, {"rocstories.jsonl": lines(row)}))


def test_a_column_that_is_missing_is_named(tmp_path: Path) -> None:
    text = HEADER.replace(",sentence5", "") + "a1,Tea,One.,Two.,Three.,Four.\n"
    with pytest.raises(InputError, match="line 2: field 'sentence5' is missing"):
        load(put(tmp_path, {SPRING: text}))
