"""Checks of single tasks: each flag says what was seen."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fabula.core.story import Story
from fabula.studio.campaigns.checks import find_flags, judge_name
from fabula.studio.campaigns.definition import Checks, Question, Show
from fabula.studio.campaigns.work import WorkStory
from fakes.campaign_work import TEXT, make_campaign, make_stories, make_work, spread

FAIR = {"relevance": 3, "empathy": 2}


def flags_of(work, check):
    return [flag for flag in find_flags(work) if flag.check == check]


def one_rater(said, **fields):
    """A rater of one story, with what else stands in the answers."""
    answers = {question: {"s0": value} for question, value in FAIR.items()} | said
    return make_work(make_campaign(), make_stories(1), {"r1": {"s0": answers}}, **fields)


@pytest.mark.parametrize(
    "name", ["Mara", "mara", " Marra ", "the singer Mara", "Mara's mother", "night"]
)
def test_a_name_that_is_in_the_story_will_do_however_it_is_spelled(name):
    assert judge_name(name, TEXT) == ""


@pytest.mark.parametrize("name", ["Bartholomew", "Ove", "the Duke of Camelot"])
def test_a_name_that_is_not_in_the_story_is_named(name):
    assert judge_name(name, TEXT) == f"{name!r} is not"


def test_nobody_will_do_unless_somebody_acts_under_a_name():
    named = "It was late, and Mara said no. Then Mara slept, and when Mara woke, it was day."
    assert judge_name("None", named) == "no character is named, and Mara acts"
    assert judge_name("none", "It rained on Paris. We saw Paris burn. I left Paris.") == ""
    assert judge_name("no name", "The old king said that it would rain.") == ""


def test_a_character_who_is_not_there_gives_a_flag_with_the_story():
    [flag] = flags_of(one_rater({"_character": {"s0": "Zebulon"}}), "character")
    assert (flag.rater, flag.assignment) == ("r1", "r1-s0")
    assert flag.evidence == "'Zebulon' is not in story tale-0"
    assert flags_of(one_rater({"_character": {"s0": "Mara"}}), "character") == []


def test_an_instructed_answer_that_was_not_given_is_flagged():
    missed = one_rater({"_instructed": {"asked": 2, "given": 5}})
    assert flags_of(missed, "instructed")[0].evidence == "asked to answer 2, answered 5"
    assert flags_of(one_rater({"_instructed": {"asked": 2, "given": 2}}), "instructed") == []


def planted_work(*values, best=None):
    """A rater of one planted story, or of two that are compared, the first of them planted."""
    poor = WorkStory("p0", Story("poor", "The the dog of. " * 10), is_planted=True)
    if best:
        question = Question("best", "best", "Which is best?")
        definition = make_campaign([question], unit="pair")
        shown = {"t": ["p0", "s0"]}
        said = {"r1": {"t": {"best": best}}}
    else:
        definition, shown = make_campaign(), {}
        said = spread({"r1": {"p0": dict(zip(("relevance", "empathy"), values, strict=True))}})
    kinds = {"p0": ("planted", None), "t": ("planted", None)}
    return make_work(definition, [poor, *make_stories(1)], said, kinds=kinds, shown=shown)


def test_a_planted_story_above_the_middle_is_flagged_and_one_at_it_is_not():
    [flag] = flags_of(planted_work(4, 3), "planted")
    assert "62% of the way" in flag.evidence or "63% of the way" in flag.evidence
    assert flags_of(planted_work(3, 3), "planted") == []
    assert flags_of(planted_work(best="p0"), "planted")[0].evidence.endswith("found best (best)")
    assert flags_of(planted_work(best="s0"), "planted") == []


def duplicate_work(first, again):
    """A rater who answers six questions about a story, and about it again in another task."""
    names = [f"q{i}" for i in range(len(first))]
    definition = make_campaign([Question(name, "scale", name) for name in names])
    said = {
        task: {name: {"s0": value} for name, value in zip(names, values, strict=True)}
        for task, values in (("s0", first), ("twin", again))
    }
    kinds, shown = {"twin": ("duplicate", "s0")}, {"twin": ["s0"]}
    return make_work(definition, make_stories(1), {"r1": said}, kinds=kinds, shown=shown)


def test_the_same_story_answered_otherwise_is_flagged_with_how_far():
    """|1-5| + |5-1| + |2-4| + |3-3| = 10 of 16 steps."""
    [flag] = flags_of(duplicate_work([1, 5, 2, 3], [5, 1, 4, 3]), "duplicate")
    assert flag.assignment == "r1-twin"
    assert flag.evidence.startswith("the same stories again were answered 62% of the scale away")


def test_a_rater_may_change_an_answer_by_a_step():
    assert flags_of(duplicate_work([1, 5, 2, 3], [2, 4, 3, 2]), "duplicate") == []
    # Two answers are too few for anything but the opposite.
    assert flags_of(duplicate_work([2, 4], [4, 2]), "duplicate") == []
    assert flags_of(duplicate_work([1, 5], [5, 1]), "duplicate") != []


@pytest.mark.parametrize(
    ("question", "first", "again", "apart"),
    [
        (Question("q", "ranking", "Rank"), ["s0", "s1"], ["s1", "s0"], True),
        (Question("q", "best_worst", "Which"), {"best": "s0", "worst": "s1"},
         {"best": "s1", "worst": "s0"}, True),
        (Question("q", "best", "Best?"), "s0", "s0", False),
    ],
)  # fmt: skip
def test_comparisons_are_compared_too(question, first, again, apart):
    definition = make_campaign([question], unit="group", size=3)
    said = {"r1": {"t": {"q": first}, "twin": {"q": again}}}
    shown = {"t": ["s0", "s1", "s2"], "twin": ["s1", "s0", "s2"]}
    kinds = {"twin": ("duplicate", "t")}
    work = make_work(definition, make_stories(3), said, kinds=kinds, shown=shown)
    assert bool(flags_of(work, "duplicate")) == apart


def timed_work(gap_s, stories=1, checks=None, **fields):
    """A rater of stories of 45 words each, one every so many seconds."""
    given = spread({"r1": {f"s{i}": FAIR for i in range(stories)}})
    definition = make_campaign(checks=checks, **fields)
    return make_work(definition, make_stories(stories), given, gap_s=gap_s)


def test_reading_faster_than_the_pace_is_flagged_with_words_and_seconds():
    """45 words at 600 a minute take four and a half seconds."""
    assert flags_of(timed_work(5), "too_fast") == []
    [flag] = flags_of(timed_work(4), "too_fast")
    assert flag.evidence == "4 s for 45 words; at least 4 s are needed"


def test_a_floor_holds_unless_the_texts_are_short():
    assert len(flags_of(timed_work(29, checks=Checks(floor_s=30)), "too_fast")) == 1
    assert flags_of(timed_work(29, checks=Checks(floor_s=30, floor_words=46)), "too_fast") == []
    assert flags_of(timed_work(31, checks=Checks(floor_s=30)), "too_fast") == []


def test_what_a_rater_has_read_before_takes_no_time_again():
    """Both stories have the prompt and the reference of item 0: 45 and 2 + 2 words, then 45."""
    work = timed_work(4.8, 2, show=Show(prompt=True, reference=True))
    assert [flag.assignment for flag in flags_of(work, "too_fast")] == ["r1-s0"]


def test_tasks_that_were_opened_long_ago_are_no_alibi_for_submits_in_a_row():
    work = timed_work(2, 8)
    early = [replace(one, opened_at=one.opened_at - timedelta(hours=2)) for one in work.assignments]
    [flag] = flags_of(replace(work, assignments=tuple(early)), "gaps")
    assert flag.assignment is None
    assert flag.evidence == (
        "7 of 7 gaps between submits are shorter than reading takes; the middle one is 2 s"
    )
    assert flags_of(timed_work(30, 8), "gaps") == []


def test_flags_come_in_the_order_of_raters_and_honest_work_has_none():
    fast = timed_work(2, 8)
    assert {flag.rater for flag in find_flags(fast)} == {"r1"}
    assert find_flags(timed_work(60, 8)) == []
