from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.metrics import _depth
from fabula.metrics._depth import add_ranks_plainly, depths, directions, distance, supports
from fakes.direct_depth import direct_depths, direct_distance

LINE = np.array([[1.0], [-1.0]], np.float32)
AXES = np.eye(2, dtype=np.float32)
# Five points; from left to right C E A D B, from below D C A B E.
CROSS = np.array([[0, 0], [2, 1], [-2, -1], [1, -2], [-1, 2]], np.float32)


def on_line(*places):
    return np.array(places, np.float32)[:, None]


def make_cloud(count, width=12, seed=0):
    points = np.random.default_rng(seed).standard_normal((count, width)) + 0.5
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def test_depths_on_a_line_by_hand():
    # Ranks 1 2 3 one way and 3 2 1 the other; min(r/3, 1 − r/3) is 1/3, 1/3 and 0.
    assert depths(on_line(0, 1, 3), LINE) == pytest.approx([1 / 6, 1 / 3, 1 / 6])


def test_depths_in_the_plane_by_hand():
    # min(r, 5 − r) is 1 2 2 1 0 for ranks 1 to 5: across C1 E2 A2 D1 B0, upwards D1 C2 A2 B1 E0.
    assert depths(CROSS, AXES) == pytest.approx([0.4, 0.1, 0.3, 0.2, 0.2])


def test_supports_of_the_trimmed_parts_by_hand():
    # Depths × 6 are 1 2 1, their percentiles 1, 1, 1.3, 1.65 and 2: all points twice, then one.
    assert supports(on_line(0, 1, 3), LINE).tolist() == [
        [3, 0], [3, 0], [1, -1], [1, -1], [1, -1]
    ]  # fmt: skip
    # Depths × 10 are 4 1 3 2 2, and their percentiles 2, 2, 2.6, 3.3 and 4: ACDE twice, AC, A, A.
    assert supports(CROSS, AXES).tolist() == [[1, 2], [1, 2], [0, 0], [0, 0], [0, 0]]


def test_the_distance_by_hand_with_and_without_signs():
    near, far = supports(on_line(0, 1, 2), LINE), supports(on_line(0, 1, 3), LINE)
    # The gap is 1 at two percentiles and 0 at three: (2/5)^(1/5).
    assert distance(near, far) == distance(far, near) == pytest.approx(0.4**0.2)
    assert distance(far, near, signed=True) == pytest.approx(0.4**0.2)
    assert distance(near, far, signed=True) == 0.0


def test_a_signed_mean_below_zero_is_no_distance():
    low, high = (supports(on_line(place), LINE[:1]) for place in (0, 1))
    assert distance(high, low, signed=True) == distance(low, high) == 1.0
    assert math.isnan(distance(low, high, signed=True))


@pytest.mark.parametrize("counts", [(1, 1), (2, 3), (17, 40), (150, 90)])
@pytest.mark.parametrize("signed", [False, True])
def test_the_definition_gives_the_same_values(counts, signed):
    left, right = (make_cloud(count, seed=count) for count in counts)
    along = directions(400, 12, 0)
    wide = along.astype(np.float64)
    narrow = [points.astype(np.float32) for points in (left, right)]
    for points, exact in zip(narrow, (left, right), strict=True):
        assert depths(points, along) == pytest.approx(direct_depths(exact, wide), abs=1e-5)
    found = distance(*(supports(points, along) for points in narrow), signed=signed)
    assert found == pytest.approx(direct_distance(left, right, wide, signed=signed), abs=1e-6)


CLOUDS = {
    "one point": make_cloud(1),
    "many points": make_cloud(300),
    "the same point again and again": np.repeat(make_cloud(3), 40, axis=0),
    "a heap and one far away": np.vstack([make_cloud(200) * 1e-6, make_cloud(1)]),
    "nothing but zeros": np.zeros((5, 12)),
}


@pytest.mark.parametrize("kind", CLOUDS)
def test_ranks_are_the_same_with_and_without_numba(kind, monkeypatch):
    compiled = pytest.importorskip("fabula.metrics._compiled_ranks")
    places = directions(90, 12, 1) @ CLOUDS[kind].astype(np.float32).T
    fast, plain = (np.zeros(places.shape[1], np.int64) for _ in range(2))
    compiled.add_ranks(places, fast)
    monkeypatch.setattr(_depth, "_BLOCK", 1000)
    add_ranks_plainly(places, plain)
    stable = places.argsort(axis=1, kind="stable").argsort(axis=1) + 1
    by_hand = np.minimum(stable, places.shape[1] - stable).sum(axis=0)
    assert fast.tolist() == plain.tolist() == by_hand.tolist()


def test_the_number_of_threads_changes_nothing(monkeypatch):
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(_depth, "thread_limit", lambda threads=threads: threads)
        found.append(supports(make_cloud(50).astype(np.float32), directions(33, 12, 0)).tolist())
    assert found[0] == found[1] == found[2]


def test_directions_are_of_length_one_and_the_same_for_a_seed():
    found = directions(500, 8, 3)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(500), abs=1e-6)
    # Nothing is preferred: the mean of 500 is about as long as 1/√500.
    assert np.linalg.norm(found.mean(axis=0)) < 3 / math.sqrt(500)
    raw = np.random.default_rng(3).standard_normal((500, 8))
    assert found[7] == pytest.approx(raw[7] / np.linalg.norm(raw[7]), abs=1e-6)
    assert not np.array_equal(found, directions(500, 8, 4))
