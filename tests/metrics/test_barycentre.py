from __future__ import annotations

import numpy as np
import pytest

from fabula.metrics import baryscore
from fabula.metrics._vectors import squared_distances
from fabula.metrics.baryscore import barycentre

ot = pytest.importorskip("ot")
pytest.importorskip("scipy")


def unit(points):
    return points / np.linalg.norm(points, axis=-1, keepdims=True)


def layers(seed, *, noise, tokens=25, width=8, count=5):
    """Clouds as an encoder's layers are: each token at about the same place in all of them."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(tokens, width))
    return unit(places + noise * rng.normal(size=(count, tokens, width)))


def by_pot(clouds, start, weights=None):
    size = clouds.shape[1]
    each = np.full(size, 1 / size) if weights is None else weights / weights.sum()
    return ot.lp.free_support_barycenter(list(clouds), [each] * len(clouds), start, numItermax=1000)


def apart(left, right):
    """How far two uniform clouds are from being the same points in another order."""
    size = len(left)
    return float(ot.emd2(np.full(size, 1 / size), np.full(size, 1 / size), ot.dist(left, right)))


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_cloud_that_pot_finds_from_zeros(seed, noise):
    clouds = layers(seed, noise=noise)
    assert apart(barycentre(clouds), by_pot(clouds, np.zeros(clouds.shape[1:]))) < 1e-12


def test_from_zeros_pot_s_first_round_gives_the_means_in_another_order():
    clouds = layers(0, noise=0.5)
    size = clouds.shape[1]
    each = [np.full(size, 1 / size)] * len(clouds)
    first = ot.lp.free_support_barycenter(
        list(clouds), each, np.zeros(clouds.shape[1:]), numItermax=1
    )
    assert apart(first, clouds.mean(axis=0)) < 1e-12


@pytest.mark.parametrize("noise", [0.1, 5.0])
def test_points_of_other_weights_give_what_pot_gives_from_the_means(noise):
    clouds = layers(7, noise=noise, tokens=12)
    weights = np.random.default_rng(1).random(12)
    weights[3] = 0.0
    expected = by_pot(clouds, clouds.mean(axis=0), weights)
    assert barycentre(clouds, weights) == pytest.approx(expected, abs=1e-9)


def test_equal_weights_are_no_weights():
    clouds = layers(8, noise=1.0, tokens=15)
    assert apart(barycentre(clouds, np.full(15, 2.0)), barycentre(clouds)) < 1e-12


def test_a_cloud_alone_and_a_point_alone_stay_as_they_are():
    clouds = layers(9, noise=0.3)
    assert barycentre(clouds[:1]) == pytest.approx(clouds[0])
    assert barycentre(clouds[:, :1]) == pytest.approx(clouds[:, :1].mean(axis=0))


def test_points_that_come_twice_do_no_harm():
    clouds = layers(10, noise=0.3)[:, [0, 0, 1, 2, 2, 2]]
    assert apart(barycentre(clouds), by_pot(clouds, clouds.mean(axis=0))) < 1e-12


def test_the_proof_is_never_given_where_another_pairing_is_cheaper():
    rng = np.random.default_rng(2)
    proved = 0
    for _ in range(300):
        noise = rng.uniform(0, 1.5)
        clouds = layers(int(rng.integers(10**6)), noise=noise, tokens=8, width=3, count=2)
        centre = clouds.mean(axis=0)
        costs = squared_distances(centre, clouds[0])
        cheapest = costs[np.arange(8), baryscore._assigned(centre, clouds[0])].sum()
        if baryscore._stays(centre, clouds[0]):
            proved += 1
            assert np.trace(costs) == pytest.approx(cheapest, abs=1e-12)
    assert 50 < proved < 250


def test_distances_are_those_of_pot():
    left, right = layers(3, noise=1.0)[:2]
    assert squared_distances(left, right) == pytest.approx(ot.dist(left, right), abs=1e-14)
