"""Ranges of text: read, counted, asked for next and cut."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.authors.context.ranges import (
    UNITS,
    count_remaining,
    count_units,
    drop_fragment,
    format_ranges,
    format_wanted,
    full_range,
    limit_sentences,
    next_range,
    parse_ranges,
    parse_wanted,
    split_units,
    trim_to,
)
from fabula.core.author import Wanted
from fabula.core.errors import InputError

TEXTS = st.text(st.sampled_from(list("ab Zé.?!,\"'“”*_-\n\u0301가1")), max_size=80)


def test_the_next_range_is_the_one_of_the_golden_values(shared):
    golden = json.loads((shared / "reference" / "golden.json").read_text(encoding="utf-8"))
    table = golden["storium"]["ranges_derived"]
    for words, expected in table["cases"]:
        length = int(words.split()[0])
        ranges = next_range(length, table["max_length"], table["chunk"], table["units"])
        assert format_ranges(table["units"], ranges) == expected


def test_a_text_that_is_too_long_has_no_next_range():
    assert next_range(251) == []
    assert format_ranges("words", []) == "words="
    assert format_wanted(full_range()) == "words=0-249"


def test_ranges_are_read_as_storium_spells_them():
    assert parse_wanted("words=0-249") == Wanted("words", 0, 249)
    assert parse_wanted("chars = -50") == Wanted("chars", count=50)
    assert parse_wanted("Tokens=7-") == Wanted("tokens", 7)
    several = [Wanted("sentences", 0, 1), Wanted("sentences", 4), Wanted("sentences", count=2)]
    assert parse_ranges("sentences=0-1, 4-,-2") == several
    assert format_ranges("sentences", several) == "sentences=0-1,4-,-2"


@pytest.mark.parametrize(
    "text",
    ["", "words", "0-4", "lines=0-4", "words=", "words=-", "words=4-2", "words=a-b", "words=1",
     "words=0-1,2-3", "words=0--1", "words=٣-٤", "words=0-99999999999"],
)  # fmt: skip
def test_what_is_no_range_is_named(text):
    with pytest.raises(InputError) as refused:
        parse_wanted(text)
    assert refused.value.remedy


@given(st.sampled_from(UNITS), st.integers(0, 999), st.integers(0, 999), st.booleans())
def test_a_range_that_is_spelled_is_read_again(unit, start, more, is_open):
    for wanted in (
        Wanted(unit, start, None if is_open else start + more),
        Wanted(unit, count=more),
    ):
        assert parse_wanted(format_wanted(wanted)) == wanted


def test_units_are_counted_by_hand():
    text = "Don't go, e\u0301lan!"
    assert split_units(text, "chars") == list("Don't go, élan!")
    assert split_units(text, "words") == ["Don", "'", "t", "go", ",", "e", "\u0301", "lan", "!"]
    assert split_units(text, "tokens") == ["Don't", "go,", "e\u0301lan!"]
    assert [count_units(text, unit) for unit in UNITS] == [15, 9, 3, 1]


@pytest.mark.parametrize(
    "text, sentences",
    [
        ("He left. Then she came?! No.", ["He left.", "Then she came?!", "No."]),
        ("It was J. Smith. He ran.", ["It was J. Smith.", "He ran."]),
        ("“Oh no!” she said. “Run.” They ran.", ["“Oh no!” she said.", "“Run.”", "They ran."]),
        ("_Go there._ **Now!** *Ida* ran.", ["_Go there._", "**Now!**", "*Ida* ran."]),
        ("He paid 10. 20 were left. then", ["He paid 10. 20 were left. then"]),
        ("Ende gut. Über alles.", ["Ende gut.", "Über alles."]),
        ("  One two.\n\n“Three", ["One two.", "“Three"]),
        ("", []),
    ],
)
def test_sentences_are_parted_before_capitals(text, sentences):
    assert split_units(text, "sentences") == sentences


def test_a_fragment_is_what_has_not_ended():
    assert drop_fragment("He left. Then she") == "He left."
    assert drop_fragment("He left. “Go!” ") == "He left. “Go!”"
    assert drop_fragment("He went to see Mr") == ""
    assert split_units("He left. Then", "sentences", keep_fragments=False) == ["He left."]
    assert count_units("He left. Then", "words", keep_fragments=False) == 4


def test_a_text_is_cut_at_the_real_place_of_the_unit():
    text = "a b c b c a"
    assert trim_to(text, 2) == "a b"
    assert trim_to(text, 2, compat=True) == "a b c b "
    assert trim_to(text, 6) == text
    assert trim_to(text, 0) == ""
    assert trim_to("cafe\u0301s", 4, "chars") == "café"
    assert limit_sentences("One ran. Two ran. Three ran.", 2) == "One ran. Two ran."


@given(TEXTS, st.integers(0, 30), st.sampled_from(UNITS))
def test_what_is_cut_has_the_first_units_and_no_more(text, most, unit):
    kept = trim_to(text, most, unit)
    assert split_units(kept, unit) == split_units(text, unit)[:most]
    assert trim_to(kept, most, unit) == kept


@given(TEXTS)
def test_a_text_without_its_fragment_has_none(text):
    whole = drop_fragment(text)
    assert text.startswith(whole)
    assert drop_fragment(whole) == whole


def test_what_remains_counts_what_stands_there_already():
    assert count_remaining(parse_wanted("words=0-249"), "one two") == 248
    assert count_remaining(parse_wanted("words=2-3"), "one two") == 2
    assert count_remaining(parse_wanted("words=0-1"), "one two three") == 0
    assert count_remaining(parse_wanted("words=-50"), "one two") == 50
    assert count_remaining(parse_wanted("words=3-"), "one two") is None
    assert count_remaining(parse_wanted("sentences=0-3"), "He left. Then she") == 3


def test_odd_texts_take_no_long_time():
    begin = time.perf_counter()
    for text in (
        "aa" + "." * 50_000 + "b",
        "aa._" * 20_000,
        "aa." + "\n" * 50_000 + "b",
        '."' * 50_000,
    ):
        for unit in UNITS:
            count_units(text * 2, unit)
    assert time.perf_counter() - begin < 5
