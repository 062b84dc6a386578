from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.table import ScoreTable
from fabula.meta.grid import Grid, GridColumn, Layout
from fakes.factories import make_score, make_story

STORIES = [
    make_story(id="1", item="x", system="a"),
    make_story(id="2", item="x", system="b"),
    make_story(id="3", item="y", system="a"),
]
LAYOUT = Layout.of(STORIES)


def test_stories_stand_at_their_item_and_system_in_the_order_they_came() -> None:
    assert (LAYOUT.items, LAYOUT.systems, LAYOUT.shape) == (("x", "y"), ("a", "b"), (2, 2))
    assert LAYOUT.places == {"1": (0, 0), "2": (0, 1), "3": (1, 0)}


def test_systems_can_be_left_out() -> None:
    layout = Layout.of(STORIES, without=["a"])
    assert (layout.items, layout.systems, layout.places) == (("x",), ("b",), {"2": (0, 0)})


def test_stories_without_an_item_stand_alone() -> None:
    layout = Layout.of([make_story(id="1"), make_story(id="2")])
    assert layout.shape == (2, 1)
    assert layout.places == {"1": (0, 0), "2": (1, 0)}


def test_two_stories_of_an_item_and_system_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="stories '1' and '9' are both of item 'x'"):
        Layout.of([*STORIES, make_story(id="9", item="x", system="a")])


def test_scores_are_laid_out_by_scorer_and_aspect() -> None:
    scores = [
        make_score("1", "m", 0.5),
        make_score("3", "m", 0.25),
        make_score("2", "m", 2.0, aspect="recall"),
        make_score("elsewhere", "m", 9.0),
    ]
    grid = Grid.of(scores, LAYOUT)
    assert grid.columns == (GridColumn("m"), GridColumn("m", "recall"))
    assert [column.label for column in grid.columns] == ["m", "m recall"]
    nan = math.nan
    wanted = [[[0.5, nan], [0.25, nan]], [[nan, 2.0], [nan, nan]]]
    assert np.array_equal(grid.values, wanted, equal_nan=True)


def test_a_score_without_a_value_is_a_gap_and_not_a_zero() -> None:
    grid = Grid.of([Score("1", "m", status="missing_reference"), make_score("2", "m", 1.0)], LAYOUT)
    assert np.isnan(grid.values[0, 0, 0]) and grid.values[0, 0, 1] == 1.0


def test_two_scores_of_one_story_are_refused() -> None:
    with pytest.raises(InputError, match="two scores of 'm' for story '1'"):
        Grid.of([make_score("1", "m", 1.0), make_score("1", "m", 2.0)], LAYOUT)


def test_the_gold_is_the_mean_over_the_raters_who_rated() -> None:
    ratings = [
        Score("1", "human:ann", "plot", 1),
        Score("1", "human:ben", "plot", 4),
        Score("1", "human:cat", "plot", status="failed"),
        Score("2", "human:ann", "plot", 3),
        Score("1", "human:ann", "style", 5),
    ]
    gold = Grid.of_gold(ScoreTable(STORIES, ratings), LAYOUT)
    assert gold.columns == (GridColumn("gold", "plot"), GridColumn("gold", "style"))
    nan = math.nan
    wanted = [[[2.5, 3], [nan, nan]], [[5, nan], [nan, nan]]]
    assert np.array_equal(gold.values, wanted, equal_nan=True)


def test_without_scores_a_grid_has_no_columns() -> None:
    assert Grid.of([], LAYOUT).values.shape == (0, 2, 2)
    assert Grid.of_gold([], LAYOUT).columns == ()


def test_columns_are_chosen_in_the_order_asked_for() -> None:
    scores = [make_score("1", name, place) for place, name in enumerate("pqr", 1)]
    grid = Grid.of(scores, LAYOUT).select([GridColumn("r"), GridColumn("p")])
    assert [column.scorer for column in grid.columns] == ["r", "p"]
    assert grid.values[:, 0, 0].tolist() == [3, 1]


def test_orienting_turns_scorers_for_which_lower_is_better() -> None:
    scores = [make_score("1", "distance", 0.5), make_score("1", "score", 0.5)]
    grid = Grid.of(scores, LAYOUT).orient({"distance"})
    assert grid.values[:, 0, 0].tolist() == [-0.5, 0.5]
