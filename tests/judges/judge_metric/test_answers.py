from __future__ import annotations

import math

import pytest

from fabula.core.score import Status
from fabula.judges.judge_metric.answers import (
    expect_number,
    explain,
    read_score,
    read_scores,
    read_yes,
    read_yeses,
    take_text,
)
from fabula.models.asking.question import Response

READABLE = {
    "4": 4,
    " 4\n": 4,
    "4.": 4,
    "**4**": 4,
    "3.5": 3.5,
    "3,5": 3.5,
    "4/5": 4,
    "4 out of 5": 4,
    "Score: 4": 4,
    "**Score:** 4": 4,
    "Final score: 2 / 5": 2,
    "Rating = 3": 3,
    "The plot holds.\nScore: 4": 4,
    '{"score": 4}': 4,
    '{"Score": "4"}': 4,
    '{"reason": "A 3-act plot {so to say}.", "score": 5}': 5,
    '```json\n{"score": 2}\n```': 2,
    'Here it is: {"score": 1}': 1,
    '{"reason": "a plot", "score": 4': 4,
    '{"reason": "the "hero" dies", "score": 4}': 4,
}
UNREADABLE = [
    "",
    "   ",
    "four",
    "vier von fünf",
    "Eine 4, würde ich sagen.",
    "6",
    "0",
    "-3",
    "8/10",
    "4 out of 10",
    "Score: 45",
    "Score: 4.5.1",
    "between 3 and 4",
    "3 or 4",
    "Score: 3\nScore: 4",
    '{"score": 3} {"score": 4}',
    '{"score": null}',
    '{"score": true}',
    '{"score": [4]}',
    '{"points": 4}',
    '{"score": 9}',
    '{"sco',
    "It has 3 brothers and 4 sisters.",
    "4" * 400,
    "{" * 3000,
    "NaN",
    '{"score": NaN}',
    "underscore: 4x",
]


@pytest.mark.parametrize("text", READABLE)
def test_a_number_is_read_however_it_is_dressed(text):
    assert read_score(text, 1, 5) == READABLE[text]


@pytest.mark.parametrize("text", UNREADABLE)
def test_nothing_is_guessed_where_no_one_number_of_the_scale_stands(text):
    assert math.isnan(read_score(text, 1, 5))


def test_what_a_number_is_out_of_must_be_the_top_of_the_scale():
    assert read_score("8/10", 0, 10) == 8
    assert math.isnan(read_score("4/5", 0, 10))


def test_several_numbers_are_read_by_name_and_each_may_be_missing():
    names = ("plot", "style", "end_of_it")
    told = read_scores('{"reason": "so", "Plot": 4, "style": 7, "end_of_it": "2"}', names, 1, 5)
    assert (told["plot"], told["end_of_it"]) == (4, 2)
    assert math.isnan(told["style"])
    assert read_scores('{"scores": {"plot": 3}}', ("plot",), 1, 5) == {"plot": 3}
    lines = read_scores("Plot: 4\n- **Style**: 2/5\nEnd of it: 1", names, 1, 5)
    assert lines == {"plot": 4, "style": 2, "end_of_it": 1}


def test_yes_and_no_are_read_and_nothing_else_is():
    assert [read_yes(text) for text in ("Yes", "no.", " **YES** ")] == [1, 0, 1]
    assert read_yes('{"answer": "no"}') == 0
    for text in ("", "maybe", "yes and no", "Yes, it does.", "ja", "not", '{"answer": "perhaps"}'):
        assert math.isnan(read_yes(text)), text
    told = read_yeses('{"1": "yes", "2": "No", "3": true, "4": "?"}', ("1", "2", "3", "4", "5"))
    assert [told[key] for key in "123"] == [1, 0, 1]
    assert math.isnan(told["4"]) and math.isnan(told["5"])


def test_the_expected_number_is_the_mean_by_probabilities_over_the_numbers_alone():
    # .1·2 + .3·4 + .1·5 = 1.9, of a mass of .5: 3.8. What is off the scale does not count.
    told = {"2": 0.1, "4": 0.3, "5": 0.1, "7": 0.2, "four": 0.3}
    assert expect_number(told, "12345") == pytest.approx(3.8, abs=1e-12)
    assert expect_number({"3": 1e-9}, "12345") == 3.0
    assert math.isnan(expect_number({}, "12345"))
    assert math.isnan(expect_number({"four": 0.9}, "12345"))


def test_an_answer_that_was_cut_loses_a_number_that_might_have_gone_on():
    assert math.isnan(read_score(take_text(Response("", "Score: 1", "cut")), 1, 10))
    assert read_score(take_text(Response("", "Score: 1", "answered")), 1, 10) == 1
    assert read_score(take_text(Response("", "Score: 7\nFor 3", "cut")), 1, 10) == 7


def test_what_cannot_be_read_says_why_with_its_words():
    assert explain(Response("", "un 4", "answered")) == (Status.UNPARSED, "cannot be read: 'un 4'")
    assert explain(Response("", status="failed", problem="no route")) == (Status.FAILED, "no route")
    for text in ("I'm sorry, but no.", "I cannot rate this.", "As an AI, I do not judge."):
        assert explain(Response("", text))[0] is Status.REFUSED
    assert explain(Response("", "", "refused"))[0] is Status.REFUSED
    status, note = explain(Response("", "Well, the story of a " + "very " * 99, "cut"))
    assert status is Status.UNPARSED
    assert note.startswith("the answer was cut at its token limit: 'Well, the story")
    assert len(note) < 400
