from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import UnknownName
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.comments.evidence import (
    MOST_CHARACTERS,
    MOST_WORDS,
    StorySentences,
    find_evidence,
    stem_list,
    word_list,
)
from fabula.text.words import locate_words
from fakes.review import TEXT

WORDS = st.sampled_from(
    "Mara Tom sea lamp blood scream tears hug laughed but suddenly “Go,” she said. He ran! \n\n "
    ", ; — the a of dark 海 は。 😀 don’t it’s \ud800 Dr. “open".split(" ")
)
STORIES = st.lists(WORDS, max_size=60).map(" ".join) | st.text(max_size=80)


def quote_of(aspect: str, text: str = TEXT) -> str:
    return find_evidence(text, aspect).quote


@given(STORIES, st.sampled_from(ASPECTS))
def test_a_quote_stands_in_the_story_where_it_is_said_to(text: str, aspect: str) -> None:
    found = find_evidence(text, aspect)
    assert found.found != bool(found.reason)
    if found.found:
        assert text[found.start : found.end] == found.quote == found.quote.strip()
        assert len(locate_words(found.quote)) <= MOST_WORDS
        assert len(found.quote) <= MOST_CHARACTERS


@pytest.mark.parametrize(
    ("aspect", "quote"),
    [
        ("opening", "The lamp in the tower went out at nine"),
        (
            "middle",
            "But the stone of the new step was warm, and somebody had written a name on it.",
        ),
        ("ending", "Then she went down two hundred and eleven steps."),
        ("scene", "The sea lay black and quiet, and the salt wind smelled of smoke."),
        ("sad", "He had drowned in the winter when the boats did not come home."),
    ],
)
def test_each_aspect_has_its_own_evidence(aspect: str, quote: str) -> None:
    assert quote_of(aspect) == quote


def test_who_is_named_most_is_the_evidence_of_character() -> None:
    text = "It rained. So Ann called Ben. Then “Stay,” said Ann to Ben. Later, Ann slept."
    found = find_evidence(text, "character")
    assert found.quote == "Then “Stay,” said Ann to Ben."
    assert found.how == "a line with Ann, named 3 times"


def test_without_a_name_speech_counts_and_then_people() -> None:
    assert quote_of("character", "It rained. “Stay,” he said.") == "“Stay,” he said."
    assert quote_of("character", "It rained. He left.") == "He left."
    assert find_evidence("It rained. It snowed.", "character").reason.startswith("nobody is named")


def test_words_in_other_forms_are_found() -> None:
    found = find_evidence("A day went by. She screamed, and he was screaming.", "horror")
    assert found.words == ("screamed", "screaming")
    assert found.how == "the line densest in words of dread"


def test_a_story_without_words_of_a_tone_says_so() -> None:
    found = find_evidence("A day went by. Another came.", "horror")
    assert not found.found and found.reason == "hardly a word of dread was found"


def test_a_story_of_one_sentence_has_neither_middle_nor_ending() -> None:
    assert quote_of("opening", "It rained.") == "It rained."
    assert "too short" in find_evidence("It rained.", "middle").reason
    assert "its opening" in find_evidence("It rained.", "ending").reason
    assert find_evidence(" ", "opening").reason == "the story has no text"


def test_without_a_turn_the_longest_sentence_of_the_middle_is_taken() -> None:
    text = "One. Two three. Four five six seven. Eight nine. Ten."
    found = find_evidence(text, "middle")
    assert (found.quote, found.how) == (
        "Four five six seven.",
        "the longest sentence of the middle",
    )


def test_but_is_no_turn_where_it_means_except() -> None:
    text = "It rained. All but one of the boats came home. We counted them again and again. Ten."
    assert find_evidence(text, "middle").how == "the longest sentence of the middle"
    text = "It rained. But one of the boats came home. We counted them again and again. Ten."
    assert find_evidence(text, "middle").how == "the turn at “but”"


def test_a_long_sentence_is_cut_at_a_pause_and_at_its_end_for_the_ending() -> None:
    long = "one two three four five six seven eight, " + " ".join(f"word{n}" for n in range(30))
    assert (
        quote_of("opening", f"{long}. The end came.") == "one two three four five six seven eight"
    )
    ending = quote_of("ending", f"It began. And {long}.")
    assert ending.endswith("word29.") and len(locate_words(ending)) == MOST_WORDS


def test_a_cut_without_a_pause_does_not_end_in_function_words() -> None:
    text = " ".join(f"word{n}" for n in range(15)) + " off of the rails and away. The end came."
    assert quote_of("opening", text).endswith("word14")


def test_novelty_goes_by_words_used_once() -> None:
    text = "The dog ran. The dog ran home. A zeppelin swallowed the cathedral. The dog ran."
    assert quote_of("novelty", text) == "A zeppelin swallowed the cathedral."


def test_an_unknown_aspect_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'ending'"):
        find_evidence(TEXT, "endin")


def test_a_text_is_parted_once_for_all_aspects() -> None:
    sentences = StorySentences(TEXT)
    assert [find_evidence(sentences, one) for one in ASPECTS] == [
        find_evidence(TEXT, one) for one in ASPECTS
    ]


@pytest.mark.parametrize("name", ["scene", "heartwarming", "sad", "horror", "funny"])
def test_word_lists_are_of_some_size_and_of_small_letters(name: str) -> None:
    words = word_list(name)
    assert len(words) >= 60 and all(word == word.lower() for word in words)
    assert not words & word_list("stop") or name == "sad"
    assert len(stem_list(name)) <= len(words)


def test_a_title_is_no_opening_and_names_nobody() -> None:
    story = (
        "The Keeper's Last Step\n\nThe lamp went out at nine, and nobody said a word about it. She "
    )
    story += "counted the steps to the top, as she always did, and went down again in the dark."
    assert find_evidence(story, "opening").quote.startswith("The lamp went out at nine")
    assert "Keeper" not in find_evidence(story, "character").quote
    assert all("Keeper" not in find_evidence(story, aspect).quote for aspect in ASPECTS)
