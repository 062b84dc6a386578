from __future__ import annotations

import math

import pytest

from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics.surprisal import Surprisal, sentence_bits
from fabula.models import load_model
from fakes.scripted_model import blind_to, tell, told_logs

TEXT = "It rained. She left. He slept."
# Bits by token: 1 3 | 2 4 | 6 5 3, so that the sentences have 2, 3 and 14/3.
TOKENS = told_logs(
    ("It", 1 / 2),
    (" rained.", 1 / 8),
    (" She", 1 / 4),
    (" left.", 1 / 16),
    (" He", 1 / 64),
    (" slept", 1 / 32),
    (".", 1 / 8),
)


def test_the_mean_the_spread_and_the_rise_are_those_of_the_sentences_bits(monkeypatch):
    tell(monkeypatch, TOKENS)
    mean, spread, rise = Surprisal(model="fake()").score([Story("s", TEXT)])
    assert mean.value == pytest.approx((2 + 3 + 14 / 3) / 3)
    middle = 29 / 9
    squares = (2 - middle) ** 2 + (3 - middle) ** 2 + (14 / 3 - middle) ** 2
    assert spread.value == pytest.approx(math.sqrt(squares / 2))
    # A line through three points at 0, 1/2 and 1 rises by last minus first.
    assert rise.value == pytest.approx(14 / 3 - 2)


def test_a_token_that_begins_with_a_blank_belongs_to_the_sentence_it_begins():
    assert sentence_bits(TEXT, TOKENS) == pytest.approx([2, 3, 14 / 3])


def test_every_token_counts_once_even_blanks_around_the_text():
    found = told_logs(
        (" \n", 1 / 2), ("One.", 1 / 8), ("\n\n", 1 / 4), ("Two.", 1 / 4), (" ", 1 / 16)
    )
    assert sentence_bits(" \nOne.\n\nTwo. ", found) == pytest.approx([2, 8 / 3])


def test_the_note_holds_the_curve(monkeypatch):
    tell(monkeypatch, TOKENS)
    notes = {score.note for score in Surprisal(model="fake()").score([Story("s", TEXT)])}
    assert notes == {"bits by sentence: 2.00 3.00 4.67"}


def test_one_sentence_has_a_mean_but_no_shape(monkeypatch):
    tell(monkeypatch, told_logs(("One", 1 / 2), (" day", 1 / 8)))
    mean, spread, rise = Surprisal(model="fake()").score([Story("s", "One day")])
    assert mean.value == pytest.approx(2.0)
    assert {spread.status, rise.status} == {Status.UNDEFINED}
    assert "one sentence" in spread.note


def test_the_prompt_is_context(monkeypatch):
    model = tell(monkeypatch, TOKENS)
    story = Story("s", TEXT, "A prompt.")
    Surprisal(model="fake()").score([story])
    Surprisal(model="fake()", prompt=False).score([story])
    assert model.asked == [("A prompt.\n", TEXT), ("", TEXT)]


def test_the_fake_s_logs_give_the_value():
    [logs] = load_model("fake()").logs([("", "It rained. She left.")])
    bits = -logs.logs / math.log(2)
    # Six tokens: It rained . She left .
    by_hand = (bits[:3].mean() + bits[3:].mean()) / 2
    score = Surprisal(model="fake()").score([Story("s", "It rained. She left.")])[0]
    assert score.value == pytest.approx(by_hand)


def test_a_text_without_a_token_is_undefined(monkeypatch):
    blind_to(monkeypatch, "\u200b")
    scores = Surprisal(model="fake()").score([Story("s", "\u200b")])
    assert {score.status for score in scores} == {Status.UNDEFINED}


def test_a_long_text_is_read_whole_by_windows():
    text = " ".join(f"Line {number} has words." for number in range(1000))
    scores = Surprisal(model="fake(window=64)").score([Story("s", text)])
    assert len(scores[0].note.split()) == 3 + 1000
    assert all(score.ok and score.coverage == 1.0 for score in scores)
