from __future__ import annotations

import math

import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.scoring.review import rank_stories
from fabula.scoring.review.ranking import Candidate, logit, rank_candidates, win_rate
from fakes.review import TEXT


def test_a_win_rate_is_the_mean_chance_to_be_preferred() -> None:
    # By hand: 1/(1 + e^-1) = .73106 against 0, and 1/2 against 1.
    assert win_rate(1.0, [0.0, 1.0]) == pytest.approx((0.7310586 + 0.5) / 2)
    assert math.isnan(win_rate(1.0, [])) and math.isnan(win_rate(math.nan, [1.0]))


def test_the_chance_against_a_story_of_the_middle_is_the_preference_itself() -> None:
    # logit(.9) − logit(.5) = log 9, whose logistic is .9.
    assert win_rate(logit(0.9), [logit(0.5)]) == pytest.approx(0.9)
    assert math.isfinite(logit(1.0)) and math.isfinite(logit(0.0))


def test_the_best_liked_comes_first_ties_share_a_rank_and_the_unknown_come_last() -> None:
    known = [
        Candidate("a", 0.5),
        Candidate("b", math.nan, note="no text"),
        Candidate("c", 0.9),
        Candidate("d", 0.5),
    ]
    found = rank_candidates(known, error=0.5)
    assert [(one.story, one.rank) for one in found] == [("c", 1), ("a", 2), ("d", 2), ("b", None)]
    assert found[0].win_low < found[0].wins < found[0].win_high
    assert found[-1].plain()["wins"] is None and found[-1].note == "no text"
    # Among those that are ranked, wins and losses are as many.
    assert sum(one.wins for one in found[:3]) == pytest.approx(1.5)


def test_without_an_error_there_is_no_interval() -> None:
    assert math.isnan(rank_candidates([Candidate("a", 0.2), Candidate("b", 0.8)])[0].win_low)


def test_stories_are_ranked_by_the_metric_itself() -> None:
    stories = [Story("long", TEXT), Story("half", TEXT[: len(TEXT) // 2]), Story("none", "")]
    found = rank_stories(stories, weights="fake")
    assert {one.story for one in found.stories[:2]} == {"long", "half"}
    assert found.stories[0].preference >= found.stories[1].preference
    assert found.stories[-1].note == "no opinion: it has no words"
    assert found.stories[0].low < found.stories[0].percentile < found.stories[0].high


def test_what_is_hardly_a_story_has_no_rank_and_a_note_that_says_why() -> None:
    code = "\n".join(f"for {n} in range(len({n})): total[{n}] += {n} * (z - y)" for n in "abcdef")
    stories = [Story("a", TEXT), Story("code", code), Story("b", TEXT[: len(TEXT) // 2])]
    *ranked, last = rank_stories(stories, weights="fake").stories
    assert {one.story for one in ranked} == {"a", "b"}
    assert (last.story, last.rank, last.words > 0) == ("code", None, True)
    assert last.note.startswith("no opinion: it has ") and "code or markup" in last.note


def test_one_story_is_not_ranked() -> None:
    with pytest.raises(InputError, match="one story cannot be ranked"):
        rank_stories([Story("a", TEXT)])
