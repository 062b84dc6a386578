from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import InputError, SettingError, UnknownName
from fabula.core.table import ScoreTable
from fabula.meta.levels import LEVELS, correlation_table
from fabula.meta.study import Study, StudyResult
from fakes.grids import correlation_intervals, make_dataset

RNG = np.random.default_rng(1)
PLOT = RNG.integers(1, 6, (8, 4)).astype(float)
STYLE = RNG.integers(1, 6, (8, 4)).astype(float)
GOLD = {"plot": PLOT, "style": STYLE}
GOOD = PLOT + RNG.normal(size=PLOT.shape) / 4
CARDS = {
    "good": ScorerCard("string", "higher"),
    "distance": ScorerCard("embedding", "lower"),
    "words": ScorerCard("baseline", "descriptive"),
}
SCORES = {"good": GOOD, "distance": -GOOD, "words": STYLE * 10}


def small(**rest: object) -> Dataset:
    return make_dataset(SCORES, GOLD, **{"cards": CARDS, **rest})


def run(dataset: Dataset | None = None, **settings: object) -> StudyResult:
    usual = {"ceilings": False, "resamples": 60}
    return Study(**{**usual, **settings}).run(dataset or small())


def test_every_metric_meets_every_aspect_at_every_level_by_every_coefficient() -> None:
    found = run()
    assert len(found.correlations) == 3 * 2 * 3 * 3
    assert len(found.of(level="item", coefficient="kendall", aspect="plot")) == 3
    [one] = found.of(level="item", coefficient="kendall", aspect="plot", metric="good")
    assert one.estimate.n + one.estimate.undefined == 8
    assert (one.family, one.direction) == ("string", "higher")


@pytest.mark.parametrize("level", LEVELS)
def test_values_and_intervals_are_those_of_the_grids(level: str) -> None:
    found = run(sign="raw", levels=(level,), coefficients=("spearman",), seed=7, alpha=0.1)
    metrics, gold = found.metrics, found.gold
    how = {"level": level, "coefficient": "spearman"}
    value = correlation_table(metrics, gold, **how)
    low, high = correlation_intervals(metrics, gold, alpha=0.1, resamples=60, seed=7, **how)
    for one in found.correlations:
        place = [c.label for c in metrics.columns].index(one.metric), one.aspect == "style"
        place = place[0], int(place[1])
        assert (one.estimate.value, one.estimate.low, one.estimate.high) == (
            value[place],
            low[place],
            high[place],
        )


def value_of(found: StudyResult, metric: str) -> tuple[float, float, float]:
    [one] = found.of(metric=metric, aspect="plot", level="pooled", coefficient="pearson")
    return one.estimate.value, one.estimate.low, one.estimate.high


def test_what_is_better_when_lower_is_turned() -> None:
    found = run()
    assert value_of(found, "good")[0] > 0.8
    assert value_of(found, "distance") == value_of(found, "good")


def test_scorers_of_unknown_direction_can_be_called_lower() -> None:
    found = run(small(cards={}), lower=("distance",))
    assert value_of(found, "distance") == value_of(found, "good")


def test_raw_signs_are_left_as_they_are() -> None:
    found = run(sign="raw")
    value, low, high = value_of(found, "good")
    assert value_of(found, "distance") == pytest.approx((-value, -high, -low))


def test_without_signs_an_interval_is_turned_with_its_value() -> None:
    found = run(sign="absolute")
    assert value_of(found, "distance") == pytest.approx(value_of(found, "good"))
    value, low, high = value_of(found, "distance")
    assert 0 < low <= value <= high


def test_gains_are_over_the_best_trivial_baseline() -> None:
    found = run()
    base = value_of(found, "words")[0]
    [one] = found.of(metric="good", aspect="plot", level="pooled", coefficient="pearson")
    assert one.gain.value == pytest.approx(one.estimate.value - abs(base))
    assert one.gain.low <= one.gain.value <= one.gain.high
    assert all(math.isnan(one.gain.value) for one in found.of(metric="words"))


def test_gains_go_by_the_values_that_are_shown() -> None:
    found = run(sign="absolute")
    for one in found.correlations:
        if one.metric == "distance":
            [twin] = found.of(
                metric="good", aspect=one.aspect, level=one.level, coefficient=one.coefficient
            )
            assert one.gain.value == pytest.approx(twin.gain.value, nan_ok=True)


def test_baselines_alone_gain_nothing() -> None:
    assert all(math.isnan(one.gain.value) for one in run(scorers=("words",)).correlations)


def test_patterns_choose_scorers_and_aspects() -> None:
    found = run(scorers=("wor*", "good"), aspects=("st*",))
    assert [column.scorer for column in found.metrics.columns] == ["words", "good"]
    assert [column.aspect for column in found.gold.columns] == ["style"]


def test_a_name_with_signs_of_patterns_is_itself() -> None:
    dataset = make_dataset({"rouge(n=[1])": PLOT, "rouge(n=1)": STYLE}, GOLD)
    found = run(dataset, scorers=("rouge(n=[1])",))
    assert found.metrics.columns[0].scorer == "rouge(n=[1])"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scorers": ("goood",)}, "no scorer .*goood"),
        ({"aspects": ("plots",)}, "no aspect .*plots"),
    ],
)
def test_unknown_names_are_refused_with_the_closest(settings: dict, words: str) -> None:
    with pytest.raises(UnknownName, match=words) as caught:
        run(**settings)
    assert "good" in str(caught.value) or "plot" in str(caught.value)


@pytest.mark.parametrize("settings", [{"levels": ("story",)}, {"coefficients": ("pearsn",)}])
def test_unknown_levels_and_coefficients_are_refused(settings: dict) -> None:
    with pytest.raises(SettingError, match=r"no (level|coefficient) is called"):
        Study(**settings)


def test_a_judge_is_held_to_its_own_aspect_and_a_metric_to_all() -> None:
    scores = {("judge:x", "plot"): PLOT, ("judge:x", "style"): STYLE, ("rouge", "recall"): GOOD}
    found = run(make_dataset(scores, GOLD), levels=("pooled",), coefficients=("pearson",))
    met = {(one.metric, one.aspect) for one in found.correlations}
    assert met == {
        ("judge:x", "plot"),
        ("judge:x", "style"),
        ("rouge recall", "plot"),
        ("rouge recall", "style"),
    }
    assert found.of(metric="judge:x", aspect="plot")[0].estimate.value == pytest.approx(1)


def test_systems_that_wrote_the_references_are_left_out_unless_wanted() -> None:
    dataset = small(reference_systems=("a",))
    assert run(dataset).metrics.layout.systems == ("b", "c", "d")
    assert run(dataset, references=True).metrics.layout.systems == ("a", "b", "c", "d")


def test_without_ratings_or_scores_there_is_no_study() -> None:
    whole = small()
    bare = {"name": "toy", "card": whole.card, "stories": whole.stories}
    with pytest.raises(InputError, match="toy: no human ratings"):
        run(Dataset(**bare, scores=whole.scores))
    with pytest.raises(InputError, match="toy: no scores"):
        run(Dataset(**bare, ratings=whole.ratings))


def test_a_constant_metric_is_undefined_and_counted() -> None:
    found = run(make_dataset({"flat": PLOT * 0 + 0.1}, GOLD))
    for one in found.correlations:
        assert math.isnan(one.estimate.value) and math.isnan(one.estimate.low)
        assert one.estimate.undefined == (8 if one.level == "item" else 1)
        assert one.row()["value"] is None and one.row()["low"] is None


def test_a_story_without_a_score_is_no_zero() -> None:
    gaps = GOOD.copy()
    gaps[0, 0] = gaps[3] = math.nan
    found = run(make_dataset({"good": gaps}, {"plot": PLOT}), coefficients=("pearson",))
    assert [one.estimate.n for one in found.correlations] == [7, 4, 32 - 5]
    kept = ~np.isnan(gaps)
    wanted = np.corrcoef(gaps[kept], PLOT[kept])[0, 1]
    assert found.of(level="pooled")[0].estimate.value == pytest.approx(wanted)


def test_stories_of_one_system_leave_only_the_pooled_level() -> None:
    found = run(make_dataset({"good": GOOD.reshape(-1, 1)}, {"plot": PLOT.reshape(-1, 1)}))
    assert {one.level for one in found.correlations} == {"pooled"}
    assert any("only the pooled level is left" in words for words in found.cautions)


def test_cautions_say_that_n_is_too_small() -> None:
    words = " ".join(run().cautions)
    assert "n is too small at the item level: 8 items" in words
    assert "n is too small at the system level: 4 systems" in words
    assert "pooled" not in words
    assert "Metrics without a direction, whose sign is as it is: 1." in words
    many = np.random.default_rng(2).normal(size=(20, 8))
    assert not run(make_dataset({"m": many}, {"": many}, cards={"m": CARDS["good"]})).cautions


def test_cautions_say_that_raters_are_not_known() -> None:
    assert any("raters are not known" in one for one in run(small(raters_known=False)).cautions)


def test_settled_means_are_ties() -> None:
    metric = [[0.1, 0.3, 1], [0.2, 0.2, 1], [0.3, 0.1, 1]]
    dataset = make_dataset({"m": metric}, {"": [[1, 2, 3]] * 3})
    found = run(dataset, settle=True, levels=("system",), coefficients=("kendall",))
    assert found.correlations[0].estimate.value == pytest.approx(2 / math.sqrt(6))


class Told:
    """Progress that counts."""

    total = done = 0

    def start(self, total: int) -> None:
        self.total = total

    def advance(self, steps: int) -> None:
        self.done += steps

    def finish(self) -> None:
        self.done *= 1


@pytest.mark.parametrize("systems", [1, 4])
def test_progress_comes_to_its_end(systems: int) -> None:
    told = Told()
    dataset = make_dataset({"good": GOOD[:, :systems]}, {"plot": PLOT[:, :systems]})
    Study(ceilings=False, resamples=5).run(dataset, told)
    assert told.done == told.total > 0


def test_ratings_of_several_people_are_averaged() -> None:
    whole = small(raters=3)
    assert len(whole.ratings) == 3 * 2 * 32
    assert isinstance(whole.ratings, ScoreTable)
    assert np.array_equal(run(whole).gold.values[0], PLOT)
