"""Scales: what heads said of unseen stories, made into values; each step by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.learned.reader.config import Scale, Term, read_config
from fabula.learned.training.cross_fit import CrossFitted
from fabula.learned.training.examples import Prepared, fold_of_items
from fabula.learned.training.reader_scales import (
    _error,
    _link,
    _Target,
    logistic_slope,
    part_figures,
    write_reader,
)
from fabula.meta.coefficients import spearman
from fakes.tiny_tasks import PLAIN_RECIPE, tiny_prepared, tiny_recipe

RECORD = {"seed": 3, "data": {}, "versions": {}}
SEEDS = 2


def crossed(prepared: Prepared) -> CrossFitted:
    """Outputs that go with what people said, with noise of each seed's own."""
    rng = np.random.default_rng(0)
    outputs, folds = {}, {}
    for name, one in prepared.examples.items():
        if name == "labels":
            continue
        said = np.zeros(len(one.texts))
        if name == "rated":
            said[one.members[:, 0]] = one.targets[:, 0]
        else:
            said[one.members[:, 0]] = 1.0
        for head, width in (("labels", 1), ("preference", 1), ("rated", 2)):
            noise = rng.normal(size=(SEEDS, len(said), width))
            outputs[name, head] = said[None, :, None] + noise
        parts = fold_of_items(one.items, 3, 1)
        row = np.full(len(said), -1)
        for members, item in zip(one.members, one.items, strict=True):
            row[members] = parts[item]
        folds[name] = np.stack([row] * SEEDS)
    return CrossFitted(outputs, folds)


def written(out: Path, **changes):
    prepared = tiny_prepared()
    found = crossed(prepared)
    figures = write_reader(out, tiny_recipe(**changes), prepared, found, record=RECORD)
    return read_config(out), found, figures


def plain(**settings):
    return {"scales": {"one": {"terms": {"preference": 1.0}, **settings}}}


def test_a_head_is_standardised_over_the_texts_it_is_fitted_to(tmp_path):
    about, found, _ = written(tmp_path, **plain(to=["preference"]))
    values = found.outputs["preference", "preference"]
    [term] = about.scales["one"].terms
    assert (term.mean, term.deviation) == pytest.approx((values.mean(), values.std()))


def test_percentiles_are_of_the_mean_over_seeds(tmp_path):
    about, found, _ = written(
        tmp_path, **plain(to=["preference"], people="preference", link="logistic")
    )
    scale = about.scales["one"]
    [term] = scale.terms
    raw = (found.outputs["preference", "preference"][:, :, 0] - term.mean) / term.deviation
    wanted = np.percentile(raw.mean(0), np.arange(101))
    np.testing.assert_allclose(scale.percentiles, wanted)
    # The story in the middle has an even chance.
    assert scale.value(float(wanted[50])) == pytest.approx(0.5)
    assert scale.percentile(float(wanted[73])) == pytest.approx(73)


def test_what_heads_said_of_human_stories_is_kept_for_who_weighs_them_anew(tmp_path):
    settings = {"terms": {"preference": 1.0}, "to": ["preference"], "people": "preference"}
    _, found, _ = written(tmp_path, scales={"preference": settings})
    with np.load(tmp_path / "cross_fitted.npz") as kept:
        for head in ("labels", "preference", "rated"):
            wanted = found.outputs["preference", head].mean(0)
            np.testing.assert_allclose(kept[f"people/{head}"], wanted, atol=2e-3)
        assert kept["people/features"].shape == (len(kept["people/rated"]), 17)


def test_a_rating_stays_within_the_bounds_of_its_raters_scale(tmp_path):
    wide = {"to": ["rated.good"], "link": "clipped", "bounds": [1, 10]}
    about, _, _ = written(tmp_path, **plain(**wide))
    scale = about.scales["one"]
    assert (scale.low, scale.high) == (1, 10)
    assert scale.value(1e6) == 10


def test_the_slope_of_preferences_is_that_of_a_logistic_regression(tmp_path):
    linear = pytest.importorskip("sklearn.linear_model")
    about, found, _ = written(tmp_path, **plain(to=["preference"], link="logistic"))
    [term] = about.scales["one"].terms
    raw = (found.outputs["preference", "preference"][:, :, 0] - term.mean) / term.deviation
    gaps = (raw[:, ::2] - raw[:, 1::2]).reshape(-1, 1)
    fit = linear.LogisticRegression(C=1e10, fit_intercept=False, tol=1e-12, max_iter=1000)
    fit.fit(np.concatenate([gaps, -gaps]), [1] * len(gaps) + [0] * len(gaps))
    assert about.scales["one"].slope == pytest.approx(float(fit.coef_[0, 0]), abs=1e-6)


def test_a_rating_is_the_line_through_what_people_said(tmp_path):
    about, found, _ = written(
        tmp_path, **plain(terms={"rated.bad": 1.0}, to=["rated.good"], link="clipped")
    )
    scale = about.scales["one"]
    [term] = scale.terms
    assert (term.head, term.output) == ("rated", 1)
    raw = ((found.outputs["rated", "rated"][:, :, 1] - term.mean) / term.deviation).mean(0)
    said = tiny_prepared().examples["rated"].targets[:, 0]
    slope = np.cov(raw, said, ddof=0)[0, 1] / raw.var()
    assert scale.slope == pytest.approx(slope)
    assert scale.shift == pytest.approx(said.mean() - slope * raw.mean())
    assert scale.value(1e9) == 5.0


def test_the_error_between_trainings_is_of_one_raw_value(tmp_path):
    about, found, _ = written(tmp_path, **plain(to=["preference"]))
    [term] = about.scales["one"].terms
    raw = (found.outputs["preference", "preference"][:, :, 0] - term.mean) / term.deviation
    # Two seeds: the variance is half of the squared difference.
    wanted = np.sqrt(np.mean((raw[0] - raw[1]) ** 2 / 2))
    assert about.scales["one"].error == pytest.approx(wanted)
    assert _error([raw[:1]]) is None


def test_surface_and_head_add_up_to_what_is_kept_beside_the_reader(tmp_path):
    about, _, figures = written(tmp_path)
    scale = about.scales["preference"]
    assert scale.surface is not None and scale.surface.weight == 0.5
    with np.load(tmp_path / "cross_fitted.npz") as kept:
        raw, surface = kept["preference/preference"], kept["preference/preference/surface"]
        ids = kept["ids/preference"].tolist()
    assert ids == [f"p{i}" for i in range(48)]
    [term] = scale.terms
    outputs = crossed(tiny_prepared()).outputs["preference", "preference"][:, :, 0]
    wanted = 0.5 * (outputs - term.mean) / term.deviation + 0.5 * surface
    np.testing.assert_allclose(raw, wanted, atol=1e-5)
    pairs = figures["preference"]["preference"]
    assert pairs["seeds"] == pytest.approx(np.mean(raw[:, ::2] > raw[:, 1::2], axis=1).tolist())
    assert (pairs["figure"], pairs["n"]) == ("accuracy", 24)
    assert figures["preference"]["rated.good"]["figure"] == "spearman"
    assert about.training["validation"]["scales"] == figures


def test_a_scale_is_measured_with_the_opinions_that_it_names(tmp_path):
    _, found, figures = written(tmp_path, **plain(to=["preference"], also=["rated.bad"]))
    said = tiny_prepared().examples["rated"].targets[:, 1]
    wanted = [float(spearman(one[:, 0], said)) for one in found.outputs["rated", "preference"]]
    assert figures["one"]["rated.bad"]["seeds"] == pytest.approx(wanted)


def test_texts_that_nobody_read_are_left_out_without_a_warning(tmp_path):
    prepared = tiny_prepared()
    pairs = prepared.examples["preference"]
    # The last pair is in no fold, and no reader said anything of it.
    some = replace(
        prepared, examples={**prepared.examples, "preference": pairs.choose(np.arange(23))}
    )
    found = crossed(some)
    for head in ("labels", "preference", "rated"):
        found.outputs["preference", head][:, 46:] = np.nan
    write_reader(tmp_path, tiny_recipe(), some, found, record=RECORD)
    scale = read_config(tmp_path).scales["preference"]
    assert scale.percentiles is not None and np.isfinite(scale.percentiles).all()
    assert scale.error is not None and np.isfinite(scale.error)
    whole = found.outputs["preference", "preference"][:, :46]
    assert scale.terms[0].mean == pytest.approx(whole.mean())


def test_what_tells_nothing_is_not_read_backwards():
    examples = tiny_prepared().examples["rated"]
    target = _Target("rated", examples, 0)
    scale = Scale((Term("rated"),), link="clipped")
    mean = float(examples.targets[:, 0].mean())
    for raw in (-examples.targets[:, 0], np.zeros(30)):
        found = _link(scale, [target], {"rated": raw[None].astype(float)})
        assert (found.slope, found.shift) == (0.0, pytest.approx(mean))


def test_pairs_that_all_go_one_way_give_a_slope_that_is_a_number():
    assert np.isfinite(logistic_slope(np.array([1.0, 2.0, 0.5])))
    assert logistic_slope(np.array([0.0, np.nan])) == 1.0
    # 3 of 4 gaps of 1 agree: 1 / (1 + e^-s) = 3/4, s = ln 3.
    assert logistic_slope(np.array([1.0, 1.0, 1.0, -1.0])) == pytest.approx(np.log(3))


def test_ratings_of_one_item_make_pairs():
    one = tiny_prepared().examples["rated"]
    few = one.choose(np.array([0, 10, 20, 1]))  # three ratings of item 0, one of item 1
    better, worse = _Target("rated", few, 0).pairs
    said = one.targets[:, 0]
    assert len(better) == 3
    assert all(said[a] > said[b] for a, b in zip(better, worse, strict=True))
    assert not {1} & {*better.tolist(), *worse.tolist()}


def test_without_folds_heads_count_as_they_are(tmp_path):
    prepared = tiny_prepared()
    figures = write_reader(tmp_path, tiny_recipe(), prepared, None, record=RECORD)
    scale = read_config(tmp_path).scales["preference"]
    assert figures == {}
    assert scale.raw({"preference": np.array([2.0])}) == 1.0
    assert read_config(tmp_path).scales["criteria.good"].link == "identity"
    assert not (tmp_path / "cross_fitted.npz").exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"terms": {"other": 1.0}}, "has the term 'other'; name a head"),
        ({"to": ["other"]}, "is fitted to 'other'; name a task"),
    ],
)
def test_a_scale_of_what_there_is_not_is_refused(tmp_path, settings, words):
    with pytest.raises(SettingError, match=words):
        written(tmp_path, **plain(**settings))


def test_figures_against_a_judge_stand_apart_from_those_against_people():
    tasks = {"rated": {**PLAIN_RECIPE["tasks"]["rated"], "scorer": "judge(x)"}}
    recipe = tiny_recipe(tasks={**PLAIN_RECIPE["tasks"], **tasks})
    unseen = {"preference": 1, "rated": 2}
    scales = {"preference": {"preference": 3, "rated.good": 4}}
    parted = part_figures(unseen, scales, recipe, {"judge(x)": {"signature": "s"}})
    assert parted["unseen"] == {"preference": 1}
    assert parted["scales"] == {"preference": {"preference": 3}}
    told = {"signature": "s", "unseen": {"rated": 2}, "scales": {"preference": {"rated.good": 4}}}
    assert parted["judges"] == {"judge(x)": told}
    alone = {"unseen": unseen, "scales": scales, "judges": {}}
    assert part_figures(unseen, scales, tiny_recipe(), {}) == alone


def related(prepared: Prepared) -> Prepared:
    """Relations that go with what people said; the last story has no prompt."""
    rated = prepared.examples["rated"]
    rows = np.stack([rated.targets[:, 0] / 5, np.linspace(0, 1, len(rated))], axis=1)
    rows[-1] = np.nan
    rated = replace(rated, relations=rows.astype(np.float32))
    return replace(prepared, examples={**prepared.examples, "rated": rated})


RELEVANCE = {"terms": {"rated.bad": 0.3}, "to": ["rated.good"], "relation": 0.7, "link": "clipped"}


def test_what_stories_have_to_do_with_their_prompts_counts_as_the_recipe_says(tmp_path):
    prepared = related(tiny_prepared())
    found, rows = crossed(prepared), prepared.examples["rated"].relations
    recipe = tiny_recipe(scales={"one": RELEVANCE})
    figures = write_reader(tmp_path, recipe, prepared, found, record=RECORD)
    scale = read_config(tmp_path).scales["one"]
    [term] = scale.terms
    scaled = (rows - np.nanmean(rows, 0)) / np.nanstd(rows, 0)
    part = 0.7 * scaled.sum(1) / np.nanstd(scaled.sum(1))
    heads = 0.3 * (found.outputs["rated", "rated"][:, :, 1] - term.mean) / term.deviation
    with np.load(tmp_path / "cross_fitted.npz") as kept:
        np.testing.assert_allclose(kept["one/rated"], heads + part, atol=1e-5)
    # The story without a prompt is not in the figure.
    assert figures["one"]["rated.good"]["n"] == len(rows) - 1
    assert scale.relation is not None and scale.slope > 0


def test_a_relation_needs_stories_with_prompts(tmp_path):
    prepared = tiny_prepared()
    recipe = tiny_recipe(scales={"one": RELEVANCE})
    with pytest.raises(SettingError, match=r"scale one: no story .* has a prompt"):
        write_reader(tmp_path, recipe, prepared, crossed(prepared), record=RECORD)
