from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer

from fabula.text.stem import Stems, stem

# Checked against NLTK 3.10.4, whose MARTIN_EXTENSIONS is Porter's own version.
NLTK = {
    "nltk": PorterStemmer(PorterStemmer.NLTK_EXTENSIONS),
    "martin": PorterStemmer(PorterStemmer.MARTIN_EXTENSIONS),
}
ROOTS = (
    "a ab be sky cry fl tr plast motor hop tann fall hiss fizz fail fil troubl siz relat condit "
    "ration val hesit digit conform radic differ vil analog vietnam predic oper feud decis hop "
    "call form sens triplic electr good reviv allow infer airlin gyroscop adjust defens irrit "
    "replac depend adopt homolog commun activ angul effect bowdl prob rat ceas contr roll sing "
    "y yell day apology geo theo eye bee agree fre succ proc inn out cann how new ly ti di happi"
).split()
SUFFIXES = (
    "s es ies ied ss sses ed eed ing y ational tional enci anci izer bli abli alli entli eli ousli "
    "ization ation ator alism iveness fulness ousness aliti iviti biliti logi fulli icate ative "
    "alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent sion tion ion ou "
    "ism ate iti ous ive ize e l ll le lly ally ology ings ying ated bled ized"
).split()
VOCABULARY = sorted(
    {root + suffix for root, suffix in product(ROOTS, ["", *SUFFIXES])}
    | {root + first + second for root, first, second in product(ROOTS[:6], SUFFIXES, SUFFIXES)}
)
endings = st.lists(st.sampled_from(SUFFIXES), max_size=3).map("".join)
likely = st.builds(str.__add__, st.text("aeiouytlsbczrn", max_size=5), endings)


@pytest.mark.parametrize("dialect", NLTK)
def test_stems_of_a_made_vocabulary_are_nltks(dialect):
    expected = {word: NLTK[dialect].stem(word) for word in VOCABULARY}
    found = {word: stem(word, dialect) for word in VOCABULARY}
    assert {w: (found[w], expected[w]) for w in found if found[w] != expected[w]} == {}


@pytest.mark.parametrize("dialect", NLTK)
@given(word=likely)
def test_stems_of_likely_words_are_nltks(dialect, word):
    assert stem(word, dialect) == NLTK[dialect].stem(word)


@pytest.mark.parametrize("dialect", NLTK)
@given(word=st.text("abcdefghijklmnopqrstuvwxyz0123456789"))
def test_stems_of_any_letters_are_nltks(dialect, word):
    assert stem(word, dialect) == NLTK[dialect].stem(word)


@pytest.mark.parametrize("dialect", NLTK)
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("motoring", "motor"),
        ("hopping", "hop"),
        ("failing", "fail"),
        ("relational", "relat"),
        ("triplicate", "triplic"),
        ("adjustment", "adjust"),
        ("probate", "probat"),
        ("controlling", "control"),
    ],
)
def test_the_examples_of_porters_paper(dialect, word, expected):
    assert stem(word, dialect) == expected


def test_the_dialects_differ_where_nltk_extends_porter():
    pairs = {
        word: (stem(word, "martin"), stem(word, "nltk")) for word in ("dying", "ties", "enjoy")
    }
    assert pairs == {"dying": ("dy", "die"), "ties": ("ti", "tie"), "enjoy": ("enjoi", "enjoy")}


def test_short_words_stay_as_they_are():
    stems = Stems("nltk", 3)
    assert stems["was"] == "was"
    assert stems["goes"] == "goe"


def test_stems_are_remembered_but_not_without_end():
    stems = Stems("nltk", 3)
    stems.most = 2
    assert [stems[word] for word in ("cats", "dogs", "birds", "cats")] == [
        "cat", "dog", "bird", "cat",
    ]  # fmt: skip
    assert len(stems) <= 2
