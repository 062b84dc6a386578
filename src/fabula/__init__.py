"""Fabula: one open system for evaluating stories.

>>> from fabula import Story, evaluate
>>> evaluate([Story("a", "Once. Once. Once.")], "repetition(n=1)").scores[0].value
1.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula._version import __version__

if TYPE_CHECKING:
    from fabula.core.dataset import Dataset as Dataset
    from fabula.core.errors import UserError as UserError
    from fabula.core.metric import Metric as Metric
    from fabula.core.score import Score as Score
    from fabula.core.score import Status as Status
    from fabula.core.story import Story as Story
    from fabula.core.table import ScoreTable as ScoreTable
    from fabula.datasets import load_dataset as load_dataset
    from fabula.scoring.adapter import as_evaluate as as_evaluate
    from fabula.scoring.assertions import assert_story as assert_story
    from fabula.scoring.catalogue import spec as spec
    from fabula.scoring.evaluate import evaluate as evaluate

# Loaded when first asked for: `import fabula` costs next to nothing.
_HOMES = {
    "Dataset": "fabula.core.dataset",
    "Metric": "fabula.core.metric",
    "Score": "fabula.core.score",
    "ScoreTable": "fabula.core.table",
    "Status": "fabula.core.score",
    "Story": "fabula.core.story",
    "UserError": "fabula.core.errors",
    "as_evaluate": "fabula.scoring.adapter",
    "assert_story": "fabula.scoring.assertions",
    "evaluate": "fabula.scoring.evaluate",
    "load_dataset": "fabula.datasets",
    "spec": "fabula.scoring.catalogue",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fabula' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
