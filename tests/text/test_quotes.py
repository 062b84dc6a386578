from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.sentences import speeches
from fakes.factories import within


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("No one spoke.", []),
        ('"Go," she said. "Now!"', ['"Go,"', '"Now!"']),
        ("“Go,” she said. “Now!”", ["“Go,”", "“Now!”"]),
        ("«Va», dit-elle.", ["«Va»"]),
        ("‹Va›, dit-elle.", ["‹Va›"]),
        ("„Geh“, sagte sie.", ["„Geh“"]),
        ("「はい」と言った。『本』", ["「はい」", "『本』"]),
        ("'Go,' she said. 'Now!'", ["'Go,'", "'Now!'"]),
        ("‘Go,’ she said. ‘Now!’", ["‘Go,’", "‘Now!’"]),
        ("'I don't know,' he said.", ["'I don't know,'"]),
        ("“It’s 'fine',” he said.", ["“It’s 'fine',”"]),
    ],
)
def test_what_stands_in_quotation_marks_is_speech(text, expected):
    assert speeches(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It's the dogs' house, isn't it?",
        "rock 'n' roll",
        "She doesn’t know the boys’ names.",
        "the '90s were fine",
        "in 'quotes' but not after a mark",
        "He was six feet, 5' and more.",
    ],
)
def test_apostrophes_are_not_speech(text):
    assert speeches(text) == []


def test_a_speech_left_open_ends_with_its_paragraph():
    assert speeches('"Go on\nHe left. "Now!"') == ['"Go on\n', '"Now!"']
    assert speeches('He said: "Go on') == ['"Go on']


def test_curly_quotes_go_over_lines():
    assert speeches("“One\ntwo,” he said.") == ["“One\ntwo,”"]


def test_a_quote_within_a_quote_belongs_to_it():
    assert speeches("“He said ‘no,’ and left,” she said.") == ["“He said ‘no,’ and left,”"]


@given(st.text(st.sampled_from("ab \n\"'“”‘’«»„,.!-")))
def test_speeches_are_parts_of_the_text_in_order_that_do_not_overlap(text):
    start = 0
    for speech in speeches(text):
        assert speech
        place = text.find(speech, start)
        assert place >= start
        start = place + len(speech)


@pytest.mark.parametrize("part", ['"', "“", "“a", "'a", "'a.", "‘a’b", "'", "a' 'b", "„"])
def test_odd_texts_are_searched_in_time_that_grows_with_their_length(part):
    with within(2.0):
        speeches(part * 20_000)
