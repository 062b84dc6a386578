from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.sentences import sentence_spans, split_sentences
from fakes.factories import find_slowness


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("No end", ["No end"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Wait... what? Yes.", ["Wait... what?", "Yes."]),
        ("Oh… Really?! Yes.", ["Oh…", "Really?!", "Yes."]),
        ("It cost 3.50 euros. Cheap.", ["It cost 3.50 euros.", "Cheap."]),
        ("Mr. Smith met Dr. Who. They left.", ["Mr. Smith met Dr. Who.", "They left."]),
        ("J. R. Smith slept. So did I. He woke.", ["J. R. Smith slept.", "So did I.", "He woke."]),
        ("Fruit, e.g. Apples. Good.", ["Fruit, e.g. Apples.", "Good."]),
        ('"Go!" She left.', ['"Go!"', "She left."]),
        ("“Go!” “No.” He stayed.", ["“Go!”", "“No.”", "He stayed."]),
        ("(It rained.) She left.", ["(It rained.)", "She left."]),
        ("see fig. two. then more", ["see fig. two. then more"]),
        ("A title\n\nA text. More", ["A title", "A text.", "More"]),
        ("One line\nof two.\nNext.", ["One line\nof two.", "Next."]),
        ("In 1999. 2000 came.", ["In 1999.", "2000 came."]),
        ("今日は雨。明日は晴れ！「はい。」次", ["今日は雨。", "明日は晴れ！", "「はい。」", "次"]),
        ("مرحبا؟ نعم.", ["مرحبا؟", "نعم."]),
        ("Это дом. Вот сад.", ["Это дом.", "Вот сад."]),
        ("नमस्ते। फिर मिलेंगे।", ["नमस्ते।", "फिर मिलेंगे।"]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, expected):
    assert split_sentences(text) == expected


def test_the_abbreviations_are_the_callers():
    assert split_sentences("Mr. Smith.", abbreviations=()) == ["Mr.", "Smith."]
    assert split_sentences("No. Seven lives.", abbreviations={"no"}) == ["No. Seven lives."]


@given(st.text(st.characters(exclude_categories=())))
def test_no_character_but_blanks_is_lost_or_moved(text):
    def solid(part: str) -> str:
        return "".join(part.split())

    assert solid("".join(split_sentences(text))) == solid(text.replace("\u2029", " "))


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", []),
        (" \n ", []),
        ("One. Two!", [(0, 4), (5, 9)]),
        ("  One.\n\n Two ", [(2, 6), (9, 12)]),
        ("No. No. No.", [(0, 3), (4, 7), (8, 11)]),
        ("雨。雨。", [(0, 2), (2, 4)]),
    ],
)
def test_spans_say_where_the_sentences_stand(text, spans):
    assert sentence_spans(text) == spans


@given(st.text(st.sampled_from(". !?\n\u2029\x1c\x85\"'AaIi。…(")))
def test_spans_are_those_of_the_sentences_with_blanks_between(text):
    spans = sentence_spans(text)
    assert [text[start:end] for start, end in spans] == split_sentences(text)
    edges = [0, *(place for span in spans for place in span), len(text)]
    assert all(not text[a:b].strip() for a, b in zip(edges[::2], edges[1::2], strict=True))


@given(st.text(st.sampled_from(". !?\n\"'AaIi。…(").filter(bool)))
def test_sentences_are_neither_empty_nor_padded(text):
    assert all(part and part == part.strip() for part in split_sentences(text))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("A b c. " * 5_000, 5_000),
        ("." * 10_000, 1),
        (" " * 20_000 + "x", 1),
        ("x" + ".  \n" * 5_000, 1),
        ("Mr. " * 5_000, 1),
        ('x."' + "'" * 20_000, 1),
    ],
    ids=["sentences", "dots", "blanks", "dots and blanks", "abbreviations", "quotes"],
)
def test_odd_texts_are_parted_in_time_that_grows_with_their_length(text, count):
    start = time.perf_counter()
    assert len(split_sentences(text)) == count
    assert time.perf_counter() - start < 2.0 * find_slowness()
