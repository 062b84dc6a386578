from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.meta.raters.rater_lines import RaterLine, rater_lines
from fabula.meta.raters.ratings import ratings_of
from fakes.ratings import NAN, table_of


def lines_of(matrix: np.ndarray) -> dict[str, RaterLine]:
    [ratings] = ratings_of(table_of(matrix))
    return {line.rater: line for line in rater_lines(ratings)}


def test_a_rater_is_held_against_the_mean_of_the_others() -> None:
    matrix = np.array([[1, 2, 4], [2, 2, 3], [5, 3, 5], [4, 4, NAN]])
    line = lines_of(matrix)["a"]
    others = [3, 2.5, 4, 4]
    assert (line.ratings, line.shared, line.mean) == (4, 4, 3)
    assert line.spread == pytest.approx(np.std([1, 2, 5, 4], ddof=1))
    assert line.correlation == pytest.approx(np.corrcoef([1, 2, 5, 4], others)[0, 1])
    assert line.bias == pytest.approx(3 - np.mean(others))
    # Equal to none of two, one of two, one of two and one of one.
    assert line.exact == pytest.approx((0 + 0.5 + 0.5 + 1) / 4)
    assert line.note == "fewer than 20 ratings"


def test_a_rater_alone_says_nothing_of_agreement() -> None:
    line = lines_of(np.array([[1, NAN], [2, NAN], [NAN, 3]]))["a"]
    assert math.isnan(line.correlation) and math.isnan(line.exact)
    assert line.note == "no story that others rated"


def test_careless_raters_are_found() -> None:
    rng = np.random.default_rng(3)
    true = rng.integers(1, 6, 200)
    noisy = np.clip(true + rng.integers(-1, 2, 200), 1, 5)
    chance = rng.integers(1, 6, 200)
    matrix = np.column_stack([true, noisy, chance, np.full(200, 3), 6 - true]).astype(float)
    lines = lines_of(matrix[:, :4])
    assert lines["a"].note == lines["b"].note == ""
    assert lines["c"].note == "follows the others no more than by chance"
    assert lines["d"].note == "gives one value only"
    assert lines_of(matrix[:, [0, 1, 4]])["c"].note == "rates against the others"


def test_followers_of_raters_who_tell_nothing_apart_are_not_blamed() -> None:
    matrix = np.column_stack([np.arange(30) % 5 + 1.0, np.full(30, 3.0)])
    assert lines_of(matrix)["a"].note == "the others do not tell these stories apart"
