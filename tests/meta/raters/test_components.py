from __future__ import annotations

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.meta.raters.components import Components, estimate_components
from fabula.meta.raters.ratings import Ratings, ratings_of


def rated(values: np.ndarray, *, items: bool = True) -> tuple[Ratings, list[Story]]:
    """Ratings of raters × items × systems, and their stories."""
    _, count, systems = values.shape
    stories, scores = [], []
    for i in range(count):
        for s in range(systems):
            story = Story(f"{i}-{s}", "Once.", system=f"y{s}", item=str(i) if items else None)
            stories.append(story)
            scores += [
                Score(story.id, f"human:{rater}", value=float(value))
                for rater, value in enumerate(values[:, i, s])
                if not np.isnan(value)
            ]
    [ratings] = ratings_of(scores)
    return ratings, stories


def simulated(raters: int = 3) -> np.ndarray:
    rng = np.random.default_rng(4)
    item = rng.normal(0, 0.6, (300, 1))
    story = rng.normal(0, 0.8, (300, 8))
    return rng.normal(3, 0.5, 8) + item + story + rng.normal(0, 1.1, (raters, 300, 8))


def test_the_variances_that_were_put_in_are_found() -> None:
    found = estimate_components(*rated(simulated()))
    assert (found.item, found.story, found.noise) == pytest.approx((0.36, 0.64, 1.21), abs=0.08)
    assert found.note == ""


def test_without_items_theirs_counts_as_the_stories() -> None:
    found = estimate_components(*rated(simulated(), items=False))
    assert (found.item, found.story) == pytest.approx((0, 1.0), abs=0.08)


def test_missing_ratings_do_no_harm() -> None:
    values = simulated()
    values[2, ::3] = np.nan
    found = estimate_components(*rated(values))
    assert (found.item, found.story, found.noise) == pytest.approx((0.36, 0.64, 1.21), abs=0.1)


def test_stories_that_do_not_differ_are_noted() -> None:
    opposite = np.stack([np.ones((5, 2)), np.full((5, 2), 5.0)])
    found = estimate_components(*rated(opposite))
    assert found.story == 0 and found.note == "stories of a system differ by no more than noise"


def test_the_spread_of_a_difference_by_hand() -> None:
    assert Components(9, 2, 6).difference_sd(3) == pytest.approx(np.sqrt(2 * (2 + 6 / 3)))
    assert Components.of_icc(0.25, 2).sd == pytest.approx(2)
    assert Components.of_icc(0.25, 2).icc == pytest.approx(0.25)


@pytest.mark.parametrize(("icc", "sd"), [(0, 1), (1, 1), (0.5, 0), (0.5, float("inf"))])
def test_what_cannot_be_is_refused(icc: float, sd: float) -> None:
    with pytest.raises(SettingError):
        Components.of_icc(icc, sd)


def test_one_rating_a_story_tells_no_noise() -> None:
    with pytest.raises(InputError, match="no story has two ratings"):
        estimate_components(*rated(simulated(1)))


def test_ratings_that_are_all_the_same_plan_nothing() -> None:
    with pytest.raises(InputError, match="all ratings are the same"):
        estimate_components(*rated(np.full((2, 3, 2), 4.0)))


def test_one_story_a_system_is_too_few() -> None:
    with pytest.raises(InputError, match="but one rated story"):
        estimate_components(*rated(simulated()[:, :1]))
