"""What a campaign has found: times, differences between systems, scorers, and words."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from fabula.core.score import Score
from fabula.studio.campaigns.definition import Pay, Question
from fabula.studio.campaigns.opinions import make_dataset
from fabula.studio.campaigns.results import (
    compare_scorers,
    compare_systems,
    list_remarks,
    measure_pace,
)
from fakes.campaign_work import make_campaign, make_scales, make_stories, make_work, spread

ENJOY = make_scales("enjoyment")


def rate(values, **fields):
    """Work of one rater a row, who rates the stories in turn."""
    table = {
        f"r{rater}": {f"s{story}": {"enjoyment": value} for story, value in enumerate(row)}
        for rater, row in enumerate(values, 1)
    }
    definition = make_campaign(ENJOY, **fields)
    return make_work(definition, make_stories(len(values[0]), 2), spread(table))


def test_pace_is_that_of_gaps_and_says_what_an_hour_pays():
    work = rate([[3, 4, 3, 4]], pay=Pay(0.5, "EUR"))
    pace = measure_pace(work)
    assert (pace.tasks, pace.median_s, pace.currency) == (4, 60.0, "EUR")
    assert pace.hourly == pytest.approx(30.0)
    assert math.isnan(measure_pace(rate([[3, 4]])).hourly)


def test_a_campaign_nobody_has_worked_in_has_no_pace():
    assert measure_pace(replace(rate([[3, 4]]), assignments=())).tasks == 0


def test_a_difference_is_paired_by_item_and_its_interval_is_students():
    # System 0 has 4, 5, 4, 5 and system 1 has 3, 3, 3, 3 on four items: differences 1, 2, 1, 2.
    work = rate([[4, 3, 5, 3, 4, 3, 5, 3]])
    [gap] = compare_systems(make_dataset(work), "enjoyment")
    assert (gap.better, gap.worse) == ("system 0", "system 1")
    # s = .57735, s / 2 = .288675, t(.975, 3) = 3.182446.
    assert gap.difference.value == pytest.approx(1.5)
    assert gap.difference.low == pytest.approx(1.5 - 0.288675 * 3.182446, abs=1e-4)
    assert gap.is_settled and gap.difference.n == 4


def test_what_is_not_settled_says_how_many_items_would_settle_it():
    # Differences 1, -1, 1, 1: mean .5, s = 1; (1.959964 + .841621)² · 4 + 1.92 = 33.3.
    work = rate([[4, 3, 3, 4, 4, 3, 4, 3]])
    [gap] = compare_systems(make_dataset(work), "enjoyment")
    assert not gap.is_settled and gap.needed == 34


def test_systems_that_share_one_item_are_not_compared():
    assert compare_systems(make_dataset(rate([[4, 3]])), "enjoyment") == []


def test_a_scorer_is_held_against_the_mean_of_people_and_says_where_they_part():
    work = rate([[1, 2, 3, 4, 5, 5]])
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 0.0]
    scores = tuple(Score(f"tale-{n}", "words", "", value) for n, value in enumerate(values))
    [parting] = compare_scorers(make_dataset(replace(work, scores=scores)), "enjoyment")
    # Ranks of people 1, 2, 3, 4, 5.5, 5.5; of the scorer 2, 3, 4, 5, 6, 1: 5 / √(17 · 17.5).
    assert parting.rho == pytest.approx(0.28989, abs=1e-5)
    story, human, machine = parting.furthest[0]
    assert (story, human, machine) == ("tale-5", 0.9, 0.0)


def test_words_of_raters_come_with_story_question_and_passage():
    questions = (
        Question("why", "text", "Why?", title="Reason"),
        Question("marks", "spans", "Mark what is odd", choices=("odd", "fine")),
        Question("aspects", "aspects", "Choose", choices=("plot", "ending"), reason=True),
    )
    said = {
        "why": "It ends too soon.",
        "marks": [{"start": 0, "stop": 4, "label": "odd", "reason": "Who is she?"}],
        "aspects": {"ending": {"rating": 2, "reason": "Abrupt."}},
    }
    work = make_work(make_campaign(questions), make_stories(1, 1), spread({"r1": {"s0": said}}))
    remarks = {remark.text: remark for remark in list_remarks(work)}
    assert set(remarks) == {"It ends too soon.", "Who is she?", "Abrupt."}
    assert remarks["Who is she?"].quote == "Mara"
    assert remarks["Who is she?"].question == "marks: odd"
    assert remarks["Abrupt."].question == "ending (2)"
    assert {remark.story for remark in remarks.values()} == {"tale-0"}
