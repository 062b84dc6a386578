"""HANNA's published figures and the grids they come from, for tests of rankings."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.datasets import load_dataset
from fabula.meta.grid import Grid
from fabula.meta.study import Study

CRITERIA = {
    "RE": "relevance", "CH": "coherence", "EM": "empathy",
    "SU": "surprise", "EG": "engagement", "CX": "complexity",
}  # fmt: skip


@functools.cache
def hanna(shared: Path) -> Dataset:
    """The data set itself."""
    return load_dataset("hanna", shared / "data" / "hanna")


@functools.cache
def hanna_grids(shared: Path) -> tuple[Grid, Grid]:
    """The 72 metrics and the six criteria of the ten machine systems, as published."""
    metrics, gold = Study(sign="raw").grids(hanna(shared))
    cards = hanna(shared).scorers
    kept = [column for column in metrics.columns if cards[column.scorer].family != "judge"]
    return metrics.select(kept), gold


@functools.cache
def hanna_tables(shared: Path) -> dict[str, Any]:
    """Tables that were recomputed from the release or read off the paper."""
    text = (shared / "reference" / "hanna_expected.json").read_text(encoding="utf-8")
    tables: dict[str, Any] = json.loads(text)["tables"]
    return tables


def bare(label: str) -> str:
    """Name of a metric without the two signs of its kind: `BLEU Ξ§` is `BLEU`."""
    return label.rpartition(" ")[0]
