"""Coefficients of agreement on examples that their authors, or another implementation, print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.raters.alpha import Level, krippendorff
from fabula.meta.raters.icc import intraclass
from fabula.meta.resampling import value_of
from fabula.replication.checks._finding import Finding, equality

_PART = "Agreement of raters"
# Shrout and Fleiss (1979), Table 2, and the six coefficients of their Table 4.
_JUDGES: Values = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]],
    dtype=np.float64,
)
_PRINTED = (0.17, 0.29, 0.71, 0.44, 0.62, 0.91)
# Made-up ratings of ten stories by three known raters; ICC(2,k) and its interval by pingouin 0.6.1.
_STORIES: Values = np.array(
    [[1, 2, 2], [3, 3, 5], [2, 2, 1], [4, 5, 4], [5, 3, 4],
     [3, 4, 2], [1, 1, 3], [2, 4, 3], [5, 5, 5], [4, 2, 4]],
    dtype=np.float64,
)  # fmt: skip
_PINGOUIN = (0.8048780488, 0.4190468791, 0.9476697408)
# Krippendorff (2011), section C: twelve units, four observers; nominal, ordinal, interval, ratio.
_N = np.nan
_OBSERVERS: Values = np.array(
    [[1, 2, 3, 3, 2, 1, 4, 1, 2, _N, _N, _N], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _N, 3],
     [_N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _N], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _N]]
).T  # fmt: skip
_ALPHAS: dict[Level, float] = {
    "nominal": 0.743,
    "ordinal": 0.815,
    "interval": 0.849,
    "ratio": 0.797,
}


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare ICC and alpha; this needs no data."""
    del data
    found = [round(one.value, 2) for one in intraclass(_JUDGES)]
    claim = "the six ICC of Shrout and Fleiss (1979)"
    yield equality(_PART, claim, list(zip(found, _PRINTED, strict=True)), tolerance=1e-9, share=1.0)
    mean = next(one for one in intraclass(_STORIES) if one.kind == "ICC(2,k)")
    pairs = list(zip((mean.value, mean.low, mean.high), _PINGOUIN, strict=True))
    claim = "ICC(2,k) with its interval, against pingouin 0.6.1"
    yield equality(_PART, claim, pairs, tolerance=1e-9, share=1.0)
    alphas = []
    for level, printed in _ALPHAS.items():
        value = value_of(krippendorff(_OBSERVERS, level=level), len(_OBSERVERS))
        alphas.append((round(value, 3), printed))
    yield equality(
        _PART, "the four alphas of Krippendorff (2011)", alphas, tolerance=1e-9, share=1.0
    )
