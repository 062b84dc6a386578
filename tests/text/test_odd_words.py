"""Odd words: what is neither in a vocabulary nor made of its words."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fabula.text.odd_words import OddWords, describe_odd_words, find_odd_words

VOCABULARY = {
    "the", "old", "door", "walk", "write", "stop", "happy", "sand", "castle", "was", "open", "and",
    "nobody", "came", "again", "that", "night", "because", "road", "under", "water", "for", "days",
    "who", "had", "seen", "would", "not", "say",
}  # fmt: skip
SOUND = (
    "The old door was open again and nobody walked the road that night. Writing stopped, happily, "
    "because the road was under water for days. Who had seen the sandcastle would not say. "
    "Nobody came again and Mortlake would not reopen the door."
)


def tokens_of(texts: Sequence[str]) -> list[int]:
    """Cut what is not in a small vocabulary into three tokens."""
    return [1 if text in VOCABULARY else 3 for text in texts]


def test_endings_compounds_beginnings_and_names_are_no_odd_words() -> None:
    assert find_odd_words(SOUND, tokens_of) == OddWords(0.0, ())


def test_odd_words_are_counted_and_the_oddest_named_first() -> None:
    text = SOUND.replace("road", "raod").replace("night", "nihgt").replace("door", "doro")
    odd = find_odd_words(text, tokens_of)
    # Of 42 words of three letters “Writing”, “Who” and “Mortlake” are never small.
    assert odd.share == pytest.approx(5 / 39)
    assert odd.words == ("doro", "raod", "nihgt")  # three tokens of four letters before five
    assert odd.are_many and "(“doro”, “raod”, “nihgt”)" in describe_odd_words(odd)


def test_few_odd_words_and_short_texts_tell_nothing() -> None:
    assert find_odd_words("The raod was opne.", tokens_of) == OddWords()
    assert describe_odd_words(OddWords(0.07, ("raod", "doro", "nihgt"))) == ""
    assert describe_odd_words(OddWords(0.2, ("Raod",))) == ""


def test_a_story_of_five_sentences_is_long_enough() -> None:
    text = "The doro was open. Nobody walked the raod that nihgt. Water was under the old castle."
    odd = find_odd_words(f"{text} Nobody had seen the road again.", tokens_of)
    assert odd.words == ("doro", "raod", "nihgt") and odd.are_many
