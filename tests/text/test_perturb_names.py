from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.names import find_names, swap_names

WORDS = st.sampled_from(
    "Anna Ben Carl and saw the Rose rose I Monday Anna's , . ! “ ” \n\n".split(" ")
)


def test_names_are_told_by_their_capitals_the_most_frequent_first():
    text = "Ben saw Anna. Anna saw Mr. Gray. Then Anna left on Monday, and I saw Ben."
    assert find_names(text) == ["Anna", "Ben", "Gray"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna met Ben.", None),
        ("So Anna met Ben.", "So Ben met Anna."),
        ("So Anna met Ben’s aunt. Ben!", "So Ben met Anna’s aunt. Anna!"),
        ("So Anna met Anna.", None),
        ("A rose for Rose and Ben.", None),
        ("We saw Zoë and Łukasz.", "We saw Łukasz and Zoë."),
        ("Then Mary Smith saw Ben, and Mary ran.", "Then Ben Smith saw Mary, and Ben ran."),
        ("the NASA and Ben", None),
        ("今日は雨。", None),
    ],
)
def test_the_two_main_names_are_swapped_throughout(text, expected):
    assert swap_names(text) == expected


def test_a_name_within_another_word_stays():
    assert swap_names("I saw Ann, Anna and Annabel; Ann, Anna.") == (
        "I saw Anna, Ann and Annabel; Anna, Ann."
    )


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_swapping_twice_is_the_text_again(text):
    swapped = swap_names(text)
    if swapped is not None:
        assert swap_names(swapped) == text
