from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.grid import Grid, Layout
from fabula.meta.levels import LEVELS, correlate_pairs
from fabula.meta.raters.ceiling import gold_ceilings, noise_ceiling
from fabula.meta.study import Study
from fakes.grids import make_dataset

ITEMS, SYSTEMS = 40, 6
STORIES = [
    Story(f"{i}-{s}", "Once.", system=str(s), item=str(i))
    for i in range(ITEMS)
    for s in range(SYSTEMS)
]
LAYOUT = Layout.of(STORIES)


def strict_raters(seed: int = 0, raters: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """True scores, and ratings by people of whom each is strict or mild with all stories."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(ITEMS, SYSTEMS))
    strictness = 2 * rng.normal(size=(raters, 1, 1))
    return true, true + strictness + rng.normal(size=(raters, ITEMS, SYSTEMS))


def scores_of(ratings: np.ndarray, aspect: str = "plot") -> list[Score]:
    return [
        Score(f"{i}-{s}", f"human:{rater}", aspect, float(value))
        for rater, table in enumerate(ratings)
        for (i, s), value in np.ndenumerate(table)
        if not np.isnan(value)
    ]


def ceilings(scores: list[Score], *, without: tuple[str, ...] = (), **how: Any) -> dict[str, float]:
    layout = Layout.of(STORIES, without)
    settings = {"level": "pooled", "coefficient": "pearson", **how}
    return gold_ceilings(scores, Grid.of_gold(scores, layout), **settings)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("known", [True, False])
def test_it_is_the_ceiling_of_the_ratings_laid_out(level: Any, known: bool) -> None:
    _, ratings = strict_raters()
    correlate = partial(correlate_pairs, level=level, coefficient="spearman")
    goal = noise_ceiling(ratings, correlate, by_rater=known, splits=50).ceiling
    found = ceilings(scores_of(ratings), level=level, coefficient="spearman", raters_known=known)
    assert found == {"plot": goal}


def test_known_raters_may_be_strict_and_unknown_ones_count_as_noise() -> None:
    true, ratings = strict_raters(raters=6)
    reached = np.corrcoef(true.ravel(), ratings.mean(0).ravel())[0, 1]
    assert ceilings(scores_of(ratings))["plot"] == pytest.approx(reached, abs=0.03)
    assert ceilings(scores_of(ratings), raters_known=False)["plot"] < reached - 0.1


def test_aspects_have_ceilings_of_their_own_and_others_have_none() -> None:
    plot, style = (scores_of(strict_raters(seed)[1], name) for seed, name in enumerate("ab"))
    found = ceilings([*plot, *style])
    assert set(found) == {"a", "b"} and found["a"] != found["b"]
    gold = Grid.of_gold([*plot, *style], LAYOUT)
    only = gold_ceilings(
        [*plot, *style], gold.select(gold.columns[1:]), level="pooled", coefficient="pearson"
    )
    assert only == {"b": found["b"]}


def test_a_rater_who_was_alone_has_no_ceiling() -> None:
    _, ratings = strict_raters(raters=1)
    assert math.isnan(ceilings(scores_of(ratings))["plot"])
    parted = strict_raters(raters=2)[1]
    parted[0, ::2] = parted[1, 1::2] = np.nan
    for known in (True, False):
        assert math.isnan(ceilings(scores_of(parted), raters_known=known)["plot"])


def test_stories_that_are_left_out_do_not_count() -> None:
    _, ratings = strict_raters()
    scores = scores_of(ratings)
    kept = [one for one in scores if not one.story.endswith(("-0", "-1"))]
    whole = ceilings(scores, without=("0", "1"))
    assert whole == ceilings(kept, without=("0", "1")) != ceilings(scores)


def test_unknown_raters_are_the_ratings_of_a_story_in_whatever_places() -> None:
    # Forty people, three of whom rate each story: by place that is three ratings a story.
    rng = np.random.default_rng(1)
    _, dense = strict_raters(raters=3)
    scattered = np.full((40, ITEMS, SYSTEMS), np.nan)
    for i, s in np.ndindex(ITEMS, SYSTEMS):
        scattered[np.sort(rng.choice(40, 3, replace=False)), i, s] = dense[:, i, s]
    found = ceilings(scores_of(scattered), raters_known=False)
    assert found == pytest.approx(ceilings(scores_of(dense), raters_known=False), abs=0.02)


@pytest.mark.parametrize("known", [True, False])
def test_a_study_asks_whether_the_raters_are_known(known: bool) -> None:
    true, ratings = strict_raters(raters=5)
    dataset = make_dataset({"m": true}, {"plot": true}, raters_known=known)
    stories = {
        story.id: f"{story.item[1:]}-{'abcdef'.index(story.system)}" for story in dataset.stories
    }
    ids = {own: id for id, own in stories.items()}
    scores = [replace(one, story=ids[one.story]) for one in scores_of(ratings)]
    dataset = replace(dataset, ratings=ScoreTable(dataset.stories, scores))
    found = Study(levels=("pooled",), coefficients=("pearson",), resamples=5).run(dataset)
    goal = ceilings(scores_of(ratings), raters_known=known)["plot"]
    assert found.correlations[0].ceiling == pytest.approx(goal)
