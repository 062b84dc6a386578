from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from fabula.core.dataset import Dataset, Preference
from fabula.core.errors import InputError, UnknownName
from fabula.core.table import ScoreTable
from fabula.meta.ranking.systems import Resampling, SystemRule, rank_systems
from fakes.grids import make_dataset

RNG = np.random.default_rng(5)
NOISE = RNG.normal(size=(20, 1)) + 0.8 * RNG.normal(size=(20, 4))
PLOT = 5 + NOISE + np.array([0.0, 0.1, 2.0, 4.0])
FEW = Resampling(resamples=100)


def toy() -> Dataset:
    return make_dataset({}, {"plot": PLOT, "style": -PLOT})


@pytest.mark.parametrize("by", ["mean", "win_rate", "elo"])
def test_the_best_rated_stands_first_by_every_rule(by: str) -> None:
    found = rank_systems(toy(), by=by, aspects=("plot",), how=FEW)
    assert [line.system for line in found.lines][:2] == ["d", "c"]
    assert [line.cluster for line in found.lines] == [1, 2, 3, 3]
    assert [(line.first, line.last) for line in found.lines] == [(1, 1), (2, 2), (3, 4), (3, 4)]
    assert all(
        line.estimate.low <= line.estimate.value <= line.estimate.high for line in found.lines
    )


def test_several_aspects_are_averaged() -> None:
    found = rank_systems(toy(), how=FEW)
    assert found.aspect == "average"
    assert [line.estimate.value for line in found.lines] == pytest.approx([0] * 4, abs=1e-12)
    assert {line.cluster for line in found.lines} == {1}


def test_means_are_over_items_or_over_ratings() -> None:
    dataset = make_dataset({}, {"plot": PLOT}, raters=3)
    assert rank_systems(dataset, how=FEW).lines[0].estimate.n == 20
    assert rank_systems(dataset, over="ratings", how=FEW).lines[0].estimate.n == 60


def test_preferences_rank_where_there_are_no_ratings() -> None:
    told = [Preference(f"{i}-b", f"{i}-a") for i in range(9)] + [Preference("9-a", "9-b")]
    dataset = replace(toy(), ratings=ScoreTable(), preferences=tuple(told))
    found = rank_systems(dataset, by="bradley_terry", how=FEW)
    assert (found.source, found.items) == ("preferences", 10)
    assert [line.system for line in found.lines] == ["b", "a"]
    # Nine wins of ten: log odds log 9, half of it either side of 0.
    assert found.lines[0].estimate.value == pytest.approx(np.log(9) / 2, abs=1e-8)
    with pytest.raises(InputError, match="toy has no ratings; rank by win_rate"):
        rank_systems(dataset, by="mean")


def test_who_always_wins_has_no_bradley_terry_strength() -> None:
    dataset = make_dataset({}, {"plot": np.tile([1.0, 2.0, 3.0], (5, 1))})
    with pytest.raises(InputError, match="do not exist: some systems never win"):
        rank_systems(dataset, by="bradley_terry")


def test_systems_that_share_no_item_are_not_compared() -> None:
    table = np.array([[1.0, np.nan], [np.nan, 2.0]])
    dataset = make_dataset({}, {"plot": table})
    with pytest.raises(InputError, match="no two systems have a story for the same item"):
        rank_systems(dataset, by="win_rate")


def test_an_unknown_aspect_is_for_the_user_to_mend() -> None:
    with pytest.raises(UnknownName, match="did you mean 'plot'"):
        rank_systems(toy(), aspects=("plott",))


@pytest.mark.parametrize("by", get_args(SystemRule))
def test_the_same_seed_gives_the_same(by: str) -> None:
    data = make_dataset({}, {"plot": np.round(NOISE)})
    one, again = (rank_systems(data, by=by, how=FEW) for _ in range(2))
    assert one == again
