from __future__ import annotations

import pytest

from fabula.text.negate import negate
from fabula.text.sentences import split_sentences
from fabula.text.verbs import is_plain, plain_of_past, plain_of_third

PAIRS = [
    ("He was late.", "He was not late."),
    ("She can swim.", "She cannot swim."),
    ("They will have gone.", "They will not have gone."),
    ("She had seen it.", "She had not seen it."),
    ("She had a cat.", "She did not have a cat."),
    ("He did it.", "He did not do it."),
    ("Anna walked home.", "Anna did not walk home."),
    ("The old man went to bed.", "The old man did not go to bed."),
    ("He slowly opened the door.", "He slowly did not open the door."),
    ("It takes time.", "It does not take time."),
    ("I know him.", "I do not know him."),
    ("I'm sure.", "I'm not sure."),
    ("They’re here.", "They’re not here."),
    ("Was he there?", "Wasn't he there?"),
    ("Will the king come?", "Won't the king come?"),
    ("“Why did you go?”", "“Why didn’t you go?”"),
]
BACK = [
    ("He didn’t go.", "He did go."),
    ("You can't stay.", "You can stay."),
    ("Won't you come?", "Will you come?"),
    ("It cannot be.", "It can be."),
    ("She was not there.", "She was there."),
    ("She never slept.", "She slept."),
    ("Never look back.", "Look back."),
    ("I'm not sure.", "I'm sure."),
]
NEITHER = [
    "A storm, a ship, a shore.", "There was no room.", "A can of beans.", "The painted door.",
    "今日は雨。", "Then came rain?",
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "expected"), PAIRS + BACK)
def test_a_sentence_is_turned_into_its_contrary(sentence, expected):
    assert negate(sentence) == expected


@pytest.mark.parametrize("sentence", NEITHER)
def test_a_sentence_that_no_rule_fits_is_not_applicable(sentence):
    assert negate(sentence) is None


def test_a_share_of_all_sentences_is_turned_and_the_others_stay():
    text = "He was late.\n\n" + "She was here. " * 8 + "Rain."
    before, after = split_sentences(text), split_sentences(negate(text, share=0.3, seed=4))
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 3
    assert after[-1] == "Rain." and negate(text).startswith(
        ("He was late.\n\n", "He was not late.\n")
    )


@pytest.mark.parametrize(
    "pair",
    "walked:walk loved:love hoped:hope hopped:hop stopped:stop carried:carry danced:dance "
    "opened:open looked:look decided:decide changed:change smiled:smile handled:handle "
    "whispered:whisper missed:miss called:call wondered:wonder raised:raise agreed:agree "
    "created:create visited:visit went:go thought:think".split(),
)
def test_a_past_has_its_plain_form(pair):
    past, plain = pair.split(":")
    assert plain_of_past(past) == plain


@pytest.mark.parametrize("word", ["bed", "hundred", "red", "need", "cat", "ed", "shh"])
def test_other_words_are_no_pasts(word):
    assert plain_of_past(word) is None


def test_a_third_person_has_its_plain_form():
    found = [
        plain_of_third(word) for word in "walks carries goes watches has is always glass".split()
    ]
    assert found == ["walk", "carry", "go", "watch", "have", None, None, None]
    assert is_plain("know") and not is_plain("table")
