from __future__ import annotations

import json

import pytest

from fabula.core.errors import UserError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.judges.judge_checklist import JudgeChecklist
from fakes.scripted_respondent import let_answer, respond

STORY = Story("s", "Once a door opened. Nobody came in.", "Write of a door.")


def test_a_value_is_the_share_of_yes(monkeypatch):
    told = {"1": "yes", "2": "no", "3": "yes", "4": "yes", "5": "no"}
    respondent = let_answer(monkeypatch, json.dumps(told))
    scores = JudgeChecklist(model="fake()").score([STORY])
    assert [score.value for score in scores] == pytest.approx([0.6] * 6)
    assert len(respondent.asked) == 6
    assert respondent.asked[0].schema["required"] == ["1", "2", "3", "4", "5"]


def test_every_question_by_itself_gives_the_same_share(monkeypatch):
    def answer(question):
        return "Yes" if "have to do with the prompt" in question.prompt else "No."

    respondent = let_answer(monkeypatch, answer)
    scores = JudgeChecklist(model="fake()", ask="each").score([STORY])
    assert [score.value for score in scores] == pytest.approx([0.2, 0, 0, 0, 0, 0])
    assert len(respondent.asked) == 30


def test_the_mean_probability_of_yes_equals_a_hand_computation(monkeypatch):
    # .6 / (.6 + .2) = .75
    let_answer(monkeypatch, {"Yes": 0.6, "No": 0.2})
    judge = JudgeChecklist(model="fake()", ask="each", value="expected", criterion="surprise")
    assert [score.value for score in judge.score([STORY])] == pytest.approx([0.75])


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ('{"1": "yes", "2": "no"}', Status.UNPARSED),
        ("Yes", Status.UNPARSED),
        ("I cannot do that.", Status.REFUSED),
        (respond(status="failed", problem="late"), Status.FAILED),
    ],
)
def test_a_question_without_an_answer_leaves_the_criterion_without_a_value(
    monkeypatch, answer, status
):
    let_answer(monkeypatch, answer)
    assert {one.status for one in JudgeChecklist(model="fake()").score([STORY])} == {status}


def test_without_a_prompt_there_is_no_relevance(monkeypatch):
    let_answer(monkeypatch, json.dumps(dict.fromkeys("12345", "yes")))
    first, *others = JudgeChecklist(model="fake()").score([Story("s", "Once.")])
    assert first.status is Status.MISSING_PROMPT
    assert {score.value for score in others} == {1.0}


def test_probabilities_are_of_one_answer_and_a_rubric_must_ask_something(tmp_path):
    with pytest.raises(UserError, match="one answer at a time"):
        JudgeChecklist(value="expected")
    file = tmp_path / "own.toml"
    file.write_text('[[criteria]]\nname = "pace"\ntext = "Does it move?"\n')
    with pytest.raises(UserError, match="pace has neither checks nor anchors"):
        JudgeChecklist(rubric=str(file))
