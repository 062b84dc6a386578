from __future__ import annotations

import math

import pytest

from fabula.models.asking.choices import (
    Guess,
    add_up,
    choose_spot,
    find_spots,
    match_choice,
    read_guesses,
)

NUMBERS = ("1", "2", "3", "4", "5")


def cut(*tokens: str) -> list[Guess]:
    """Tokens of an answer, each sure of itself."""
    starts = [sum(map(len, tokens[:at])) for at in range(len(tokens))]
    return [
        Guess(start, token, [(token, 0.0)]) for start, token in zip(starts, tokens, strict=True)
    ]


@pytest.mark.parametrize(
    ("tokens", "written"),
    [
        (["4"], "4"),
        (["4", "/", "5"], "4"),
        (["4", " out", " of", " 5"], "4"),
        (["On", " a", " scale", " of", " ", "1", " to", " ", "5", ":", " ", "3", "."], "3"),
        (["Of", " ", "1", "-", "5", " I", " give", " ", "2"], "2"),
        (["Score", " -", " ", "4"], "4"),
        (["It", " has", " ", "3", " plots", "; score", ": ", "2"], "2"),
        (['{"reason": "', "1", ' twist", "score": ', "5", "}"], "5"),
        (["4", ".", "5"], None),
        (["1", "0"], None),
        (["four"], None),
        (["1", " to", " ", "5"], None),
    ],
)
def test_the_choice_that_counts_is_the_last_that_bounds_no_scale(
    tokens: list[str], written: str | None
) -> None:
    text = "".join(tokens)
    chosen = choose_spot(text, find_spots(text, cut(*tokens), NUMBERS))
    assert dict(chosen) == ({} if written is None else {written: 1.0})


def test_spots_say_where_choices_stand_and_how_the_answer_begins() -> None:
    text = "Plot: 4, style: 2"
    spots = find_spots(text, cut("Plot", ":", " 4", ",", " style", ":", " 2"), NUMBERS)
    assert [(spot.start, spot.written) for spot in spots] == [(0, ""), (6, "4"), (16, "2")]


def test_tokens_that_spell_one_choice_are_added_up() -> None:
    logs = [(" 4", math.log(0.5)), ("4", math.log(0.25)), (" five", -1.0), ("3", math.log(0.125))]
    assert add_up(logs, NUMBERS) == pytest.approx({"3": 0.125, "4": 0.75})
    assert list(add_up(logs, NUMBERS)) == ["3", "4"]  # as the scale goes


def test_case_matters_in_single_letters_alone() -> None:
    assert match_choice("a", ("A", "B")) == ""
    assert match_choice("yes", ("Yes", "No")) == "Yes"


def test_logs_of_a_server_are_placed_by_characters_though_letters_are_cut() -> None:
    told = [
        {"token": "\\xe2\\x80", "bytes": [0xE2, 0x80], "logprob": 0.0, "top_logprobs": []},
        {"token": "\\x93", "bytes": [0x93], "logprob": 0.0, "top_logprobs": []},
        {"token": " 4", "bytes": [0x20, 0x34], "logprob": -0.5, "top_logprobs": [
            {"token": " 4", "logprob": -0.5}, {"token": " 5", "logprob": -1.5}]},
    ]  # fmt: skip
    guesses = read_guesses(told)
    assert guesses[-1].start == 1
    spots = find_spots("– 4", guesses, NUMBERS)
    # exp(-.5) and exp(-1.5), as told.
    assert spots[-1].probabilities == pytest.approx({"4": 0.6065306597, "5": 0.2231301601})
