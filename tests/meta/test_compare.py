from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.score import Score
from fabula.core.table import ScoreTable
from fabula.meta.compare import Procedure, compare

Versus = Callable[..., ScoreTable]
UP = {"toy": "higher"}
RNG = np.random.default_rng(0)
BETTER = (RNG.normal(1, 1, 30) + 2).tolist()
WORSE = RNG.normal(1, 1, 30).tolist()


def test_what_is_plainly_better_is_said_to_be(versus: Versus) -> None:
    [line] = compare(versus(BETTER, WORSE), "a", "b", directions=UP).lines
    assert (line.favours, line.verdict) == ("A", "a is better")
    assert line.difference.value == pytest.approx(np.mean(BETTER) - np.mean(WORSE))
    assert line.difference.low < line.difference.value < line.difference.high
    assert line.adjusted_p == line.p == 1 / 10_001
    assert (line.items, line.left_out) == (30, 0)


def test_lower_is_better_where_the_metric_says_so(versus: Versus) -> None:
    table = versus(BETTER, WORSE)
    [up] = compare(table, "a", "b", directions=UP).lines
    [down] = compare(table, "a", "b", directions={"toy": "lower"}).lines
    assert (down.favours, down.verdict) == ("B", "b is better")
    assert (down.mean_a, down.mean_b) == (up.mean_a, up.mean_b)
    assert down.difference.value == -up.difference.value and down.p == up.p
    assert down.wins.value == pytest.approx(1 - up.wins.value)


def test_a_descriptive_metric_is_higher_and_never_better(versus: Versus) -> None:
    [line] = compare(versus(WORSE, BETTER), "a", "b", directions={"toy": "descriptive"}).lines
    assert (line.favours, line.verdict) == ("B", "b is higher")


def test_a_system_does_not_differ_from_itself(versus: Versus) -> None:
    [line] = compare(versus(BETTER, WORSE), "a", "a", directions=UP).lines
    assert (line.p, line.difference.value, line.difference.interval) == (1.0, 0.0, (0.0, 0.0))
    assert line.wins.value == 0.5 and math.isnan(line.effect)
    assert (line.favours, line.verdict) == ("", "no difference found")


@pytest.mark.parametrize("items", [9, 30])
def test_the_other_way_round_negates(versus: Versus, items: int) -> None:
    table = versus(BETTER[:items], WORSE[:items])
    [one] = compare(table, "a", "b", directions=UP).lines
    [other] = compare(table, "b", "a", directions=UP).lines
    assert other.difference.value == -one.difference.value
    assert other.difference.interval == pytest.approx((-one.difference.high, -one.difference.low))
    assert (other.p, other.effect, other.rank_biserial) == (one.p, -one.effect, -one.rank_biserial)
    assert (one.favours, other.favours) == ("A", "B")
    assert one.verdict == other.verdict == "a is better"


def test_p_is_corrected_for_all_scorers_together(versus: Versus) -> None:
    table = versus(BETTER[:8], WORSE[:8])
    more = [Score(story.id, "other", value=float(len(story.id))) for story in table.stories]
    found = compare(ScoreTable(table.stories, [*table, *more]), "a", "b", directions=UP)
    toy, other = found.lines
    assert found.tests == 2
    assert toy.adjusted_p == 2 * toy.p and other.adjusted_p == 1.0
    [alone] = compare(table, "a", "b", directions=UP).lines
    assert alone.p == toy.p and alone.difference == toy.difference


def test_missing_values_are_left_out_and_counted(versus: Versus) -> None:
    table = versus([*BETTER, math.nan, 1.0], [*WORSE, 1.0, math.nan])
    [line] = compare(table, "a", "b", directions=UP).lines
    [whole] = compare(versus(BETTER, WORSE), "a", "b", directions=UP).lines
    assert line.left_out == 2
    assert asdict(line) | {"left_out": 0} == asdict(whole)


def test_a_scorer_without_values_says_so_and_is_not_corrected_for(versus: Versus) -> None:
    table = versus(BETTER[:8], WORSE[:8])
    more = [Score(story.id, "other") for story in table.stories]
    found = compare(ScoreTable(table.stories, [*table, *more]), "a", "b", directions=UP)
    toy, other = found.lines
    assert found.tests == 1 and toy.adjusted_p == toy.p
    assert (other.items, other.left_out) == (0, 8)
    assert other.verdict == "too few items have values of both"
    assert found.rows()[1]["p"] is None


def test_too_few_items_to_find_anything_are_known(versus: Versus) -> None:
    assert compare(versus([5, 6, 7, 8, 9], [1, 2, 3, 4, 5]), "a", "b", directions=UP).blind
    assert not compare(versus([*range(6, 12)], [*range(6)]), "a", "b", directions=UP).blind


def test_systems_that_share_too_few_items_are_not_compared(versus: Versus) -> None:
    with pytest.raises(InputError, match="share 1 item"):
        compare(versus([1.0, 2.0], [1.0]), "a", "b", directions=UP)


@pytest.mark.parametrize(
    "wrong", [{"resamples": 0}, {"seed": -1}, {"alpha": 0.0}, {"alpha": 1.0}, {"correction": "bf"}]
)
def test_a_procedure_that_cannot_be_done_is_for_the_user_to_mend(wrong: dict) -> None:
    with pytest.raises(SettingError):
        Procedure(**wrong)


def test_rows_are_flat_and_plain(versus: Versus) -> None:
    [row] = compare(versus(BETTER, WORSE), "a", "b", directions=UP).rows()
    assert row["low"] < row["difference"] < row["high"]
    assert row["win_low"] < row["win_rate"] <= row["win_high"]
    assert all(isinstance(value, str | int | float) for value in row.values())


def test_progress_is_told_of_every_scorer(versus: Versus) -> None:
    told: list[object] = []

    class Told:
        def start(self, total: int) -> None:
            told.append(total)

        def advance(self, steps: int) -> None:
            told.append(steps)

        def finish(self) -> None:
            told.append("end")

    compare(versus(BETTER, WORSE), "a", "b", directions=UP, progress=Told())
    assert told == [1, 1, "end"]


@pytest.mark.parametrize("unit", [2.0**1000, 2.0**-1000, 2.0**400])
def test_very_large_and_very_small_values_are_compared_as_others_are(versus: Versus, unit) -> None:
    [usual] = compare(versus(BETTER, WORSE), "a", "b", directions=UP).lines
    scaled = [[unit * value for value in side] for side in (BETTER, WORSE)]
    [line] = compare(versus(*scaled), "a", "b", directions=UP).lines
    for name in ("p", "effect", "rank_biserial", "favours"):
        assert getattr(line, name) == getattr(usual, name)
    for name in ("value", "low", "high"):
        assert getattr(line.difference, name) / unit == getattr(usual.difference, name)
    assert line.mean_a / unit == usual.mean_a


def test_differences_beyond_what_a_number_holds_are_refused_by_name(versus: Versus) -> None:
    table = versus([1e308] * 5, [-1e308] * 5)
    with pytest.raises(InputError, match="toy: with values up to 1e"):
        compare(table, "a", "b", directions=UP)
