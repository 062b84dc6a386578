from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from fabula.metrics._sinkhorn import TOLERANCE, entropic
from fabula.metrics.baryscore import STRENGTHS

ot = pytest.importorskip("ot")
pytest.importorskip("scipy")


def costs_of(rows, columns, *, seed=0, width=6):
    """Squared distances between points on a sphere, as states of tokens are."""
    rng = np.random.default_rng(seed)
    left, right = (rng.normal(size=(size, width)) for size in (rows, columns))
    return ot.dist(*(one / np.linalg.norm(one, axis=1, keepdims=True) for one in (left, right)))


def with_pot(costs, r):
    """Plan of POT's log-domain Sinkhorn, to 1e-11."""
    uniform = [np.full(size, 1 / size) for size in costs.shape]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ot.sinkhorn(
            *uniform, costs, r, method="sinkhorn_log", numItermax=20_000, stopThr=1e-11
        )


# Where the sizes are equal and the entropy is weak, POT's sweeps do not converge in any time.
@pytest.mark.parametrize("shape", [(7, 5), (6, 6), (4, 9), (12, 11), (1, 4), (3, 1)])
def test_it_equals_pot_at_every_strength(shape):
    costs = costs_of(*shape, seed=shape[0])
    strengths = STRENGTHS[:5] if shape[0] == shape[1] else STRENGTHS
    for one in entropic(costs, strengths):
        plan = with_pot(costs, one.r)
        assert one.error <= TOLERANCE
        assert one.cost == pytest.approx(float((plan * costs).sum()), abs=1e-8)
        size = plan.size
        entropy = float((plan * np.log(np.maximum(plan * size, 1e-300))).sum())
        assert one.value == pytest.approx(one.cost + one.r * entropy, abs=1e-8)


def test_two_points_by_hand():
    # Costs 0 and 1 and equal weights: half of the mass p stays with p / (½ − p) = exp(1 / r).
    costs = np.array([[0.0, 1.0], [1.0, 0.0]])
    for one in entropic(costs, STRENGTHS):
        crossing = 1 / (1 + math.exp(min(1 / one.r, 700)))
        assert one.cost == pytest.approx(crossing, abs=1e-9)


@pytest.mark.parametrize("shape", [(60, 60), (60, 59), (60, 58), (90, 45), (40, 70)])
def test_it_converges_where_plain_sweeps_do_not(shape):
    found = entropic(costs_of(*shape, width=20), STRENGTHS)
    uniform = [np.full(size, 1 / size) for size in shape]
    exact = float(ot.emd2(*uniform, costs_of(*shape, width=20)))
    assert all(one.error <= TOLERANCE for one in found)
    # Less entropy costs less, and never less than the exact plan.
    costs = [one.cost for one in found]
    assert costs == sorted(costs, reverse=True)
    assert exact - 1e-9 <= costs[-1] <= exact + 0.001 * math.log(max(shape))


def test_where_pot_underflows_this_does_not():
    costs = costs_of(30, 25, width=20) + 0.8
    uniform = [np.full(size, 1 / size) for size in costs.shape]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collapsed = float(ot.sinkhorn2(*uniform, costs, 0.001, numItermax=10_000))
    assert collapsed < 1e-6
    assert entropic(costs, STRENGTHS)[-1].cost > 0.8


@pytest.mark.parametrize("costs", [np.zeros((4, 3)), np.full((3, 3), 2.0)])
def test_points_that_are_all_alike_cost_the_same_at_every_strength(costs):
    assert [one.cost for one in entropic(costs, STRENGTHS)] == pytest.approx([costs[0, 0]] * 7)


def test_points_that_come_many_times_converge_too():
    rng = np.random.default_rng(5)
    few = rng.normal(size=(3, 4))
    left, right = few[rng.integers(0, 3, 40)], few[rng.integers(0, 3, 37)]
    found = entropic(ot.dist(left, right), STRENGTHS)
    assert all(one.error <= TOLERANCE and math.isfinite(one.cost) for one in found)


def test_beside_itself_a_cloud_costs_less_and_less():
    rng = np.random.default_rng(6)
    points = rng.normal(size=(50, 12))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    found = entropic(ot.dist(points, points), STRENGTHS)
    assert found[-1].cost < 1e-9
    assert found[0].cost == pytest.approx(ot.dist(points, points).mean(), rel=0.2)


def test_the_order_of_the_points_does_not_matter():
    costs = costs_of(21, 14)
    turned = costs[::-1, ::-1]
    for one, other in zip(entropic(costs, STRENGTHS), entropic(turned, STRENGTHS), strict=True):
        assert one.cost == pytest.approx(other.cost, abs=1e-8)


def test_whichever_side_is_solved_for_the_cost_is_the_same():
    costs = costs_of(21, 14, seed=3)
    for one, other in zip(entropic(costs, STRENGTHS), entropic(costs.T, STRENGTHS), strict=True):
        assert one.cost == pytest.approx(other.cost, abs=1e-8)
