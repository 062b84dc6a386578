from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.ranking.means import place_ranges, system_clusters, system_means, tell_apart
from fakes.hanna_figures import CRITERIA, hanna, hanna_tables

STORIES = [Story(f"{s}{i}", "Once.", system=s, item=str(i)) for s in "ab" for i in range(3)]


def ratings(values: dict[str, list[list[float]]], aspect: str = "") -> ScoreTable:
    """Ratings of the stories of a system: a list per story, a number per rater."""
    scores = [
        Score(f"{system}{item}", f"human:{rater}", aspect, value)
        for system, rows in values.items()
        for item, row in enumerate(rows)
        for rater, value in enumerate(row)
    ]
    return ScoreTable(STORIES, scores)


def test_the_interval_is_students_over_ratings_or_over_items() -> None:
    table = ratings({"a": [[1, 3], [2, 4], [5, 3]], "b": [[2, 2], [2, 2], [2, 2]]})
    means = system_means(table)
    one, other = means.values()
    # Ratings 1 3 2 4 5 3: mean 3, variance 10/5 = 2, SEM sqrt(2/6), t(.975, 5) = 2.570582.
    assert (*means,) == (("a", ""), ("b", "")) and (one.value, one.n) == (3.0, 6)
    assert one.high - one.value == pytest.approx(2.5705818 * math.sqrt(2 / 6))
    assert one.value - one.low == pytest.approx(one.high - one.value)
    assert (other.value, other.low, other.high) == (2.0, 2.0, 2.0)
    # Means of the items 2 3 4: variance 1, SEM sqrt(1/3), t(.975, 2) = 4.302653.
    by_item = system_means(table, over="items")["a", ""]
    assert (by_item.value, by_item.n) == (3.0, 3)
    assert by_item.high - by_item.value == pytest.approx(4.3026527 * math.sqrt(1 / 3))


def test_missing_ratings_are_left_out_and_counted() -> None:
    [found] = system_means(ratings({"a": [[1], [math.nan], [4]]})).values()
    assert (found.value, found.n, found.undefined) == (2.5, 2, 1)


def test_a_single_rating_has_no_interval_and_none_no_mean() -> None:
    [alone] = system_means(ratings({"a": [[4]]})).values()
    assert alone.value == 4 and math.isnan(alone.low) and math.isnan(alone.high)
    [none] = system_means(ratings({"a": [[math.nan]]})).values()
    assert math.isnan(none.value) and (none.n, none.undefined) == (0, 1)


def test_the_average_is_over_raters_who_rated_every_aspect() -> None:
    plot = ratings({"a": [[1, 2], [3, 4]]}, "plot")
    style = ratings({"a": [[3, 4], [5, math.nan]]}, "style")
    means = system_means(plot + style, average=True)
    found = {aspect: mean for (_, aspect), mean in means.items()}
    # Raters' own means: (1+3)/2, (2+4)/2, (3+5)/2; the last one gave no style.
    assert (found["average"].value, found["average"].n) == (3.0, 3)
    assert (found["average"].undefined, found["plot"].undefined) == (1, 0)


def test_systems_may_be_left_out() -> None:
    table = ratings({"a": [[1]], "b": [[2]]})
    assert [system for system, _ in system_means(table, without=("a",))] == ["b"]


def test_table_4_of_hanna(shared: Path) -> None:
    found = system_means(hanna(shared).ratings, average=True)
    table = hanna_tables(shared)["tab4"]
    checked = 0
    for system, row in table.items():
        for short, aspect in (*CRITERIA.items(), ("Average", "average")):
            one = found[system, aspect]
            assert one.value == pytest.approx(row[short], abs=5.1e-5), (system, aspect)
            if aspect != "average":
                reach = row[f"{short}_ci95_288ratings"]
                assert one.high - one.value == pytest.approx(reach, abs=5.1e-5)
                assert one.n == 288
            checked += 1
    assert checked == 77


def test_systems_are_told_apart_by_the_items_they_share() -> None:
    # Eight differences of one sign: p is 2 / 2**8 = 0.0078, times 3 by Holm 0.0234.
    steady, none, missing = [1.0] * 8, [1.0, -1.0] * 4, [1.0] + [math.nan] * 7
    told = tell_apart(np.array([steady, none, missing]))
    assert told.tolist() == [
        [False, True, False],
        [True, False, False],
        [False, False, False],
    ]


def test_correction_is_for_all_pairs_that_could_be_tested() -> None:
    # Six of one sign: p is 2 / 2**6 = 0.03125, enough alone but not as one of two.
    row, none = [1.0] * 6, [1.0, -1.0] * 3
    assert tell_apart(np.array([row])).any()
    assert not tell_apart(np.array([row, none, [math.nan] * 6])).any()


def test_a_cluster_ends_where_all_above_differ_from_all_below() -> None:
    told = np.zeros((4, 4), dtype=bool)
    for one, other in [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]:
        told[one, other] = told[other, one] = True
    assert system_clusters([0, 1, 2, 3], told) == [1, 2, 2, 3]
    assert system_clusters([1, 0, 2, 3], told) == [1, 1, 1, 2]


def test_the_places_a_system_may_have() -> None:
    told = np.zeros((3, 3), dtype=bool)
    told[0, 2] = told[2, 0] = True
    first, last = place_ranges(np.array([1, 2, 3]), told)
    assert (first.tolist(), last.tolist()) == ([1, 1, 2], [2, 3, 3])
