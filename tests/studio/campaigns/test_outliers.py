"""Raters unlike the others: told when it is beyond chance, and left alone when it is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from fabula.studio.campaigns.checks import find_flags
from fabula.studio.campaigns.definition import Checks, Question
from fabula.studio.campaigns.work import Verdict
from fakes.campaign_work import BEGAN, make_campaign, make_scales, make_stories, make_work, spread

NAMES = ("plot", "style", "mood", "people")
CHECKS = Checks(all_lowest=True, agreement=0.0)


def honest_rows(stories, raters, seed=0):
    """Answers by rater, story and question that follow the story, the rater's mood and chance."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(3, 1, size=(stories, 1))
    given = {}
    for rater in range(1, raters + 1):
        liking = worth + rng.normal(0, 0.7, size=(stories, 1))
        values = np.clip(np.round(liking + rng.normal(0, 0.6, (stories, 4))), 1, 5).astype(int)
        given[f"r{rater}"] = {
            f"s{story}": dict(zip(NAMES, map(int, values[story]), strict=True))
            for story in range(stories)
        }
    return given


def flags_of(given, *, questions=(), checks=CHECKS, count=40, **fields):
    definition = make_campaign(questions or make_scales(*NAMES), checks)
    work = make_work(definition, make_stories(count), spread(given), **fields)
    return {(flag.check, flag.rater) for flag in find_flags(work)}


@pytest.mark.parametrize("seed", range(5))
def test_honest_raters_are_left_alone(seed):
    assert flags_of(honest_rows(40, 8, seed)) == set()


def test_answers_that_hardly_vary_are_flagged_even_with_one_exception():
    given = honest_rows(40, 6)
    given["r7"] = {story: dict.fromkeys(NAMES, 3) for story in given["r1"]}
    given["r8"] = given["r7"] | {"s4": given["r1"]["s4"]}
    assert flags_of(given) >= {("all_same", "r7"), ("all_same", "r8")}
    assert ("all_same", "r1") not in flags_of(given)


def test_few_tasks_or_a_usual_answer_flag_nobody():
    """Yes to everything says nothing where nine in ten answers are yes."""
    question = Question("good", "choice", "Is it good?", choices=("yes", "no"))
    rng = np.random.default_rng(3)
    given = {
        f"r{i}": {f"s{s}": {"good": "no" if rng.random() < 0.1 else "yes"} for s in range(20)}
        for i in range(1, 8)
    }
    given["r8"] = {f"s{s}": {"good": "yes"} for s in range(20)}
    assert flags_of(given, questions=[question]) == set()
    few = {rater: dict(list(said.items())[:3]) for rater, said in honest_rows(40, 6).items()}
    few["r7"] = {f"s{s}": dict.fromkeys(NAMES, 3) for s in range(3)}
    assert flags_of(few) == set()


def test_who_always_takes_the_left_one_is_flagged_whichever_story_that_is():
    question = Question("better", "best", "Which is better?")
    definition = make_campaign([question], unit="pair")
    rng = np.random.default_rng(1)
    shown = {f"t{i}": [f"s{2 * i}", f"s{2 * i + 1}"] for i in range(20)}
    given = {
        f"r{r}": {task: {"better": pair[rng.integers(2)]} for task, pair in shown.items()}
        for r in range(1, 6)
    }
    given["r6"] = {task: {"better": pair[0]} for task, pair in shown.items()}
    work = make_work(definition, make_stories(40), given, shown=shown)
    found = {(flag.check, flag.rater): flag.evidence for flag in find_flags(work)}
    assert list(found) == [("all_same", "r6")]
    assert found["all_same", "r6"].startswith("20 of 20 answers are the same, [0]")


def test_the_lowest_answer_to_everything_is_flagged_only_beyond_what_others_do():
    given = honest_rows(40, 6)
    lowest = dict.fromkeys(NAMES, 1)
    given["r7"] = {story: lowest if i % 3 else said
                   for i, (story, said) in enumerate(given["r1"].items())}  # fmt: skip
    assert ("all_lowest", "r7") in flags_of(given)
    assert ("all_lowest", "r7") not in flags_of(given, checks=Checks())
    # Poor stories, which everybody puts last.
    poor = {rater: {story: lowest if i % 3 else said[story] for i, story in enumerate(said)}
            for rater, said in honest_rows(40, 6).items()}  # fmt: skip
    assert {check for check, _ in flags_of(poor)} & {"all_lowest"} == set()


def test_who_rates_against_the_others_is_flagged_once_there_are_enough_stories():
    def turned(count):
        given = honest_rows(count, 6)
        given["r7"] = {story: {name: 6 - value for name, value in said.items()}
                       for story, said in given["r1"].items()}  # fmt: skip
        return flags_of(given, count=count)

    assert turned(40) == {("agreement", "r7")}
    assert turned(7) == set()


def test_the_evidence_for_disagreement_holds_the_correlation_and_its_interval():
    given = honest_rows(30, 5)
    given["r6"] = {story: {name: 6 - value for name, value in said.items()}
                   for story, said in given["r1"].items()}  # fmt: skip
    definition = make_campaign(make_scales(*NAMES), CHECKS)
    work = make_work(definition, make_stories(30), spread(given))
    [flag] = [one for one in find_flags(work) if one.check == "agreement"]
    assert flag.evidence.startswith("the correlation with the mean of the others is -0.")
    assert "over 30 stories (95 %: at most -0." in flag.evidence


def test_answers_at_random_do_not_go_together():
    given = honest_rows(40, 8)
    rng = np.random.default_rng(5)
    given["r9"] = {
        story: {name: int(rng.integers(1, 6)) for name in NAMES} for story in given["r1"]
    }
    assert ("scattered", "r9") in flags_of(given)
    few = {rater: dict(list(said.items())[:6]) for rater, said in given.items()}
    assert flags_of(few) == set()


def test_the_later_of_two_equal_raters_is_the_copy():
    given = honest_rows(40, 6)
    given["r7"] = given["r2"]
    definition = make_campaign(make_scales(*NAMES), CHECKS)
    work = make_work(definition, make_stories(40), spread(given))
    [flag] = find_flags(work)
    assert (flag.check, flag.rater) == ("copycat", "r7")
    assert "of them by one rater" in flag.evidence and "40 of 40 answers" in flag.evidence


def test_who_copies_from_everybody_in_turn_is_found_too():
    given = honest_rows(40, 6)
    given["r7"] = {f"s{i}": given[f"r{1 + i % 6}"][f"s{i}"] for i in range(40)}
    assert ("copycat", "r7") in flags_of(given)


def test_one_question_needs_more_than_a_few_equal_answers():
    question = make_scales("plot")
    given = {rater: {story: {"plot": said["plot"]} for story, said in rows.items()}
             for rater, rows in honest_rows(8, 6).items()}  # fmt: skip
    given["r7"] = given["r1"]
    assert flags_of(given, questions=question, count=8) == set()


def text_work(texts):
    """Raters who write under stories, one text each: {rater: [texts]}."""
    question = Question("why", "text", "Why?")
    given = {
        rater: {f"s{i}": {"why": text} for i, text in enumerate(said)}
        for rater, said in texts.items()
    }
    return flags_of(given, questions=[question])


LONG = "the second half gives away what the first half had hidden so well"


def test_a_long_text_of_somebody_else_is_a_copy_and_a_short_one_is_not():
    assert text_work({"r1": [LONG], "r2": [LONG.upper() + "!"]}) == {("same_text", "r2")}
    assert text_work({"r1": ["I liked the end."], "r2": ["I liked the end."]}) == set()
    own = [f"nothing much happens in this one {i}" for i in range(3)]
    assert text_work({"r1": own}) == set()
    assert text_work({"r1": ["a very nice story indeed"] * 3}) == {("same_text", "r1")}


def test_reasons_of_aspects_and_spans_are_texts_too():
    questions = [
        Question("aspects", "aspects", "Choose", choices=("plot", "end"), reason=True),
        Question("marks", "spans", "Mark"),
    ]
    given = {
        "r1": {"s0": {"aspects": {"end": {"rating": 3, "reason": LONG}}, "marks": []}},
        "r2": {"s1": {"aspects": {}, "marks": [{"start": 0, "stop": 2, "reason": LONG}]}},
    }
    assert flags_of(given, questions=questions) == {("same_text", "r2")}


def test_the_others_are_not_held_against_rejected_work():
    """Of two equal raters the earlier one was rejected: the later one then copied nobody."""
    given = honest_rows(40, 6)
    given["r7"] = given["r2"]
    definition = make_campaign(make_scales(*NAMES), CHECKS)
    work = make_work(definition, make_stories(40), spread(given))
    rejected = tuple(
        replace(
            one,
            rejected_at=BEGAN + timedelta(days=30),
            verdicts=(Verdict("rejected", "no", "p", BEGAN),),
        )
        if one.rater == "r2"
        else one
        for one in work.assignments
    )
    assert find_flags(replace(work, assignments=rejected)) == []
