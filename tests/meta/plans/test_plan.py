from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.power import TTestPower

from fabula.core.errors import SettingError
from fabula.meta.plans.correlation import (
    correlation_half_width,
    plan_correlation,
    sample_correlations,
)
from fabula.meta.plans.difference import plan_difference
from fabula.meta.plans.plan import Design, Plan, Wish
from fabula.meta.raters.components import Components
from fabula.meta.significance.sign_flips import exact_p, sign_flip_p, sign_flip_ps

DESIGN = Design((10, 40, 120), (1, 3, 5), seed=3)
NOISE = Components.of_icc(0.3)


def test_power_is_that_of_the_paired_t_test_within_the_simulations_error() -> None:
    found = plan_difference(0.4, DESIGN, components=NOISE)
    for cell in found.cells:
        effect = 0.4 / NOISE.difference_sd(cell.raters)
        expected = TTestPower().power(effect, cell.items, 0.05)
        # Four standard errors of 2,000 studies; the tests differ a little, too.
        assert cell.power == pytest.approx(expected, abs=4 * math.sqrt(0.25 / 2000))
        assert cell.low <= cell.power <= cell.high


def test_items_needed_are_those_of_the_paired_t_test() -> None:
    found = plan_difference(0.4, DESIGN, components=NOISE, wish=Wish(power=0.9))
    for need in found.needs[:3]:
        effect = 0.4 / NOISE.difference_sd(need.raters)
        expected = TTestPower().solve_power(effect, power=0.9, alpha=0.05)
        assert need.items == pytest.approx(expected, abs=1)


def test_raters_needed_agree_with_items_needed() -> None:
    for wish in (Wish(0.8), Wish(0.8, half_width=0.3)):
        found = plan_difference(0.4, Design((60, 400), (1, 2, 8)), components=NOISE, wish=wish)
        for need in found.needs:
            if need.raters is None:
                continue
            again = plan_difference(0.4, Design((60,), (need.raters,)), components=NOISE, wish=wish)
            items = next(one.items for one in again.needs if one.wish == need.wish)
            assert items is not None and items <= need.items


def test_no_number_of_raters_makes_up_for_stories_that_differ() -> None:
    wish = Wish(half_width=0.1)
    found = plan_difference(0.4, Design((20,), (1,)), components=NOISE, wish=wish)
    [need] = [one for one in found.needs if one.items == 20 and one.wish == "half-width 0.1"]
    assert need.raters is None


def test_the_half_width_of_a_difference_is_students() -> None:
    [cell] = plan_difference(0.4, Design((50,), (3,)), components=NOISE).cells
    # t(.975, 49) = 2.00958 and the mean of s is 0.99491 of sigma (c4 of 50).
    expected = 2.00958 * 0.99491 * NOISE.difference_sd(3) / math.sqrt(50)
    assert cell.half_width == pytest.approx(expected, rel=0.01)


def test_two_equal_systems_are_told_apart_as_often_as_alpha_says() -> None:
    [cell] = plan_difference(1e-9, Design((30,), (3,), studies=4000), components=NOISE).cells
    assert cell.power == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 4000))


def test_more_systems_make_it_harder() -> None:
    few, many = (
        plan_difference(0.4, Design((60,), (3,), systems=systems), components=NOISE).cells[0]
        for systems in (2, 6)
    )
    # 15 pairs: level 0.0033.
    expected = TTestPower().power(0.4 / NOISE.difference_sd(3), 60, 0.05 / 15)
    assert many.power < few.power and many.power == pytest.approx(expected, abs=0.05)


def test_the_test_is_the_one_that_compares_systems() -> None:
    rng = np.random.default_rng(1)
    few = rng.normal(0.5, 1, (5, 8))
    bits = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(float)
    assert sign_flip_ps(few, bits).tolist() == pytest.approx([exact_p(one) for one in few])
    many = rng.normal(0.3, 1, (4, 40))
    flips = rng.integers(0, 2, (9999, 40)).astype(float)
    expected = [sign_flip_p(one) for one in many]
    assert sign_flip_ps(many, flips).tolist() == pytest.approx(expected, abs=0.02)


def observed(correlation: float, icc: float, raters: int) -> float:
    return correlation * math.sqrt(raters * icc / (1 + (raters - 1) * icc))


def test_the_half_width_of_a_correlation_is_fishers() -> None:
    found = plan_correlation(0.5, DESIGN, icc=0.3)
    for cell in found.cells[3:]:
        r = observed(0.5, 0.3, cell.raters)
        reach = norm.ppf(0.975) / math.sqrt(cell.stories - 3)
        ends = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
        assert cell.half_width == pytest.approx((ends[1] - ends[0]) / 2, rel=0.03)
        assert correlation_half_width(r, cell.stories) == pytest.approx((ends[1] - ends[0]) / 2)


def test_the_power_of_a_correlation_is_fishers() -> None:
    for cell in plan_correlation(0.5, DESIGN, icc=0.3).cells[3:]:
        z = np.arctanh(observed(0.5, 0.3, cell.raters)) * math.sqrt(cell.stories - 3)
        assert cell.power == pytest.approx(norm.cdf(z - norm.ppf(0.975)), abs=0.05)


@pytest.mark.parametrize("others", [{}, {"versus": 0.2, "between": 0.4}])
def test_what_a_wish_takes_reaches_it(others: dict[str, float]) -> None:
    wish = Wish(power=0.7, half_width=0.15)
    found = plan_correlation(0.5, Design((50,), (2, 4)), icc=0.4, wish=wish, **others)
    # By wish: items for two and for four raters, then raters for 50 items.
    power, width = found.needs[0], found.needs[3]
    again = Design((power.items, width.items), (2,), studies=4000)
    reached = plan_correlation(0.5, again, icc=0.4, **others)
    assert reached.cell(power.items, 2).power == pytest.approx(0.7, abs=0.05)
    assert reached.cell(width.items, 2).half_width == pytest.approx(0.15, abs=0.006)


def test_drawn_correlations_are_those_of_normal_values() -> None:
    true = np.array([[1, 0.5, 0.3], [0.5, 1, 0.6], [0.3, 0.6, 1]])
    rng = np.random.default_rng(0)
    drawn = sample_correlations(true, 20, studies=20_000, rng=rng)
    values = rng.multivariate_normal(np.zeros(3), true, (20_000, 20))
    values -= values.mean(axis=1, keepdims=True)
    spread = np.einsum("sni,snj->sij", values, values)
    roots = np.sqrt(np.diagonal(spread, axis1=1, axis2=2))
    made = spread / (roots[:, :, None] * roots[:, None, :])
    np.testing.assert_allclose(drawn.mean(axis=0), made.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(drawn.std(axis=0), made.std(axis=0), atol=0.01)


def test_by_default_two_metrics_share_the_quality_alone() -> None:
    found = plan_correlation(0.5, Design((50,), (3,)), icc=0.3, versus=0.2)
    assert found.assumed["between"] == pytest.approx(0.1)
    assert found.effect == pytest.approx(0.3)


def test_the_seed_decides() -> None:
    def plan(seed: int) -> Plan:
        return plan_difference(0.4, Design((20,), (2,), seed=seed), components=NOISE)

    assert plan(1).cells == plan(1).cells != plan(2).cells


@pytest.mark.parametrize(
    "wrong",
    [
        {"items": (1,)}, {"items": ()}, {"raters": (0,)}, {"systems": 0},
        {"alpha": 1.0}, {"studies": 5}, {"seed": -1},
    ],
)  # fmt: skip
def test_designs_that_will_not_do_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        Design(**({"items": (10,), "raters": (2,)} | wrong))


@pytest.mark.parametrize("wrong", [{"power": 1.0}, {"half_width": 0.0}])
def test_wishes_that_will_not_do_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingError):
        Wish(**wrong)


@pytest.mark.parametrize(
    ("correlation", "others", "problem"),
    [
        (1.0, {}, "correlation=1.0"),
        (0.0, {}, "no effect"),
        (0.3, {"versus": 0.3}, "no effect"),
        (0.3, {"versus": 2}, "versus=2"),
        (0.9, {"versus": -0.9, "between": 0.9, "icc": 1.0}, "between=0.9 cannot be"),
        (0.3, {"icc": -0.1}, "icc=-0.1 will not do"),
    ],
)
def test_correlations_that_cannot_be_are_refused(
    correlation: float, others: dict[str, float], problem: str
) -> None:
    with pytest.raises(SettingError, match=problem):
        plan_correlation(correlation, Design((10,), (2,)), **({"icc": 0.3} | others))


def test_a_difference_of_nothing_and_one_system_are_refused() -> None:
    with pytest.raises(SettingError, match="effect=0"):
        plan_difference(0.0, DESIGN, components=NOISE)
    with pytest.raises(SettingError, match="takes two systems"):
        plan_difference(0.3, Design((10,), (2,), systems=1), components=NOISE)
