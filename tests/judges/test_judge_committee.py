"""Committees: means on one scale, a quorum, and how far members agree."""

from __future__ import annotations

import json

import pytest

from fabula.core.errors import SettingError, UserError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.judges.judge_committee import JudgeCommittee, measure_agreement
from fabula.models.asking.question import Question
from fakes.scripted_respondent import let_answer

STORY = Story("s", "Once upon a time it rained.", "Write about rain.")
TWO = ", ".join(f"judge(model='fake()', criterion='coherence'{seed})" for seed in ("", ", seed=9"))


def by_seed(question: Question) -> str:
    return json.dumps({"score": 5 if question.wish.seed == 9 else 2})


def test_the_value_is_the_mean_of_the_members(monkeypatch: pytest.MonkeyPatch) -> None:
    let_answer(monkeypatch, by_seed)
    [score] = JudgeCommittee(TWO).score([STORY])
    assert (score.aspect, score.value) == ("coherence", 3.5)
    # |5 - 2| is three of the four steps of the scale.
    assert score.note.startswith("agreement 0.25; furthest apart on coherence: 2, 5")


def test_a_checklists_share_is_moved_to_the_scale_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    let_answer(monkeypatch, "Yes")
    listed = "judge_checklist(model='fake()', criterion='coherence', ask='each')"
    [score] = JudgeCommittee(listed).score([STORY])
    assert score.value == 5.0
    assert score.note.startswith("a committee of one")


def test_half_of_the_members_are_no_quorum(monkeypatch: pytest.MonkeyPatch) -> None:
    let_answer(monkeypatch, lambda one: "Hard to tell." if one.wish.seed == 9 else '{"score": 3}')
    [score] = JudgeCommittee(TWO).score([STORY])
    assert score.status is Status.UNPARSED


def test_members_are_models_or_judges_spelled_in_full() -> None:
    committee = JudgeCommittee("fake(), fake(seed=3)")
    assert [member.name for member in committee.members] == ["judge", "judge"]
    assert committee.spec == "judge_committee(model='fake, fake(seed=3)')"
    assert len(committee.aspects) == 6
    first, second = committee.traits().values()
    assert first != second


@pytest.mark.parametrize("members", ["", "judge_pairwise(model='fake()')", "judge_committee()"])
def test_who_does_not_rate_is_no_member(members: str) -> None:
    with pytest.raises((SettingError, UserError)):
        JudgeCommittee(members)


def test_agreement_is_one_less_the_mean_distance() -> None:
    assert measure_agreement([3.0, 3.0, 3.0]) == 1.0
    assert measure_agreement([1.0, 5.0]) == 0.0
    assert measure_agreement([1.0, 3.0, 5.0]) == pytest.approx(1 - (2 + 4 + 2) / 3 / 4)
