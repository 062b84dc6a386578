"""Words of a list are covered, disguised ones too; nothing else is, and never slowly."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.authors.context.profanity import LOOK_ALIKES, WordFilter, cover_profanities, read_words
from fabula.core.errors import InputError

WORDS = ["darn", "heck", "oh my"]


@pytest.mark.parametrize(
    "text, covered",
    [
        ("Darn it, heck!", "**** it, ****!"),
        ("d4rn d-a.r-n DÀRN", "**** ******* ****"),
        ("darning checks heckle oheck, a_heck", "darning checks heckle oheck, a_heck"),
        ("(heck)", "(****)"),
        ("h3ck,", "****,"),
        ("Oh\nmy word", "***** word"),
        ("h*ck and d@rn...", "**** and ****..."),
        ("", ""),
    ],
)
def test_words_are_covered_and_punctuation_after_them_is_kept(text, covered):
    assert cover_profanities(text, WORDS) == covered


def test_the_release_covers_punctuation_and_takes_a_comma_for_any_letter():
    assert cover_profanities("heck!? yes", WORDS, compat=True) == "****** yes"
    assert cover_profanities("he,k yes", WORDS, compat=True) == "**** yes"
    assert cover_profanities("he,k yes", WORDS) == "he,k yes"
    assert cover_profanities("hec, yes", WORDS) == "hec, yes"


def as_regex(words: list[str]) -> re.Pattern[str]:
    """The mechanism as it is described: classes of look-alikes, runs of marks, whole words."""
    marks = r"[^\w\s]*"
    spelled = []
    for word in words:
        classes = [
            r"\s" if each == " " else f"[{re.escape(each + LOOK_ALIKES.get(each, ''))}]"
            for each in word
        ]
        spelled.append(marks.join(classes))
    return re.compile(rf"(?<!\w)(?:{'|'.join(spelled)})(?!\w)", re.IGNORECASE)


@given(st.text(st.sampled_from("hecdarn oy3@4,.!*"), max_size=24))
def test_the_filter_finds_where_a_regular_expression_finds(text):
    first = as_regex(WORDS).search(text)
    covered = cover_profanities(text, WORDS)
    assert len(covered) == len(text)
    if first is None:
        assert covered == text
    else:
        assert covered[: first.start()] == text[: first.start()]
        assert set(covered[slice(*first.span())]) == {"*"}


@given(st.text(st.sampled_from("hecdarn oy3@4,.!*\n"), max_size=40), st.integers(0, 40))
def test_a_text_may_be_read_on_from_where_no_word_was_under_way(text, border):
    words = WordFilter(WORDS)
    covered, settled = words.cover_on(text[:border])
    assert covered[:settled] + words.cover(text[settled:]) == words.cover(text)


@pytest.mark.parametrize("text", ["a$" * 50_000, "$" * 100_000, "s-" * 50_000, "@*!|1" * 20_000])
@pytest.mark.parametrize("compat", [True, False])
def test_odd_texts_take_no_long_time(text, compat):
    begin = time.perf_counter()
    assert len(cover_profanities(text, compat=compat)) == len(text)
    assert time.perf_counter() - begin < 5


def test_our_list_is_short_and_finds_whole_words_alone():
    words = read_words()
    assert 40 <= len(words) <= 100
    assert words == [word.lower() for word in words]
    assert cover_profanities("The assassin passed Scunthorpe's cockpit.") == (
        "The assassin passed Scunthorpe's cockpit."
    )
    assert cover_profanities("Damn you!") == "**** you!"


def test_a_list_of_ones_own_is_read(tmp_path, monkeypatch):
    path = tmp_path / "words.txt"
    path.write_text("# mine\nheck\n\noh my  # a phrase\n", encoding="utf-8")
    monkeypatch.setenv("FABULA_PROFANITIES", str(path))
    assert cover_profanities("Damn, heck!") == "Damn, ****!"
    assert read_words(path) == ["heck", "oh my"]
    assert WordFilter(read_words(path)).cover("oh  my heck") == "oh  my ****"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_words(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_words(tmp_path / "none.txt")
