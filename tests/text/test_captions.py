from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.words import caption_words
from fakes.factories import within


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("... !? -- ''", ""),
        ("A man rides a horse.", "a man rides a horse"),
        ("The dog, the cat; the bird!", "the dog the cat the bird"),
        # The Penn Treebank's rules for contractions and possessives.
        ("I don't know.", "i do n't know"),
        ("I don’t know.", "i do n't know"),
        ("They can't, won't, shouldn't.", "they ca n't wo n't should n't"),
        ("It's the boy's dog.", "it 's the boy 's dog"),
        ("I'm sure we're late, they've said I'd go; we'll see.",
         "i 'm sure we 're late they 've said i 'd go we 'll see"),
        ("I cannot.", "i can not"),
        ("We're gonna go; I wanna stay.", "we 're gon na go i wan na stay"),
        ("The boys' dog.", "the boys dog"),
        ("a well-known man", "a well-known man"),
        ("at 3:30 he paid 1,000.50", "at 3:30 he paid 1,000.50"),
        ('"Go," she said.', "go she said"),
        ("(In the park)", "in the park"),
        ("Le café", "le café"),
    ],
)  # fmt: skip
def test_tokens_are_those_of_the_treebank_without_punctuation(text, expected):
    assert caption_words(text) == expected.split()


@pytest.mark.parametrize(
    "text",
    [
        "The man didn't see the children's ball, and he couldn't stop.",
        "We had a great time at the lake; it's beautiful there.",
        "I'll go if they'd let us, but we've no time.",
    ],
)
def test_tokens_are_nltks_treebank_tokens_without_punctuation(text):
    # NLTK 3.10's TreebankWordTokenizer; PTBTokenizer of the toolkit follows the same standard.
    treebank = pytest.importorskip("nltk.tokenize.treebank")
    found = treebank.TreebankWordTokenizer().tokenize(text.lower())
    assert caption_words(text) == [token for token in found if any(map(str.isalnum, token))]


@given(st.text())
def test_tokens_hold_no_blanks_and_no_capitals(text):
    for token in caption_words(text):
        assert token == token.lower()
        assert token.split() == [token]


@pytest.mark.parametrize("part", ["a", "a.", "a-", "n't", "'s", "an't", "'", "a'"])
def test_odd_texts_are_parted_in_time_that_grows_with_their_length(part):
    with within(2.0):
        caption_words(part * 20_000)
