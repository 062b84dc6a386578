"""A campaign's work as it is read: everything once, and nothing personal."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fabula.core.errors import NotAllowed, NotFound
from fabula.studio.campaigns.verdicts import reject_work
from fabula.studio.campaigns.work import read_work
from fakes.campaign_work import BEGAN, make_campaign, make_stories, make_work, put_work, spread
from fakes.studio_people import put_person


@pytest.fixture
def researcher(studio):
    return put_person(studio, "rea", "researcher")


def small_work():
    given = {
        "r1": {"s0": {"relevance": 4, "empathy": 2}, "s1": {"relevance": 1, "empathy": 1}},
        "r2": {"s1": {"relevance": 2, "empathy": 3}},
    }
    return make_work(make_campaign(), make_stories(2), spread(given))


def test_work_comes_back_as_it_was_done(studio, researcher):
    put_work(studio, researcher, small_work())
    work = read_work(studio, researcher, "tales")
    assert work.definition == make_campaign()
    assert [rater.name for rater in work.raters.values()] == ["r1", "r2"]
    said = [
        (work.raters[one.rater].name, work.stories[one.shown[0]].story.id, one.answers)
        for one in work.submitted
    ]
    ids = {one.story.id: place for place, one in work.stories.items()}
    assert said == [
        ("r1", "tale-0", {"relevance": {ids["tale-0"]: 4}, "empathy": {ids["tale-0"]: 2}}),
        ("r1", "tale-1", {"relevance": {ids["tale-1"]: 1}, "empathy": {ids["tale-1"]: 1}}),
        ("r2", "tale-1", {"relevance": {ids["tale-1"]: 2}, "empathy": {ids["tale-1"]: 3}}),
    ]
    story = work.stories[ids["tale-1"]].story
    assert (story.system, story.item, story.references) == ("system 1", "0", ("Reference 0.",))


def test_what_a_crowd_site_calls_a_rater_is_not_read(studio, researcher):
    put_work(studio, researcher, small_work())
    assert "crowd-" not in repr(read_work(studio, None, "tales"))


def test_rejected_work_is_submitted_but_not_accepted(studio, researcher):
    put_work(studio, researcher, small_work())
    first = read_work(studio, researcher, "tales").submitted[0]
    reject_work(studio, researcher, "tales", [first.id], reason="all too fast")
    work = read_work(studio, researcher, "tales")
    assert work.submitted[0].id == first.id and len(work.submitted) == 3
    assert first.id not in {one.id for one in work.accepted} and len(work.accepted) == 2
    [verdict] = work.submitted[0].verdicts
    assert (verdict.verdict, verdict.reason) == ("rejected", "all too fast")


def test_only_researchers_read_it_and_a_name_that_is_none_is_named(studio, researcher):
    put_work(studio, researcher, small_work())
    with pytest.raises(NotAllowed):
        read_work(studio, put_person(studio, "ann"), "tales")
    with pytest.raises(NotFound, match="no campaign tails"):
        read_work(studio, researcher, "tails")


def test_a_gap_is_counted_from_the_submit_before_even_if_both_were_opened_at_once():
    """Opened together at 9:00, submitted after 60 and 65 seconds: the second took five."""
    work = small_work()
    first, second, other = work.assignments
    moved = [
        type(first)(**{**vars(first), "opened_at": BEGAN}),
        type(second)(
            **{
                **vars(second),
                "opened_at": BEGAN,
                "submitted_at": BEGAN + timedelta(seconds=65),
            }
        ),
        other,
    ]
    gaps = type(work)(**{**vars(work), "assignments": tuple(moved)}).gaps_s
    assert [gaps[one.id] for one in moved] == [60, 5, 60]
