"""Floor 2: one corpus per file: stories, ratings and a card; and readers of files of stories."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from fabula.core.catalogue import Catalogue
from fabula.core.dataset import Dataset

DATASETS: Catalogue[ModuleType] = Catalogue("data set", ("fabula.datasets",), lambda found: found)


def load_dataset(name: str, path: str | Path | None = None) -> Dataset:
    """Load a data set by its name; `path` says where its files are, if they are not with us."""
    dataset: Dataset = DATASETS.get(name).load(Path(path) if path else None)
    return dataset
