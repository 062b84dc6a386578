"""Certificates: figures by scipy, verdicts by the baselines, rivals on the judge's own stories."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import InputError, UnknownName
from fabula.core.score import Score, Status
from fabula.core.table import ScoreTable
from fabula.datasets import load_dataset
from fabula.meta.certificate import Agreement, Certificate, Figure, Rival, Verdict
from fabula.meta.certifying import certify_scores, list_certificate_cautions
from fabula.meta.study import Study
from fakes.grids import make_dataset, scipy_value

RNG = np.random.default_rng(3)
PLOT = RNG.integers(1, 6, (30, 6)).astype(float)
NOISE = RNG.normal(size=PLOT.shape)
CARDS = {
    "sharp": ScorerCard("judge", "higher"),
    "blunt": ScorerCard("judge", "higher"),
    "wrong": ScorerCard("judge", "higher"),
    "words": ScorerCard("baseline", "descriptive"),
    "BLEU": ScorerCard("string", "higher"),
    "distance": ScorerCard("embedding", "lower"),
    "criteria": ScorerCard("learned", "higher"),
}
SCORES = {
    "sharp": PLOT + NOISE / 4,
    "blunt": PLOT + 1.1 * RNG.normal(size=PLOT.shape),
    "wrong": -PLOT,
    # A baseline may lie the other way round: it is strong all the same.
    "words": -PLOT - 1.1 * RNG.normal(size=PLOT.shape),
    "BLEU": PLOT + 3 * RNG.normal(size=PLOT.shape),
    "distance": -PLOT + 2 * RNG.normal(size=PLOT.shape),
    "criteria": PLOT + 2 * NOISE,
}
STUDY = Study(coefficients=("spearman",), resamples=200, ceilings=False)


def small(**scores: np.ndarray) -> Dataset:
    return make_dataset({**SCORES, **scores}, {"plot": PLOT}, cards=CARDS)


def find(judge: str, level: str = "item", dataset: Dataset | None = None) -> Agreement:
    agreements = certify_scores(judge, dataset or small(), STUDY)
    return next(one for one in agreements if one.level == level)


@pytest.mark.parametrize(
    ("judge", "verdict"),
    [("sharp", "beyond baselines"), ("blunt", "no better"), ("wrong", "worse")],
)
def test_a_judge_is_held_to_the_strongest_baseline(judge: str, verdict: Verdict) -> None:
    found = find(judge)
    assert found.verdict == verdict
    baseline = found.rival("baseline")
    assert baseline is not None
    # The baseline agrees the other way round, and is strong by its size.
    assert baseline.name == "words"
    assert baseline.agreement.value is not None
    assert baseline.agreement.value < -0.5
    gain = (found.agreement.value or 0) + baseline.agreement.value
    assert baseline.gain.value == pytest.approx(gain, abs=1e-12)


def test_agreement_is_the_mean_of_the_items_coefficients_by_scipy() -> None:
    each = [scipy_value(SCORES["blunt"][item], PLOT[item], "spearman") for item in range(30)]
    found = find("blunt")
    assert found.agreement.value == pytest.approx(np.nanmean(each), abs=1e-12)
    assert found.n + found.undefined == 30
    low, value, high = found.agreement.low, found.agreement.value, found.agreement.high
    assert low is not None and value is not None and high is not None
    assert low < value < high


def test_gains_are_those_of_a_study_with_the_same_draws() -> None:
    lines = STUDY.run(small()).of(level="item", metric="blunt")
    gain = next(one.gain for one in find("blunt").rivals if one.kind == "baseline")
    assert (gain.value, gain.low, gain.high) == pytest.approx(
        (lines[0].gain.value, lines[0].gain.low, lines[0].gain.high), abs=1e-12
    )


def test_of_the_columns_the_best_way_round_is_the_declared_one() -> None:
    found = find("sharp")
    column, reader = found.rival("column"), found.rival("reader")
    assert column is not None
    assert reader is not None
    assert (column.name, reader.name) == ("distance", "criteria")
    assert column.agreement.value == pytest.approx(
        np.nanmean([scipy_value(-SCORES["distance"][i], PLOT[i], "spearman") for i in range(30)])
    )


def test_rivals_see_only_the_stories_that_the_judge_has_a_value_of() -> None:
    half = SCORES["sharp"].copy()
    half[15:] = np.nan
    found = find("sharp", dataset=small(sharp=half))
    words = [-scipy_value(SCORES["words"][i], PLOT[i], "spearman") for i in range(15)]
    baseline = found.rival("baseline")
    assert found.n == 15
    assert baseline is not None
    assert baseline.agreement.value == pytest.approx(-np.mean(words))


def test_a_judge_of_nothing_that_was_rated_or_that_nobody_knows_is_named() -> None:
    dataset = small()
    with pytest.raises(UnknownName, match="no scores of 'sharq'"):
        certify_scores("sharq", dataset, STUDY)
    silent = [Score(story.id, "mute", "", status=Status.FAILED) for story in dataset.stories]
    quiet = Dataset("d", dataset.card, dataset.stories, dataset.ratings,
                    ScoreTable(dataset.stories, silent))  # fmt: skip
    with pytest.raises(InputError, match="no value of any story"):
        certify_scores("mute", quiet, STUDY)


def test_without_baselines_there_is_no_verdict_and_that_is_said() -> None:
    dataset = make_dataset({"sharp": PLOT + NOISE}, {"plot": PLOT}, cards=CARDS)
    agreements = certify_scores("sharp", dataset, STUDY)
    assert {one.verdict for one in agreements} == {"unknown"}
    assert any("No trivial baselines" in line for line in
               list_certificate_cautions(agreements, dataset))  # fmt: skip


def make(*verdicts: tuple[str, float, float]) -> Certificate:
    """A certificate with these gains: criterion, low and high end."""
    lines = [
        Agreement(aspect, "item", "spearman", Figure(0.3, 0.2, 0.4), 90,
                  rivals=(Rival("baseline", "words", Figure(0.2), Figure(0.1, low, high)),))
        for aspect, low, high in verdicts
    ]  # fmt: skip
    return Certificate("j", "j|1", "g", "2026-01-02", "0", 9, 3, 3, 9, "spearman", 10, 0, 0.05,
                       tuple(lines))  # fmt: skip


def test_verdicts_go_by_the_whole_interval_of_the_gain() -> None:
    found = make(("a", 0.01, 0.2), ("b", -0.01, 0.2), ("c", -0.3, -0.01), ("d", 0.0, 0.2))
    assert found.verdicts == {
        "a": "beyond baselines", "b": "no better", "c": "worse", "d": "no better",
    }  # fmt: skip
    assert found.verdict("nothing") == "unknown"
    # A judge with one value speaks for all criteria, if they agree.
    assert found.verdict("") == "unknown"
    assert make(("a", 0.01, 0.2), ("b", 0.02, 0.2)).verdict("") == "beyond baselines"


@pytest.fixture(scope="module")
def hanna(shared: Path) -> Dataset:
    return load_dataset("hanna", shared / "data" / "hanna")


@pytest.mark.parametrize("model", ["Beluga-13B", "OrcaPlatypus", "Mistral-7B", "Llama-13B",
                                   "ChatGPT"])  # fmt: skip
def test_hannas_released_judges_agree_as_scipy_says(hanna: Dataset, model: str) -> None:
    judge = f"judge:{model}/2"
    study = Study(resamples=2, ceilings=False, settle=True)
    own = [score for score in hanna.scores if score.scorer == judge]
    columns = {judge: {}, "human": {}}
    for score in own:
        columns[judge].setdefault(score.aspect, {})[score.story] = score.value
    for score in hanna.ratings:
        columns["human"].setdefault(score.aspect, {}).setdefault(score.story, []).append(
            score.value
        )
    alone = replace(hanna, scores=ScoreTable(hanna.stories, own))
    machine = [one for one in hanna.stories if one.system != "Human"]
    systems = list(dict.fromkeys(one.system for one in machine))
    for found in certify_scores(judge, alone, study):
        x, y = np.full((2, 96, 10), np.nan)
        for one in machine:
            place = int(one.item or 0), systems.index(one.system)
            x[place] = columns[judge][found.aspect][one.id]
            y[place] = np.mean(columns["human"][found.aspect][one.id])
        if found.level == "item":
            each = [scipy_value(x[i], y[i], found.coefficient) for i in range(96)]
            wanted = np.nanmean(each)
            assert found.undefined == int(np.isnan(each).sum())
        elif found.level == "system":
            # Two systems' complexity is 718/288, and not the same floating-point number.
            means = x.mean(0).round(12), y.mean(0).round(12)
            wanted = scipy_value(*means, found.coefficient)
        else:
            wanted = scipy_value(x.ravel(), y.ravel(), found.coefficient)
        assert found.agreement.value == pytest.approx(wanted, abs=1e-9)
