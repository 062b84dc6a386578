"""Coefficients: agreement of raters on printed examples, and of released scores with people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.plain import read_json
from fabula.datasets import datasets_below, load_dataset, printed_below
from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient
from fabula.meta.levels import correlation_table
from fabula.meta.raters.alpha import MeasurementLevel, krippendorff
from fabula.meta.raters.icc import intraclass
from fabula.meta.resampling import value_of
from fabula.meta.study import Study
from fabula.replication.checks._result import CheckResult, compare_values, skip

_RATERS = "Agreement of raters"
# Shrout and Fleiss (1979), Table 2, and the six coefficients of their Table 4.
_JUDGES: Values = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]],
    dtype=np.float64,
)
_SHROUT_FLEISS = (0.17, 0.29, 0.71, 0.44, 0.62, 0.91)
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
_ALPHAS: dict[MeasurementLevel, float] = {
    "nominal": 0.743,
    "ordinal": 0.815,
    "interval": 0.849,
    "ratio": 0.797,
}
_RELEASED = "Released scores of learned metrics against people"
_GOLDEN = "reference/golden.json"
_UNION_COLUMNS = {
    "bleu": "BLEU", "bleurt": "BLEURT", "dis": "DisScore", "moverscore": "MoverScore",
    "ppl": "PPL", "ruber_ref_score": "RUBER-r", "ruber_unref_score": "RUBER-u",
    "ruber_score": "RUBER", "union": "UNION", "union_recon": "UNION-recon",
}  # fmt: skip
_COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")


def check_raters(data: Path | None) -> Iterator[CheckResult]:
    """Compare ICC and alpha; this needs no data."""
    del data
    rounded = [round(icc.value, 2) for icc in intraclass(_JUDGES)]
    claim = "the six ICC of Shrout and Fleiss (1979)"
    pairs = list(zip(rounded, _SHROUT_FLEISS, strict=True))
    yield compare_values(_RATERS, claim, pairs, tolerance=1e-9, share=1.0)
    mean = next(icc for icc in intraclass(_STORIES) if icc.kind == "ICC(2,k)")
    pairs = list(zip((mean.value, mean.low, mean.high), _PINGOUIN, strict=True))
    claim = "ICC(2,k) with its interval, against pingouin 0.6.1"
    yield compare_values(_RATERS, claim, pairs, tolerance=1e-9, share=1.0)
    alphas = []
    for level, printed in _ALPHAS.items():
        value = value_of(krippendorff(_OBSERVERS, level=level), len(_OBSERVERS))
        alphas.append((round(value, 3), printed))
    yield compare_values(
        _RATERS, "the four alphas of Krippendorff (2011)", alphas, tolerance=1e-9, share=1.0
    )


def check_released_scores(data: Path | None) -> Iterator[CheckResult]:
    """Compare pooled correlations with the values known for these files."""
    golden = _read_golden(data)
    for name, folder, claim, pairs in (
        ("union", "union_roc", "UNION: ten metrics × three coefficients", _union_pairs),
        ("coherence", "coherence", "MANPLTS's predictions of coherence", _coherence_pairs),
    ):
        path = datasets_below(data) / folder if data else None
        if golden is None or path is None or not path.is_dir():
            yield skip(_RELEASED, claim, f"needs {folder} and {_GOLDEN} below --data")
            continue
        ours = _correlate_release(name, path)
        yield compare_values(_RELEASED, claim, pairs(golden, ours), tolerance=5.1e-5, share=1.0)


def _read_golden(data: Path | None) -> dict[str, Any] | None:
    path = printed_below(data, _GOLDEN) if data else None
    if path is None or not path.is_file():
        return None
    golden: dict[str, Any] = read_json(path)
    return golden


def _correlate_release(name: str, path: Path) -> dict[tuple[str, str], float]:
    metrics, gold = Study(sign="raw").grids(load_dataset(name, path))
    return {
        (column.label, coefficient): float(value)
        for coefficient in _COEFFICIENTS
        for column, value in zip(
            metrics.columns,
            correlation_table(metrics, gold, level="pooled", coefficient=coefficient)[:, 0],
            strict=True,
        )
    }


def _union_pairs(
    golden: dict[str, Any], ours: dict[tuple[str, str], float]
) -> list[tuple[float, float]]:
    printed = golden["union_metric_output_vs_human"]["ROCStories"]
    return [
        (ours[_UNION_COLUMNS[name], coefficient], value)
        for name in _UNION_COLUMNS
        for coefficient, value in zip(_COEFFICIENTS, printed[name], strict=True)
    ]


def _coherence_pairs(
    golden: dict[str, Any], ours: dict[tuple[str, str], float]
) -> list[tuple[float, float]]:
    printed = golden["manplts_public_predictions"]["ROC"]
    return [(ours["MANPLTS", name], printed[name]) for name in ("spearman", "kendall")]
