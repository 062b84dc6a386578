from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import SettingError, UnknownName
from fabula.core.score import Status
from fabula.meta.raters.agreement import Agreement, agree
from fabula.meta.raters.icc import two_way
from fakes.ratings import KRIPPENDORFF, NAN, OWN, SHROUT_FLEISS, table_of

ALIGNED = {
    "ICC(2,1)", "ICC(3,1)", "ICC(2,k)", "ICC(3,k)",
    "Light kappa", "Light kappa linear", "Light kappa quadratic", "Kendall W",
}  # fmt: skip


def dataset_of(matrix: np.ndarray, *, raters_known: bool = True) -> Dataset:
    table = table_of(matrix)
    card = DatasetCard("Toy", "toy", "none", scales={"": (1, 5)}, raters_known=raters_known)
    return Dataset("toy", card, tuple(table.stories), table)


def values_of(found: Agreement) -> dict[str, float]:
    return {line.statistic: line.estimate.value for line in found.lines}


def test_every_coefficient_of_a_whole_table_is_there_with_an_interval_around_it() -> None:
    found = agree(dataset_of(OWN), resamples=300)
    values = values_of(found)
    # pingouin 0.6.1, krippendorff 0.9.0, statsmodels 0.15, irrCAC 0.4.4 (see their own tests).
    assert values["ICC(2,k)"] == pytest.approx(0.8048780488)
    assert values["alpha"] == pytest.approx(0.5664265241)
    assert values["Fleiss kappa"] == pytest.approx(0.1176470588)
    assert values["Light kappa quadratic"] == pytest.approx(0.5481469493)
    assert values["AC2 linear"] == pytest.approx(0.3827160494)
    for line in found.lines:
        assert line.estimate.low <= line.estimate.value <= line.estimate.high
        assert (line.estimate.n, line.raters, line.ratings, line.left_out) == (10, 3, 30, 0)
        assert line.status is Status.OK


def test_missing_ratings_leave_out_what_a_coefficient_cannot_use() -> None:
    found = agree(table_of(KRIPPENDORFF), resamples=50)
    counts = {line.statistic: (line.estimate.n, line.left_out) for line in found.lines}
    assert counts["alpha"] == (11, 1)  # the twelfth unit has one rating
    assert counts["ICC(1,1)"] == (12, 0)
    assert counts["ICC(2,1)"] == counts["Kendall W"] == (8, 4)


def test_where_raters_are_not_known_nothing_is_said_that_needs_them() -> None:
    found = agree(dataset_of(OWN, raters_known=False), resamples=50)
    missing = {line.statistic: line for line in found.lines if math.isnan(line.estimate.value)}
    assert set(missing) == ALIGNED
    for line in missing.values():
        assert (line.status, line.note) == (Status.UNDEFINED, "needs rater ids")
    assert found.raters == ()


def test_nominal_values_have_no_means_and_no_order() -> None:
    found = agree(table_of(OWN), level="nominal", resamples=50)
    assert set(values_of(found)) == {"alpha", "Fleiss kappa", "AC1", "Light kappa"}


def test_one_category_is_undefined_with_a_note() -> None:
    found = agree(table_of(np.full((6, 3), 2.0)), resamples=20)
    for line in found.lines:
        assert math.isnan(line.estimate.value) and line.status is Status.UNDEFINED and line.note


def test_raters_who_share_nothing_are_told_so() -> None:
    found = agree(table_of(np.array([[1, NAN], [NAN, 2], [2, NAN]])), resamples=20)
    notes = {line.statistic: line.note for line in found.lines}
    assert notes["alpha"] == "no story has two ratings"
    assert notes["Light kappa"] == "no two raters share two stories"
    assert notes["Kendall W"] == "no two stories all raters rated"


def test_many_raters_have_no_kappas_of_pairs() -> None:
    matrix = np.random.default_rng(0).integers(1, 6, (4, 30)).astype(float)
    found = agree(table_of(matrix), resamples=20)
    line = found.line("plot", "Light kappa")
    assert line is not None and line.note.startswith("too many pairs")
    assert not math.isnan(values_of(found)["Kendall W"])


def test_aspects_are_measured_apart_and_can_be_chosen() -> None:
    both = table_of(OWN) + table_of(SHROUT_FLEISS[:, :3], "style")
    found = agree(both, resamples=20)
    assert found.aspects == ["plot", "style"]
    assert agree(both, aspects=["style"], resamples=20).aspects == ["style"]
    with pytest.raises(UnknownName, match="no aspect is called 'plott' here; did you mean 'plot'"):
        agree(both, aspects=["plott"])


def test_the_same_seed_gives_the_same_intervals() -> None:
    once, again, other = (
        agree(table_of(OWN), resamples=50, seed=seed).line("plot", "alpha") for seed in (1, 1, 2)
    )
    assert once == again != other


def test_rows_are_plain() -> None:
    found = agree(dataset_of(OWN, raters_known=False), resamples=20)
    row = next(row for row in found.rows() if row["statistic"] == "ICC(2,1)")
    assert (row["value"], row["status"], row["note"]) == (None, "undefined", "needs rater ids")
    assert list(row) == [
        "aspect", "statistic", "value", "low", "high", "n",
        "raters", "ratings", "left_out", "status", "note",
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [{"level": "cardinal"}, {"resamples": 0}])
def test_settings_that_will_not_do_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingError):
        agree(table_of(OWN), **wrong)


def test_continuous_values_have_no_kappas() -> None:
    values = np.random.default_rng(0).normal(size=(90, 3))
    found = agree(table_of(values), resamples=20)
    for line in found.lines:
        kappa = "kappa" in line.statistic or line.statistic.startswith("AC")
        assert math.isnan(line.estimate.value) == kappa
        assert ("more than 200 distinct values are no categories" in line.note) == kappa


def test_slots_are_for_the_two_way_coefficients_and_say_who_has_one() -> None:
    found = agree(dataset_of(OWN), slots=2, resamples=20)
    line = found.line(found.aspects[0], "ICC(2,k)")
    assert line is not None and line.estimate.n == 10
    assert line.note == "in 2 slots: a, b; others in free places"
    # Nobody else is needed: the third rater finds no free place.
    assert line.estimate.value == pytest.approx(two_way(OWN[:, :2])[2].value)
    with pytest.raises(UnknownName, match="no rater is called 'zoe'"):
        agree(dataset_of(OWN), slots=("a", "zoe"), resamples=20)
