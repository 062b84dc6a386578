"""StoR3's analyses, one a file; `fabula study run` with `kind = "storyer"` runs those it lists.

Every analysis stands alone: what it lacks (data, weights, a package) it says, and the others run.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from typing import Any

from fabula.core.errors import UserError
from fabula.replication.storyer._findings import Finding, Table
from fabula.replication.storyer._material import Material
from fabula.replication.storyer._study_file import (
    ANALYSES,
    StoryerStudy,
    chosen_analyses,
    read_storyer_study,
)

__all__ = [
    "ANALYSES",
    "Finding",
    "Material",
    "StoryerStudy",
    "Table",
    "chosen_analyses",
    "read_storyer_study",
    "run_analyses",
]


def run_analyses(study: StoryerStudy, material: Material) -> Iterator[Finding]:
    """Run the analyses of a study in order; one that lacks something says what it needs."""
    for name in study.analyses:
        started = time.perf_counter()
        material.report(f"{name}: begins")
        finding = _run(name, study.settings[name], material)
        took = f"{time.perf_counter() - started:.1f} s"
        material.report(f"{name}: {finding.needs or 'done'} ({took})")
        yield finding


def _run(name: str, settings: Any, material: Material) -> Finding:
    analysis: Any = importlib.import_module(f"{__name__}.{name}")
    try:
        found: Finding = analysis.analyse(material, settings)
    except UserError as error:
        return Finding(name, analysis.TITLE, needs=str(error))
    return found
