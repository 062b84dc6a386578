"""Measures of two distributions; of EVEN and SKEW all can be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.metrics.infolm import distance, impossible

EVEN, SKEW = np.array([1 / 2, 1 / 2]), np.array([1 / 4, 3 / 4])
SURE, OTHER = np.array([1.0, 0.0]), np.array([0.0, 1.0])
MEASURES = ("fisher_rao", "kl", "alpha", "renyi", "beta", "ab", "l1", "l2", "l_infinity")

# Σ√(pq) = (1 + √3) / √8, which is the cosine of π/12.
COSINE = math.cos(math.pi / 12)
BY_HAND = [
    ("fisher_rao", {}, math.pi / 6),
    ("kl", {}, math.log(4 / 3) / 2),
    # (1 − Σ√(pq)) / ¼, and (Σ p²/q − 1) / 2 with Σ p²/q = 1 + 1/3.
    ("alpha", {"alpha": 0.5}, 4 * (1 - COSINE)),
    ("alpha", {"alpha": 2.0}, 1 / 6),
    ("renyi", {"alpha": 0.5}, -2 * math.log(COSINE)),
    ("renyi", {"alpha": 2.0}, math.log(4 / 3)),
    # log ½ / 2 + log ⅝ / 2 − log ½: Σp² = ½, Σq² = ⅝, Σpq = ½.
    ("beta", {"beta": 1.0}, math.log(5 / 4) / 2),
    ("ab", {"alpha": 1.0, "beta": 1.0}, math.log(5 / 4) / 2),
    # log ¼ / 3 + log 7/16 / 6 − log ¼ / 2: Σp³ = ¼, Σq³ = 28/64, Σp²q = ¼.
    ("ab", {"alpha": 2.0, "beta": 1.0}, math.log(7 / 4) / 6),
    ("l1", {}, 1 / 2),
    ("l2", {}, math.sqrt(1 / 8)),
    ("l_infinity", {}, 1 / 4),
]


@pytest.mark.parametrize(("measure", "settings", "value"), BY_HAND)
def test_a_measure_is_what_it_is_by_hand(measure, settings, value):
    assert distance(measure, EVEN, SKEW, **settings) == pytest.approx(value, rel=1e-12)


def drawn(seed):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(50, 0.3)), rng.dirichlet(np.full(50, 0.3))


def as_written(measure, p, q, a, b):
    """The formulas of the original (and of torchmetrics 1.9) as they stand, in plain powers.

    Both give kl and alpha with the other sign.
    """
    log, total = np.log, np.sum
    return {
        "fisher_rao": lambda: 2 * np.arccos(np.clip(total(np.sqrt(p) * np.sqrt(q)), 0, 1)),
        "kl": lambda: -total(p * log(q / p)),
        "alpha": lambda: -(1 - total(p**a * q ** (1 - a))) / (a * (a - 1)),
        "renyi": lambda: log(total(p**a * q ** (1 - a))) / (a - 1),
        "beta": lambda: (
            log(total(p ** (b + 1))) / (b * (b + 1))
            + log(total(q ** (b + 1))) / (b + 1)
            - log(total(p * q**b)) / b
        ),
        "ab": lambda: (
            log(total(p ** (b + a))) / (b * (b + a))
            + log(total(q ** (b + a))) / (a * (b + a))
            - log(total(p**a * q**b)) / (a * b)
        ),
        "l1": lambda: total(abs(p - q)),
        "l2": lambda: total((p - q) ** 2) ** 0.5,
        "l_infinity": lambda: max(abs(p - q)),
    }[measure]()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(("alpha", "beta"), [(0.25, 0.25), (0.7, 1.5), (2.0, 0.5), (0.5, -0.2)])
def test_a_measure_is_the_original_s_formula(measure, alpha, beta):
    for seed in range(5):
        p, q = drawn(seed)
        found = distance(measure, p, q, alpha=alpha, beta=beta)
        assert found == pytest.approx(as_written(measure, p, q, alpha, beta), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_equal_distributions_have_0_and_no_others_have_less(measure):
    for seed in range(5):
        p, q = drawn(seed)
        assert distance(measure, p, p) == pytest.approx(0, abs=1e-12)
        assert distance(measure, p, q) > 0


@pytest.mark.parametrize("measure", ["fisher_rao", "l1", "l2", "l_infinity"])
def test_distances_are_the_same_both_ways(measure):
    p, q = drawn(1)
    assert distance(measure, p, q) == distance(measure, q, p)


def test_where_one_side_is_0_nothing_is_added_or_all_is_infinite():
    assert distance("kl", SURE, EVEN) == pytest.approx(math.log(2))
    assert distance("kl", EVEN, SURE) == math.inf
    assert distance("fisher_rao", SURE, OTHER) == pytest.approx(math.pi)
    # Σ p^α q^(1−α) = 0.
    assert distance("alpha", SURE, OTHER, alpha=0.5) == pytest.approx(4)
    assert distance("renyi", SURE, OTHER, alpha=0.5) == math.inf
    assert distance("ab", SURE, OTHER) == math.inf
    padded = [np.array([*side, 0.0]) for side in (EVEN, SKEW)]
    for measure, settings, value in BY_HAND:
        assert distance(measure, *padded, **settings) == pytest.approx(value, rel=1e-12)


def test_probabilities_too_small_for_32_bits_count():
    # log(1 / 1e-60), and next to nothing from the other one.
    found = distance("kl", np.array([1e-60, 1.0]), np.array([1.0, 1e-60]))
    assert found == pytest.approx(60 * math.log(10))


@pytest.mark.parametrize(
    ("measure", "alpha", "beta"),
    [
        ("alpha", 0.0, 0.25), ("alpha", 1.0, 0.25), ("renyi", 1.0, 0.25), ("renyi", -1.0, 0.25),
        ("beta", 0.25, 0.0), ("beta", 0.25, -1.0), ("ab", 0.0, 0.25), ("ab", 0.25, 0.0),
        ("ab", 0.25, -0.25),
    ],
)  # fmt: skip
def test_what_divides_by_zero_is_known(measure, alpha, beta):
    assert impossible(measure, alpha, beta)


@pytest.mark.parametrize("measure", ["fisher_rao", "kl", "l1", "l2", "l_infinity"])
def test_measures_without_settings_take_any(measure):
    assert not impossible(measure, 0.0, 0.0)
