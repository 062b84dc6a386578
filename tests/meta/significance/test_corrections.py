from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.meta.significance.sign_flips import CORRECTIONS, benjamini_hochberg, holm

# Benjamini and Hochberg (1995), section 3.2: fifteen endpoints of a trial of thrombolysis.
TRIAL = np.array(
    [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459,
        0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0,
    ]
)  # fmt: skip


def test_holm_s_steps_by_hand() -> None:
    # 0.005 × 4, 0.01 × 3, 0.03 × 2, and 0.04 × 1 which may not fall below the one before.
    adjusted = holm(np.array([0.01, 0.04, 0.03, 0.005]))
    assert adjusted == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_the_trial_has_the_four_findings_that_its_paper_tells() -> None:
    assert (benjamini_hochberg(TRIAL) <= 0.05).tolist() == [True] * 4 + [False] * 11


def test_the_trial_has_three_findings_by_the_stricter_rule() -> None:
    # The paper says so of Bonferroni's; Holm's next step is 0.0095 > 0.05 / 12.
    assert (holm(TRIAL) <= 0.05).tolist() == [True] * 3 + [False] * 12


def test_benjamini_and_hochberg_s_steps_by_hand() -> None:
    # p × 15 / rank, and never more than that of a larger p: the sixth takes the seventh's.
    expected = [0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.447 / 7, 0.447 / 7, 0.0645, 0.0765]
    assert benjamini_hochberg(TRIAL)[:9] == pytest.approx(expected)


def test_scipy_agrees() -> None:
    stats = pytest.importorskip("scipy.stats")
    p = np.random.default_rng(4).uniform(size=50) ** 3
    expected = stats.false_discovery_control(p, method="bh")
    assert benjamini_hochberg(p) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", CORRECTIONS)
def test_what_is_missing_is_no_comparison(name: str) -> None:
    adjusted = CORRECTIONS[name](np.array([0.02, math.nan, 0.5]))
    assert adjusted[0] == pytest.approx(0.04)
    assert math.isnan(adjusted[1])


@pytest.mark.parametrize("name", CORRECTIONS)
def test_adjusting_never_lowers_keeps_the_order_and_stays_within_1(name: str) -> None:
    p = np.random.default_rng(5).uniform(size=40)
    adjusted = CORRECTIONS[name](p)
    assert np.all(adjusted >= p) and np.all(adjusted <= 1)
    assert np.all(np.diff(adjusted[np.argsort(p)]) >= 0)


@pytest.mark.parametrize("name", CORRECTIONS)
def test_one_comparison_needs_no_correction_and_none_gives_none(name: str) -> None:
    assert CORRECTIONS[name](np.array([0.03])).tolist() == [0.03]
    assert CORRECTIONS[name](np.array([])).tolist() == []
