"""Published scores of learned metrics against people: UNION's annotations, coherence by MTurk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabula.datasets import load_dataset
from fabula.meta.coefficients import Coefficient
from fabula.meta.levels import correlation_table
from fabula.meta.study import Study
from fabula.replication.checks._finding import Finding, equality, unchecked

_PART = "Released scores of learned metrics against people"
_FILE = "reference/golden.json"
_UNION = {
    "bleu": "BLEU", "bleurt": "BLEURT", "dis": "DisScore", "moverscore": "MoverScore",
    "ppl": "PPL", "ruber_ref_score": "RUBER-r", "ruber_unref_score": "RUBER-u",
    "ruber_score": "RUBER", "union": "UNION", "union_recon": "UNION-recon",
}  # fmt: skip
_COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare pooled correlations with the values known for these files."""
    golden = _golden(data)
    for name, folder, claim, pairs in (
        ("union", "union_roc", "UNION: ten metrics × three coefficients", _union),
        ("coherence", "coherence", "MANPLTS's predictions of coherence", _coherence),
    ):
        path = data / "data" / folder if data else None
        if golden is None or path is None or not path.is_dir():
            yield unchecked(_PART, claim, f"needs data/{folder} and {_FILE} below --data")
            continue
        found = _correlations(name, path)
        yield equality(_PART, claim, pairs(golden, found), tolerance=5.1e-5, share=1.0)


def _golden(data: Path | None) -> dict[str, Any] | None:
    path = data / _FILE if data else None
    if path is None or not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _correlations(name: str, path: Path) -> dict[tuple[str, str], float]:
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


def _union(
    golden: dict[str, Any], found: dict[tuple[str, str], float]
) -> list[tuple[float, float]]:
    printed = golden["union_metric_output_vs_human"]["ROCStories"]
    return [
        (found[_UNION[name], coefficient], value)
        for name in _UNION
        for coefficient, value in zip(_COEFFICIENTS, printed[name], strict=True)
    ]


def _coherence(
    golden: dict[str, Any], found: dict[tuple[str, str], float]
) -> list[tuple[float, float]]:
    printed = golden["manplts_public_predictions"]["ROC"]
    return [(found["MANPLTS", one], printed[one]) for one in ("spearman", "kendall")]
