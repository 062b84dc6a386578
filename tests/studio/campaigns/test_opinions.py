"""Answers become scores and choices by one rule for each kind of question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabula.core.dataset import Preference
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.meta.raters.agreement import agree
from fabula.studio.campaigns.definition import Question
from fabula.studio.campaigns.opinions import (
    compare_stories,
    list_rated_aspects,
    make_dataset,
    make_preferences,
    make_ratings,
    score_answer,
)
from fabula.studio.campaigns.work import WorkStory
from fakes.campaign_work import BEGAN, make_campaign, make_stories, make_work, spread

AGREES = Question("agrees", "choice", "Agree?", choices=("yes", "no"))
SOURCE = Question("source", "choice", "Who?", choices=("human", "machine", "unsure"))
ASPECTS = Question("aspects", "aspects", "Choose", choices=("plot", "ending"), reason=True)


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        (Question("mood", "scale", "?"), 4, {"mood": 4}),
        (AGREES, "yes", {"agrees": 1}),
        (AGREES, "no", {"agrees": 0}),
        (SOURCE, "machine", {"source=human": 0, "source=machine": 1, "source=unsure": 0}),
        (ASPECTS, {"ending": {"rating": 2, "reason": "abrupt"}},
         {"chosen:plot": 0, "chosen:ending": 1, "ending": 2}),
        (Question("why", "text", "Why?"), "because", {}),
        (Question("marks", "spans", "Mark"), [{"start": 0, "stop": 3}], {}),
        (AGREES, None, {}),
    ],
)  # fmt: skip
def test_an_answer_stands_for_these_numbers(question, answer, expected):
    assert dict(score_answer(question, answer)) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("b", [("b", "a"), ("b", "c")]),
        (["c", "a", "b"], [("c", "a"), ("c", "b"), ("a", "b")]),
        ({"best": "a", "worst": "c"}, [("a", "c"), ("a", "b"), ("b", "c")]),
        (None, []),
    ],
)
def test_a_comparison_puts_these_pairs_in_order(answer, expected):
    found = list(compare_stories(answer, ["a", "b", "c"]))
    assert [pair[:2] for pair in found] == expected
    assert not any(is_tie for _, _, is_tie in found)


def test_a_tie_is_a_choice_of_its_own():
    assert list(compare_stories("tie", ["a", "b"])) == [("a", "b", True)]


def test_only_accepted_work_on_the_campaigns_own_stories_counts():
    said = {"relevance": 3, "empathy": 2}
    poor = WorkStory("p0", Story("poor", "The the."), is_planted=True)
    given = spread({"r1": {"s0": said, "p0": said, "s1": said}, "r2": {"s0": said}})
    given["r1"]["twin"] = {"relevance": {"s0": 5}, "empathy": {"s0": 5}}
    kinds = {"p0": ("planted", None), "twin": ("duplicate", "s0")}
    work = make_work(
        make_campaign(), [*make_stories(2), poor], given, kinds=kinds, shown={"twin": ["s0"]}
    )
    marked = [
        replace(one, rejected_at=BEGAN)
        if one.id == "r1-s1"
        else replace(one, state="surplus")
        if one.id == "r2-s0"
        else one
        for one in work.assignments
    ]
    ratings = make_ratings(replace(work, assignments=tuple(marked)))
    assert ratings == [
        Score("tale-0", "human:r1", "relevance", 3.0),
        Score("tale-0", "human:r1", "empathy", 2.0),
    ]


def test_a_story_met_in_several_tasks_has_the_mean_of_its_rater():
    definition = make_campaign([Question("mood", "scale", "?")], unit="pair")
    shown = {"t1": ["s0", "s1"], "t2": ["s0", "s2"]}
    given = {"r1": {"t1": {"mood": {"s0": 2, "s1": 4}}, "t2": {"mood": {"s0": 5, "s2": 1}}}}
    work = make_work(definition, make_stories(3), given, shown=shown)
    by_story = {score.story: (score.value, score.note) for score in make_ratings(work)}
    assert by_story == {
        "tale-0": (3.5, "mean of 2 answers"), "tale-1": (4, ""), "tale-2": (1, ""),
    }  # fmt: skip


def test_choices_name_the_rater_and_what_was_asked():
    definition = make_campaign([Question("better", "best", "?", ties=True)], unit="pair")
    shown = {"t1": ["s0", "s1"], "t2": ["s3", "s2"]}
    given = {"r1": {"t1": {"better": "s1"}, "t2": {"better": "tie"}}}
    work = make_work(definition, make_stories(4), given, shown=shown)
    assert make_preferences(work) == [
        Preference("tale-1", "tale-0", "r1", "better"),
        Preference("tale-3", "tale-2", "r1", "better", is_tie=True),
    ]


def test_a_campaign_is_a_data_set_with_its_scales():
    """Two raters who agree but for one of four stories; chance goes by the five steps asked."""
    rows = {"r1": [1, 2, 4, 5], "r2": [1, 2, 4, 4]}
    given = {
        rater: {f"s{i}": {"mood": value} for i, value in enumerate(values)}
        for rater, values in rows.items()
    }
    definition = make_campaign([Question("mood", "scale", "?"), AGREES, ASPECTS])
    work = make_work(definition, make_stories(4), spread(given))
    dataset = make_dataset(work)
    assert dataset.card.scale("mood") == (1, 5) and dataset.card.scale("plot") == (1, 5)
    assert dataset.card.scale("agrees") == (0, 1)
    line = agree(dataset, aspects=("mood",), resamples=20).line("mood", "AC1")
    # Agreement on 3 of 4; shares 2/8, 2/8, 3/8, 1/8: chance is (1 - 18/64) / 4.
    chance = (1 - 18 / 64) / 4
    assert line.estimate.value == pytest.approx((0.75 - chance) / (1 - chance))
    assert list_rated_aspects(work) == ["mood", "agrees", "plot", "ending"]
