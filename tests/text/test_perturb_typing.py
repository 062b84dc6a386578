from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.perturb import quotes, spacing, typos
from fabula.text.places import part_letters
from fabula.text.sentences import split_sentences
from fabula.text.words import words

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)
PROSE = st.text(st.sampled_from("ab A.!\n\"'“’é字 e\u0301"), max_size=100)


def test_a_slip_is_one_of_four():
    seen = {typos("Oat", share=1, seed=seed) for seed in range(300)}
    swapped, dropped = {"Ota"}, {"Ot", "Oa"}
    doubled, next_keys = {"Oaat", "Oatt"}, {"Iat", "Pat", "Ost", "Oar", "Oay"}
    assert seen == swapped | dropped | doubled | next_keys


def test_short_words_and_numbers_are_left_alone():
    assert typos("It is 1999. I am so. 7th") is None
    assert typos("東京 に 行く") is None


@given(st.lists(st.sampled_from("house river candle winter".split()), min_size=1, max_size=40))
def test_a_share_of_the_words_is_mistyped_once(found):
    text = " ".join(found)
    changed = typos(text, share=0.2)
    wrong = [
        (one, other)
        for one, other in zip(text.split(), changed.split(), strict=True)
        if one != other
    ]
    assert len(wrong) == max(1, round(0.2 * len(found)))
    assert all(abs(len(one) - len(other)) <= 1 for one, other in wrong)


@given(st.integers(0, 200))
def test_a_letter_keeps_its_marks(seed):
    word = "re\u0301sume\u0301s"
    changed = typos(word, share=1, seed=seed)
    assert changed.count("\u0301") == part_letters(changed).count("e\u0301")


@given(st.one_of(ANY_TEXT, PROSE), st.floats(0.01, 1), st.integers(0, 5))
def test_odd_blanks_leave_words_and_paragraphs_as_they_are(text, share, seed):
    changed = spacing(text, share=share, seed=seed)
    if changed is not None:
        assert changed.split() == text.split()
        assert words(changed) == words(text)
        assert [one.split() for one in split_sentences(changed)] == [
            one.split() for one in split_sentences(text)
        ]


def test_only_single_blanks_become_odd():
    assert spacing("One\n\nTwo  three") is None
    assert spacing("a b", share=1, seed=0) in {"a  b", "a   b", "a\nb", "a \nb"}
    assert spacing("今日は雨。") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Go,” she said. ‘It’s Tom’s.’", "\"Go,\" she said. 'It's Tom's.'"),
        ('"Go," she said. "It\'s (\'so\') late."', "“Go,” she said. “It’s (‘so’) late.”"),
        ("„Geh“, sagte sie.", '"Geh", sagte sie.'),
        ("No quotes.", None),
    ],
)
def test_quotation_marks_change_their_kind(text, expected):
    assert quotes(text) == expected


@given(st.one_of(ANY_TEXT, PROSE))
def test_quotation_marks_leave_words_as_they_are(text):
    changed = quotes(text)
    if changed is not None:
        assert len(changed) == len(text)
        if not set("‘‚‛") & set(text + changed):
            assert words(changed) == words(text)


@given(PROSE)
def test_straight_quotes_made_curly_can_be_made_straight_again(text):
    straight = text.replace("“", '"').replace("’", "'")
    curly = quotes(straight)
    assert curly is None or quotes(curly) == straight
