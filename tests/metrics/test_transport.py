from __future__ import annotations

import sys

import numpy as np
import pytest

from fabula.core.errors import PackageMissing
from fabula.metrics import _transport
from fabula.metrics._transport import certified_cost, exact_cost, exact_plan, exact_transport

ot = pytest.importorskip("ot")


def clouds(seed, *sizes, width=3):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(size, width)) for size in sizes]


def test_the_cheapest_way_by_hand():
    # Half of the mass stays, the other half goes 3 far.
    assert exact_cost(np.array([1.0, 1.0]), np.array([2.0]), np.array([[0.0], [3.0]])) == 1.5
    plan = exact_plan(np.array([0.5, 0.5]), np.array([0.25, 0.75]), np.array([[0.0, 2], [2, 0]]))
    assert plan == pytest.approx(np.array([[0.25, 0.25], [0.0, 0.5]]))


@pytest.mark.parametrize("seed", range(5))
def test_it_equals_pot_and_its_duals_prove_it(seed):
    left, right = clouds(seed, 9, 7)
    rng = np.random.default_rng(seed)
    a, b = rng.random(9), rng.random(7)
    costs = ot.dist(left, right)
    found = exact_transport(a, b, costs)
    expected = float(ot.emd2(a / a.sum(), b / b.sum(), costs))
    assert found.cost == pytest.approx(expected, rel=1e-12)
    assert float((found.plan * costs).sum()) == pytest.approx(expected, rel=1e-12)
    assert (costs - found.left[:, None] - found.right).min() > -1e-12
    dual = float(found.left @ a / a.sum() + found.right @ b / b.sum())
    assert dual == pytest.approx(expected, rel=1e-12)


def test_points_without_weight_count_for_nothing():
    left, right = clouds(1, 6, 5)
    costs = ot.dist(left, right)
    a, b = np.array([1.0, 0, 2, 0, 1, 1]), np.array([0.0, 1, 1, 0, 3])
    kept = costs[np.ix_(np.flatnonzero(a), np.flatnonzero(b))]
    assert exact_cost(a, b, costs) == exact_cost(a[a > 0], b[b > 0], kept)


def test_costs_may_be_of_32_bits():
    left, right = clouds(2, 8, 8)
    costs = ot.dist(left, right).astype(np.float32)
    ones = np.ones(8, dtype=np.float32)
    assert exact_cost(ones, ones, costs) == exact_cost(ones, ones, costs.astype(np.float64))


def test_nothing_cannot_be_carried():
    with pytest.raises(ValueError, match="nothing to carry"):
        exact_cost(np.zeros(2), np.ones(2), np.ones((2, 2)))


@pytest.mark.parametrize("width", [1e-6, 0.1, 100.0])
@pytest.mark.parametrize("sizes", [(20, 20), (20, 13), (13, 20)])
def test_the_certified_cost_is_the_exact_one_however_good_the_potentials(sizes, width):
    left, right = clouds(3, *sizes)
    costs = ot.dist(left, right)
    uniform = [np.full(size, 1 / size) for size in sizes]
    expected = float(ot.emd2(*uniform, costs))
    good = ot.emd(*uniform, costs, log=True)[1]["v"]
    for potentials in (good, np.zeros(sizes[1]), np.linspace(-3, 3, sizes[1])):
        assert certified_cost(costs, potentials, width=width) == pytest.approx(expected, rel=1e-10)


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot.lp", None)
    with pytest.raises(PackageMissing, match=r"POT is not installed; run: pip install -e"):
        exact_cost(np.ones(1), np.ones(1), np.ones((1, 1)))


def test_a_problem_without_an_end_is_an_error(monkeypatch):
    monkeypatch.setattr(_transport, "_MOST_PIVOTS", 1)
    left, right = clouds(4, 30, 30)
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="came to no end"):
        exact_cost(np.ones(30), np.ones(30), ot.dist(left, right))
