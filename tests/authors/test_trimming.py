"""What stays of a text depends on the text, not on the pieces it comes in."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.authors.context.profanity import load_filter
from fabula.authors.context.ranges import UNITS, count_units, parse_wanted
from fabula.authors.context.trimming import Trimmer
from fabula.core.author import Context, Decoding, Request, Wanted

WORDS = st.sampled_from(
    ["He", "ran", " ", ". ", "! ", "?”", " “", " Then", " she", "don't", "\n\n", "e\u0301", "가",
     "\u0301", "Mr. ", "10", "damn", " sh", "it", "*", "_", ",", "\u1100", "\u1161",
     "q\u0307\u0323"]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=40).map("".join)
RANGES = st.one_of(
    st.builds(Wanted, st.sampled_from(UNITS)),
    st.builds(Wanted, st.sampled_from(UNITS), count=st.integers(0, 12)),
    st.builds(Wanted, st.sampled_from(UNITS), st.just(0), st.integers(0, 20)),
)


def feed(trimmer: Trimmer, pieces: list[str]) -> tuple[str, str]:
    """Be a co-author: stop when it is enough; give what people saw last, and what stays."""
    seen = ""
    for piece in pieces:
        seen += trimmer.feed(piece)
        if trimmer.is_full:
            break
    assert seen == trimmer.shown
    text, replaces = trimmer.finish()
    return (text if replaces else seen + text), trimmer.final


def split_at(text: str, borders: list[int]) -> list[str]:
    places = [0, *sorted(border % (len(text) + 1) for border in borders), len(text)]
    return [text[start:stop] for start, stop in pairwise(places)]


@given(
    TEXTS,
    TEXTS,
    RANGES,
    st.integers(0, 4),
    st.booleans(),
    st.lists(st.integers(0, 500), max_size=9),
)
def test_the_borders_of_pieces_change_nothing(text, before, wanted, most, is_covered, borders):
    def trim(pieces):
        cover = load_filter() if is_covered else None
        return feed(Trimmer(wanted, before, max_sentences=most, cover=cover), pieces)

    whole, final = trim([text])
    assert whole == final
    assert trim(list(text)) == (whole, final)
    assert trim(split_at(text, borders)) == (whole, final)


@given(TEXTS, TEXTS, RANGES, st.integers(0, 4))
def test_no_more_is_shown_or_left_than_is_wanted(text, before, wanted, most):
    trimmer = Trimmer(wanted, before, max_sentences=most)
    feed(trimmer, list(text))
    for given_text in (trimmer.final, trimmer.shown):
        if wanted.unit == "sentences":
            continue
        before_units = count_units(before, wanted.unit)
        if wanted.count is not None:
            room = wanted.count
        elif wanted.stop is not None:
            room = max(0, wanted.stop + 1 - before_units)
        else:
            continue
        # A character is counted from where the machine begins, a word may be gone on with.
        if wanted.unit == "chars":
            assert count_units(given_text, "chars") <= room
        else:
            assert count_units(before + given_text, wanted.unit) <= before_units + room


def finish(text: str, wanted: str = "words=0-", before: str = "", **settings: object) -> str:
    return feed(Trimmer(parse_wanted(wanted), before, **settings), list(text))[0]


def test_a_fragment_at_the_end_is_dropped():
    assert finish("He left. Then she") == "He left."
    assert finish("He left. “") == "He left."
    assert finish("He left. “Then,” she") == "He left."
    assert finish("He left  ") == "He left"


def test_at_most_so_many_sentences_are_left():
    text = "One ran. Two ran. Three ran. Four ran."
    assert finish(text, max_sentences=2) == "One ran. Two ran."
    assert finish(text, max_sentences=4) == text
    assert finish(text, "sentences=-1", max_sentences=3) == "One ran."
    assert finish(text, "sentences=0-1", before="Nobody ran. Then ") == "One ran."


def test_a_sentence_is_counted_once_however_often_it_is_looked_at():
    text = "He left. “Then,” she said. They ran. Nobody saw."
    for border in range(len(text)):
        trimmer = Trimmer(Wanted(), max_sentences=3)
        left = feed(trimmer, [text[:border], text[border:]])[0]
        assert left == "He left. “Then,” she said. They ran."


def test_a_letter_is_shown_when_no_mark_can_change_it():
    trimmer = Trimmer(parse_wanted("chars=-9"))
    assert [trimmer.feed(piece) for piece in ("a\u0315", "\u0301", "b", ".")] == [
        "", "", "á\u0315", "b",
    ]  # fmt: skip
    assert trimmer.finish() == (".", False)


def test_a_sentence_of_the_text_before_is_ended():
    assert finish("or. Then he", before="She opened the do") == "or."
    assert finish(" came. He", before="She") == " came."


def test_units_are_counted_on_from_the_text_before():
    assert finish("or is open now", "words=0-3", before="the do") == "or is open"
    assert finish("or is open now", "words=-2", before="the do") == "or is open"
    assert finish(" is open now", "words=-2", before="the door") == " is open"
    assert finish("more", "words=0-1", before="one two three") == ""
    assert finish("cafe\u0301s", "chars=-4") == "café"


def test_who_asks_for_less_than_a_sentence_is_given_that():
    assert finish("He ran down to the mill.", "words=-3") == "He ran down"


def test_a_model_may_stop_as_soon_as_it_is_enough():
    trimmer = Trimmer(parse_wanted("words=-2"))
    assert [trimmer.feed(piece) for piece in ("He ", "ran", " ")] == ["He", " ran", ""]
    assert trimmer.is_full
    assert trimmer.feed("away") == ""
    assert Trimmer(parse_wanted("words=-0")).is_full


@pytest.mark.parametrize("is_filtered", [True, False])
def test_a_long_text_is_trimmed_in_no_long_time(is_filtered):
    """Every piece is looked at once: four thousand take a second, not a minute."""
    cover = load_filter() if is_filtered else None
    trimmer = Trimmer(parse_wanted("words=-4000"), "So it " * 9000, max_sentences=9000, cover=cover)
    begin = time.perf_counter()
    for place in range(4_000):
        trimmer.feed(" went." if place % 9 == 0 else " On" if place % 9 == 1 else " and")
    assert trimmer.is_full
    assert time.perf_counter() - begin < 5


def test_what_was_shown_is_replaced_only_where_it_must_be():
    trimmer = Trimmer(parse_wanted("words=-9"))
    trimmer.feed("He left. Then")
    assert trimmer.finish() == ("He left.", True)
    trimmer.feed(" she came.")
    assert trimmer.finish() == ("", False)


@pytest.mark.parametrize("is_filtered", [True, False])
def test_words_are_covered_before_anybody_sees_them(is_filtered):
    request = Request("r", Context("s", ()), decoding=Decoding(filter=is_filtered))
    trimmer = Trimmer.of(request)
    shown = "".join(trimmer.feed(piece) for piece in "Well, da mn, sh it. So".split(" "))
    text, _ = trimmer.finish()
    assert ("sh" in shown + text) is not is_filtered
    trimmer = Trimmer.of(request)
    pieces = [trimmer.feed(piece) for piece in ["Oh ", "da", "mn", "!", " Run", "."]]
    assert ("damn" in "".join(pieces)) is not is_filtered
