"""A judge in a review: its values, what is missing and why, and its verdict beside each."""

from __future__ import annotations

import json
import math

import pytest

from fabula.core.errors import UserError
from fabula.reports.review import render_review
from fabula.scoring.review.judging import add_judge, choose_judge
from fakes.review import made_up_review
from fakes.scripted_respondent import let_answer

JUDGE = "judge(model='fake()', ask='all')"
ANSWER = json.dumps(
    {"relevance": 5, "coherence": 4, "empathy": "much", "surprise": 2, "engagement": 3}
    | {"complexity": 1}
)


def test_a_judge_adds_its_values_and_says_what_it_lacks(monkeypatch):
    let_answer(monkeypatch, ANSWER)
    review = add_judge(made_up_review(), JUDGE)
    judged = review.judged
    assert judged is not None
    by_name = {aspect.name: aspect for aspect in judged.aspects}
    assert by_name["coherence"].value == 4
    assert math.isnan(by_name["empathy"].value)
    assert by_name["empathy"].why == "unparsed"
    assert {aspect.verdict for aspect in judged.aspects} == {"no certificate"}
    assert judged.scale == (1, 5)
    assert judged.judge in review.signatures
    plain = review.plain()["judge"]
    assert [one["value"] for one in plain["aspects"] if one["name"] == "empathy"] == [None]


@pytest.mark.parametrize("form", ["text", "md", "html"])
def test_every_form_shows_a_judge_with_its_verdict(monkeypatch, form):
    let_answer(monkeypatch, ANSWER)
    shown = render_review(form, add_judge(made_up_review(), JUDGE))
    assert shown.count("no certificate") == 5
    assert "unparsed" in shown and "fabula judge certify" in shown
    assert "certify" not in render_review(form, made_up_review())


def test_a_share_has_two_digits_and_a_scale_of_its_own(monkeypatch):
    let_answer(monkeypatch, json.dumps(dict.fromkeys("1234", "yes") | {"5": "no"}))
    review = add_judge(made_up_review(), "judge_checklist(model='fake()', criterion='surprise')")
    assert "from 0 to 1\n  surprise         0.80" in render_review("text", review)


def test_a_model_alone_is_a_judge_by_hannas_rubric():
    assert choose_judge("fake()").spec == "judge(model='fake')"
    with pytest.raises(UserError, match="no judge or model is called 'nobody'"):
        choose_judge("nobody()")
    with pytest.raises(UserError, match="words is no judge of one story"):
        choose_judge("words")


def test_a_model_that_cannot_be_had_is_missing(monkeypatch):
    from fabula.judges import judge_metric

    def lack(spec):
        raise UserError("there is no such model", "pull it")

    monkeypatch.setattr(judge_metric, "open_respondent", lack)
    review = add_judge(made_up_review(), JUDGE)
    assert review.judged is None
    assert review.missing[-1].part == "judge"
    assert "there is no such model" in review.missing[-1].why
