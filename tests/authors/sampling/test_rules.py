"""Rules of drawing, by hand: every logit here can be checked with a pencil."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from fabula.authors.sampling.rules import (
    Vocabulary,
    adjust_logits,
    check_decoding,
    choose_candidates,
    draw_token,
    estimate_tokens,
    open_chance,
    read_vocabulary,
)
from fabula.core.author import Decoding, Wanted
from fabula.core.errors import SettingError

# Six tokens: 4 ends a text, 5 is a sign, a seventh logit stands for nothing.
VOCABULARY = Vocabulary(ends=(4,), barred=(5,), size=6)
LOGITS = np.array([2.4, -1.0, 0.6, 0.0, 3.0, 9.0, 50.0])
SANE, RELEASED = Decoding(), Decoding(compat=True)


def adjust(decoding: Decoding, written: list[int], *, context: int = 6, wanted: int = 10):
    return adjust_logits(
        LOGITS, decoding, VOCABULARY, written=written, context=context, wanted=wanted
    )


def test_what_was_written_becomes_less_likely_whatever_its_sign():
    adjusted = adjust(SANE, [0, 1, 1, 0])
    assert adjusted[0] == pytest.approx(2.4 / 1.2)
    assert adjusted[1] == pytest.approx(-1.0 * 1.2)
    assert adjusted[[2, 3]].tolist() == [0.6, 0.0]


def test_as_released_a_negative_logit_is_made_more_likely():
    adjusted = adjust(RELEASED, [0, 1, 1, 0])
    assert adjusted[0] == pytest.approx(2.4 / 1.2)
    assert adjusted[1] == pytest.approx(-1.0 / 1.2)


def test_the_odds_of_the_end_grow_with_the_share_that_is_written():
    assert adjust(SANE, [])[4] == -math.inf
    assert adjust(SANE, [2])[4] == pytest.approx(3.0 + math.log(1 / 10))
    assert adjust(SANE, [2] * 5)[4] == pytest.approx(3.0 + math.log(1 / 2))
    assert adjust(SANE, [2] * 25)[4] == 3.0


def test_as_released_the_end_is_scaled_by_different_tokens_from_the_second_on():
    assert adjust(RELEASED, [])[4] == 3.0
    # Three different tokens, six of context and ten wanted.
    assert adjust(RELEASED, [0, 1, 2, 2, 1])[4] == pytest.approx(3.0 * 3 / 16)


def test_signs_are_never_drawn_but_as_released_have_a_logit_of_0():
    assert adjust(SANE, [0])[5] == -math.inf
    assert adjust(RELEASED, [0])[5] == 0.0
    assert adjust(SANE, [0])[6] == adjust(RELEASED, [0])[6] == -math.inf


def test_logits_handed_in_stay_as_they_are():
    before = LOGITS.copy()
    adjust(SANE, [0, 1])
    assert LOGITS.tolist() == before.tolist()


def test_the_likeliest_are_chosen_and_their_shares_are_a_softmax():
    logits = np.log(np.array([0.1, 0.4, 0.05, 0.3, 0.15]))
    numbers, shares = choose_candidates(logits, Decoding(temperature=1.0, top_k=3, top_p=1.0))
    assert numbers.tolist() == [1, 3, 4]
    assert shares == pytest.approx(np.array([0.4, 0.3, 0.15]) / 0.85)


@pytest.mark.parametrize(
    ("top_p", "chosen"),
    [
        (0.39, [1]),
        (0.4, [1]),
        (0.41, [1, 3]),
        (0.7, [1, 3]),
        (0.8, [1, 3, 4]),
        (1.0, [0, 1, 2, 3, 4]),
    ],
)
def test_a_nucleus_is_the_fewest_tokens_that_have_the_share(top_p, chosen):
    logits = np.log(np.array([0.1, 0.4, 0.05, 0.3, 0.15]))
    numbers, shares = choose_candidates(logits, Decoding(temperature=1.0, top_k=0, top_p=top_p))
    assert numbers.tolist() == chosen
    assert shares.sum() == pytest.approx(1)


def test_a_temperature_sharpens_before_the_nucleus_is_cut():
    logits = np.log(np.array([0.6, 0.4]))
    _, shares = choose_candidates(logits, Decoding(temperature=0.5, top_k=0, top_p=1.0))
    assert shares == pytest.approx([0.36 / 0.52, 0.16 / 0.52])
    numbers, _ = choose_candidates(logits, Decoding(temperature=0.5, top_k=0, top_p=0.65))
    assert numbers.tolist() == [0]


def test_a_temperature_of_0_takes_the_likeliest_and_of_equals_the_first():
    logits = np.array([1.0, 7.0, 7.0, -2.0])
    numbers, shares = choose_candidates(logits, Decoding(temperature=0.0))
    assert (numbers.tolist(), shares.tolist()) == ([1], [1.0])


def test_of_equals_at_the_border_the_lower_numbers_are_chosen():
    logits = np.array([0.0, 5.0, 0.0, 0.0])
    numbers, _ = choose_candidates(logits, Decoding(top_k=3, top_p=1.0))
    assert numbers.tolist() == [0, 1, 2]


def test_an_answer_without_numbers_is_no_token():
    with pytest.raises(ArithmeticError, match="no number"):
        choose_candidates(np.full(5, math.nan), Decoding())
    with pytest.raises(ArithmeticError):
        choose_candidates(np.full(5, -math.inf), Decoding())


@pytest.mark.parametrize(
    ("chance", "token"), [(0.0, 3), (0.249, 3), (0.25, 8), (0.749, 8), (0.75, 9), (0.9999999, 9)]
)
def test_a_token_is_drawn_by_its_part_of_the_unit_interval(chance, token):
    assert draw_token(np.array([3, 8, 9]), np.array([0.25, 0.5, 0.25]), chance) == token


def test_shares_that_round_below_1_still_give_the_last_token():
    shares = np.full(10, 0.1)
    assert draw_token(np.arange(10), shares, math.nextafter(1, 0)) == 9


def test_chance_comes_of_the_seed_and_what_is_shown_alone():
    first = open_chance(3, [5, 6]).random(4).tolist()
    assert open_chance(3, (5, 6)).random(4).tolist() == first
    assert open_chance(4, [5, 6]).random(4).tolist() != first
    assert open_chance(3, [5, 7]).random(4).tolist() != first
    # PCG64 and BLAKE2b are the same everywhere: a text can be drawn again in years to come.
    assert first[0] == pytest.approx(0.03975979971395782, abs=1e-12)


@pytest.mark.parametrize(
    ("unit", "remaining", "tokens"),
    [
        ("words", 10, 13),
        ("chars", 10, 3),
        ("sentences", 2, 44),
        ("words", None, 325),
        ("words", 0, 1),
    ],
)
def test_the_wanted_length_is_estimated_in_tokens(unit, remaining, tokens):
    assert estimate_tokens(Wanted(unit), remaining) == tokens


@pytest.mark.parametrize(
    "settings",
    [{"temperature": -0.1}, {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.1}, {"penalty": 0.0},
     {"max_sentences": -1}, {"temperature": math.nan}],
)  # fmt: skip
def test_settings_by_which_nothing_can_be_drawn_are_refused(settings):
    with pytest.raises(SettingError, match=next(iter(settings))):
        check_decoding(Decoding(**settings))


@dataclass
class Sign:
    special: bool


class Signs:
    """A tokeniser of ten tokens, some of them signs."""

    eos_token_id = 9
    all_special_ids = (9, 8)
    added_tokens_decoder: ClassVar = {6: Sign(True), 7: Sign(False), 9: Sign(True)}

    def __len__(self) -> int:
        return 10


def test_signs_are_barred_but_those_that_end_a_text():
    assert read_vocabulary(Signs(), [3]) == Vocabulary(ends=(3, 9), barred=(6, 8), size=10)
