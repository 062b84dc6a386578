"""Floor 2: one corpus per file: stories, ratings and a card; and readers of files of stories."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

from fabula.core.catalogue import Catalogue
from fabula.core.dataset import Dataset
from fabula.core.errors import UnknownName, closest
from fabula.datasets._places import Place, places
from fabula.datasets._release import check_counts

DATASETS: Catalogue[ModuleType] = Catalogue("data set", ("fabula.datasets",), lambda found: found)


def load_dataset(name: str, path: str | Path | None = None, *, partial: bool = False) -> Dataset:
    """Load a data set by its name; `path` says where its files are, if `data add` did not.

    A release that does not hold what its card says is refused, unless `partial` is given.
    """
    if name not in DATASETS:
        return _own(name, places().get(name))
    dataset: Dataset = DATASETS.get(name).load(Path(path) if path else place_of(name))
    return dataset if partial else check_counts(dataset)


def place_of(name: str) -> Path | None:
    """Where a data set lies, if `fabula data add` keeps it."""
    place = places().get(name)
    return Path(place.path) if place else None


def added_names() -> list[str]:
    """Names of the tables of one's own that `fabula data add` keeps."""
    return sorted(name for name in places() if name not in DATASETS)


def is_added(name: str) -> bool:
    """Whether a table of one's own is kept under that name."""
    return name not in DATASETS and name in places()


def _own(name: str, place: Place | None) -> Dataset:
    if place is None:
        known = [*DATASETS.names(), *added_names()]
        raise UnknownName(f"no data set is called {name!r}", closest(name, known))
    from fabula.datasets.table import read_table

    found = read_table(place.path, gold=place.gold, columns=place.columns, lower=place.lower)
    return replace(found, name=name)
