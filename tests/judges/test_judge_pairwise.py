"""Judges of pairs: both orders, ties, strengths, and a position bias that is found and named."""

from __future__ import annotations

import re

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.judges.judge_pairwise import JudgePairwise, read_choice
from fabula.models.asking.question import Question, Response
from fakes.scripted_respondent import let_answer, respond

STORIES = [
    Story(f"{item}{n}", "rain " * (n + 1), f"On {item}.", (), (), "abcde"[n], item)
    for item in ("x", "y")
    for n in range(5)
]


def prefer_longer(question: Question) -> str:
    first, second = re.findall(r"<<< story \w+\n(.*?)\n>>>", question.prompt, re.DOTALL)
    return "C" if len(first) == len(second) else "A" if len(first) > len(second) else "B"


def test_the_better_of_two_is_stronger_whichever_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    respondent = let_answer(monkeypatch, prefer_longer)
    scores = JudgePairwise(rounds=4).score(STORIES)
    values = [score.value for score in scores]
    assert values[:5] == sorted(values[:5])
    assert values[5:] == pytest.approx(values[:5], abs=1e-9)
    # All ten pairs of either item, in both orders, and never across items.
    assert len(respondent.asked) == 2 * 10 * 2
    assert all(len(set(re.findall(r"On (\w)\.", one.prompt))) == 1 for one in respondent.asked)
    assert {score.note for score in scores} == {""}


def test_fewer_rounds_ask_less_and_do_not_hang_on_the_order_of_stories(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    respondent = let_answer(monkeypatch, prefer_longer)
    judge = JudgePairwise(rounds=2)
    there = {score.story: score.value for score in judge.score(STORIES)}
    assert len(respondent.asked) == 2 * 2 * 2 * 2
    back = {score.story: score.value for score in judge.score(STORIES[::-1])}
    assert there == back


def test_a_judge_that_always_says_a_is_found_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    let_answer(monkeypatch, "A")
    scores = JudgePairwise().score(STORIES)
    assert [score.value for score in scores] == pytest.approx([0.0] * 10, abs=1e-9)
    assert {score.note for score in scores} == {
        "position bias: the first of two was chosen in 100% of 20 answers"
    }


def test_answers_of_no_use_count_for_neither_and_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    let_answer(monkeypatch, "Both are lovely.")
    [status] = {score.status for score in JudgePairwise().score(STORIES)}
    assert status is Status.UNPARSED
    let_answer(monkeypatch, respond("", "refused"))
    scores = JudgePairwise().score(STORIES)
    assert {score.status for score in scores} == {Status.REFUSED}


def test_a_story_alone_has_nobody_to_be_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    let_answer(monkeypatch, "A")
    [score] = JudgePairwise().score(STORIES[:1])
    assert score.status is Status.UNDEFINED
    assert "no other story" in score.note


def test_two_stories_that_do_not_fit_are_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    respondent = let_answer(monkeypatch, "A", window=20)
    scores = JudgePairwise().score(STORIES)
    assert respondent.asked == []
    assert {score.status for score in scores} == {Status.FAILED}
    assert "do not fit" in scores[0].note


def test_a_criterion_is_asked_in_the_rubrics_words(monkeypatch: pytest.MonkeyPatch) -> None:
    respondent = let_answer(monkeypatch, "B")
    judge = JudgePairwise(criterion="coherence", ties=False)
    assert judge.aspects == ("coherence",)
    judge.score(STORIES[:2])
    asked = respondent.asked[0]
    assert "How much sense does the story make?" in asked.prompt
    assert asked.choices == ("A", "B")
    with pytest.raises(SettingError, match="compared whole"):
        JudgePairwise(long="parts")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("A", 1), (" b. ", -1), ("**C**", 0), ("Answer: B", -1), ("Story A", 1), ("A or B", None),
     ("", None), ("D", None), ("A, because it is longer", None)],
)  # fmt: skip
def test_only_one_letter_is_an_answer(text: str, outcome: int | None) -> None:
    assert read_choice(Response("k", text)) == outcome
    assert read_choice(Response("k", text), ties=False) == (outcome or None)
