from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics.perplexity import Perplexity
from fabula.models import load_model
from fakes.factories import usual_text
from fakes.scripted_model import blind_to, tell, told_logs

PROMPT = "A prompt about a dragon."


def told(text: str, prompt: str | None = None) -> Story:
    return Story("s", text, prompt)


def test_it_is_the_exponential_of_the_mean_loss_per_token_and_per_word(monkeypatch):
    # Chances 1/2, 1/4, 1/8: the product is 2^-6, over 3 tokens 2^2, over 2 words 2^3.
    tell(monkeypatch, told_logs(("One", 1 / 2), (" day", 1 / 4), (".", 1 / 8)))
    token, word = Perplexity(model="fake()").score([told("One day.")])
    assert (token.aspect, word.aspect) == ("", "word")
    assert token.value == pytest.approx(4.0)
    assert word.value == pytest.approx(8.0)


def test_the_prompt_is_context_and_not_counted(monkeypatch):
    model = tell(monkeypatch, told_logs(("One", 1 / 2)))
    for metric in (Perplexity(model="fake()"), Perplexity(model="fake()", prompt=False)):
        assert metric.score([told("One", PROMPT)])[0].value == pytest.approx(2.0)
    assert model.asked == [(PROMPT + "\n", "One"), ("", "One")]


def test_the_fake_s_logs_give_the_value():
    text = "The old boat came home. The old boat was empty."
    [logs] = load_model("fake()").logs([(PROMPT + "\n", text)])
    token, word = Perplexity(model="fake()").score([told(text, PROMPT)])
    assert token.value == pytest.approx(math.exp(-logs.logs.mean()))
    assert word.value == pytest.approx(math.exp(-logs.logs.sum() / 10))
    [alone, _] = Perplexity(model="fake()", prompt=False).score([told(text, PROMPT)])
    assert alone.value != token.value
    assert alone == Perplexity(model="fake()", prompt=False).score([told(text)])[0]


def test_compat_counts_the_prompt_but_its_first_token_and_cuts_at_1000(monkeypatch):
    # A prompt and a story in one text, the first token left out: 1/4 and 1/8 make 2^-5.
    chances = told_logs(("Go", 1 / 2), (" one", 1 / 4), (" day", 1 / 8))
    model = tell(monkeypatch, chances)
    score = Perplexity(model="fake()", compat=True).score([told("one day", "Go")])[0]
    assert model.asked == [("", "Go one day")]
    assert score.value == pytest.approx(2**2.5)
    many = told_logs(*[("a ", 1 / 2)] * 1000, *[("b ", 1 / 1024)] * 1000)
    tell(monkeypatch, many)
    token, word = Perplexity(model="fake()", compat=True).score([told("a " * 1000 + "b " * 1000)])
    assert token.value == pytest.approx(2.0)
    # 999 tokens count, and the words are those of the part that was read.
    assert word.value == pytest.approx(2 ** (999 / 1000))
    assert token.coverage == pytest.approx(0.5)


def test_a_text_without_a_token_or_a_word_is_undefined_and_says_so(monkeypatch):
    blind_to(monkeypatch, "\u200b")
    for compat in (False, True):
        scores = Perplexity(model="fake()", compat=compat).score([told("\u200b")])
        assert {score.status for score in scores} == {Status.UNDEFINED}
        assert all(score.note for score in scores)
    token, word = Perplexity(model="fake()").score([told("... !?")])
    assert token.ok
    assert word.status is Status.UNDEFINED and "no words" in word.note


def test_what_no_number_can_hold_is_undefined_and_says_so(monkeypatch):
    tell(monkeypatch, told_logs(*[("x", 1e-9)] * 1000))
    token, word = Perplexity(model="fake()").score([told("x" * 1000)])
    assert token.value == pytest.approx(1e9)
    assert word.status is Status.UNDEFINED and "hold" in word.note


def test_a_token_that_nothing_stands_before_is_left_out_where_it_has_no_log(monkeypatch):
    found = told_logs(("One", 1.0), (" day", 1 / 4))
    found.logs[0] = np.nan
    tell(monkeypatch, found)
    assert Perplexity(model="fake()").score([told("One day")])[0].value == pytest.approx(4.0)


def test_a_long_text_is_read_whole_by_windows():
    text = usual_text(20_000, seed=1)
    scores = Perplexity(model="fake(window=64)").score([told(text, PROMPT)])
    assert all(score.ok and score.coverage == 1.0 for score in scores)
