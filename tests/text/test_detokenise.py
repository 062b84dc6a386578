"""Tokenised texts as people would write them."""

from __future__ import annotations

import pytest

from fabula.text.detokenise import detokenise, respace, split_any_case


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("he did n't go , and she 'd left .", "he didn't go, and she'd left."),
        ("[MALE] saw the dog 's bone !", "MALE saw the dog's bone!"),
        ("`` come in , '' said <female> .", '" come in, " said female.'),
        ("one line <newline> another<br>third", "one line \n another\nthird"),
        ("they ran away . @ @", "they ran away."),
        ("too   many\tblanks", "too many blanks"),
    ],
)
def test_a_tokenised_text_is_written_as_people_would(given: str, wanted: str) -> None:
    assert detokenise(given) == wanted


@pytest.mark.parametrize(
    "text",
    [
        '"Don\'t," she said; "it\'s the king\'s."',
        "It cost .50, or so he said ... no?",
        "",
        "A\n\nB",
    ],
)
def test_what_people_wrote_stays_as_it_is(text: str) -> None:
    assert detokenise(text) == text


def test_a_text_in_small_letters_is_parted_at_its_stops() -> None:
    text = 'the boat left. "we are late!" he cried. nobody came at 3.5 knots. they slept.'
    wanted = [
        "the boat left.",
        '"we are late!"',
        "he cried.",
        "nobody came at 3.5 knots.",
        "they slept.",
    ]
    assert split_any_case(text) == wanted


def test_a_text_with_capitals_is_parted_as_ever() -> None:
    assert split_any_case("Mr. Ames left. He was late.") == ["Mr. Ames left.", "He was late."]


def test_no_text_has_no_parts() -> None:
    assert split_any_case("") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`` Go , '' she said .", '"Go," she said.'),
        ('" Go , " she said . " Now ! "', '"Go," she said. "Now!"'),
        ("a man ( and a dog ) waited ...", "a man (and a dog) waited..."),
        ('He said " yes', "He said yes"),
        ('"Go," she said.', '"Go," she said.'),
        ("`` One .\nTwo . ''", '"One.\nTwo."'),
    ],
)
def test_marks_and_brackets_are_closed_up_for_those_who_learn_to_write(text, expected):
    assert respace(text) == expected
