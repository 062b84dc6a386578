"""Twelve texts of our own: which of them a review takes for a story, and what it observes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fabula.learned.comments.composer import observe
from fabula.learned.comments.evidence import word_list
from fabula.learned.reader.domain import describe_other_writing
from fabula.text.repetition import find_repetitions
from fabula.text.words import words

KINDS = Path(__file__).parents[2] / "examples" / "kinds"
STORIES = {"good", "long", "flat", "boring", "shuffled", "loop"}
OTHERS = {
    "ten_words": "10 words long",
    "poem": "as verse",
    "german": "common English words",
    "code": "as in code",
    "advert": "reads as an advert",
    "chat_log": "it is a log",
}
TEXTS = {file.stem: file.read_text(encoding="utf-8") for file in sorted(KINDS.glob("*.txt"))}


def names_observed(name: str) -> list[str]:
    runs = find_repetitions(TEXTS[name], stop_words=word_list("stop"))
    return [note.name for note in observe(TEXTS[name], runs)]


def test_there_are_twelve_kinds_and_the_long_one_is_long() -> None:
    assert TEXTS.keys() == STORIES | OTHERS.keys()
    assert len(words(TEXTS["long"])) >= 5000


@pytest.mark.parametrize("name", sorted(STORIES))
def test_a_story_is_taken_for_one_however_bad_it_is(name: str) -> None:
    assert describe_other_writing(TEXTS[name]) == ""


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_other_writing_is_called_by_what_it_is(name: str) -> None:
    assert OTHERS[name] in describe_other_writing(TEXTS[name])


def test_a_good_story_is_left_alone_and_a_dull_one_is_told_why() -> None:
    assert names_observed("good") == []
    assert {"filter words", "passive", "adverbs"} <= set(names_observed("boring"))
    assert "words near each other" in names_observed("flat")
    # Of a loop nothing else is worth saying.
    assert names_observed("loop") == ["said again"]


def test_the_shuffled_one_is_the_good_one_in_another_order() -> None:
    title, _, good = TEXTS["good"].partition("\n")
    assert title == "The Ferryman's Ledger"
    assert Counter(words(TEXTS["shuffled"])) == Counter(words(good))
