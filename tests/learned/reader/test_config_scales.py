"""Scales by hand: raw values, links, percentiles, intervals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fabula.learned.reader.config import Scale, Surface, Term
from fabula.text.features import FEATURE_NAMES, FEATURES_VERSION

COUNT = len(FEATURE_NAMES)
SURFACE = Surface(FEATURES_VERSION, (1.0,) * COUNT, (2.0,) * COUNT, (0.5,) * COUNT)
POINTS = tuple(float(point) for point in range(101))
SCALE = Scale((Term("preference", 0, 0.5, 0.1, 2.0),), SURFACE, percentiles=POINTS, error=1.0)


def test_a_raw_value_by_hand() -> None:
    outputs = {"preference": np.array([3.1])}
    scale = replace(SCALE, surface=None)
    # 0.5 · (3.1 − 0.1) / 2
    assert scale.raw(outputs) == pytest.approx(0.75)
    # Of the features, all but two are at their mean; one is 3 deviations up by the clip (it is at
    # 4), one is a deviation down: 0.5 · 3 − 0.5 · 1 = 1, and the bias 0.25 makes 1.25.
    features = [9.0, -1.0, *[1.0] * (COUNT - 2)]
    part = replace(SURFACE, bias=0.25, weight=2.0, mean=0.25, deviation=0.5)
    # 0.75 + 2 · (1.25 − 0.25) / 0.5
    assert replace(SCALE, surface=part).raw(outputs, features) == pytest.approx(4.75)


def test_a_scale_that_reads_the_surface_does_not_do_without() -> None:
    with pytest.raises(ValueError, match="surface features"):
        SCALE.raw({"preference": np.array([0.0])})


def test_links_by_hand() -> None:
    scale = Scale((Term("x"),), slope=2.0, shift=-1.0)
    assert scale.value(3.0) == 5.0
    assert replace(scale, link="logistic").value(0.5) == 0.5
    # 1 / (1 + e^−1)
    assert replace(scale, link="logistic").value(1.0) == pytest.approx(0.7310585786)
    assert replace(scale, link="logistic").value(-1e6) == 0.0
    clipped = replace(scale, link="clipped", low=1.0, high=5.0)
    assert [clipped.value(raw) for raw in (-9, 0.5, 1.5, 9)] == [1.0, 1.0, 2.0, 5.0]
    assert math.isnan(clipped.value(math.nan))


def test_percentiles_by_hand() -> None:
    scale = replace(SCALE, percentiles=tuple(point * 2 - 100.0 for point in range(101)))
    found = [scale.percentile(raw) for raw in (-101, -100, -99, 0, 0.5, 100, 101)]
    assert found == [0.0, 0.0, 0.5, 50.0, 50.25, 100.0, 100.0]
    # Forty points are alike, those of 10 to 49 %: whoever is there stands in their middle.
    tied = (*POINTS[:10], *[10.0] * 40, *POINTS[50:])
    assert replace(SCALE, percentiles=tied).percentile(10.0) == 29.5
    # Between the last of them (49 %) and the point of 50 %, which is 50.
    assert replace(SCALE, percentiles=tied).percentile(30.0) == 49.5
    assert replace(SCALE, percentiles=(7.0,) * 101).percentile(7.0) == 50.0
    assert math.isnan(replace(SCALE, percentiles=None).percentile(1.0))
    assert math.isnan(scale.percentile(math.nan))


def test_an_interval_is_that_of_two_standard_errors_in_percentiles() -> None:
    # Points are their own percentiles: 50 ± 1.96.
    assert SCALE.interval(50.0) == (48.04, 51.96)
    assert SCALE.interval(0.5) == (0.0, pytest.approx(2.46))
    assert all(map(math.isnan, replace(SCALE, error=None).interval(50.0)))
