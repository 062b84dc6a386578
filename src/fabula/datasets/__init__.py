"""Floor 2: one corpus per file (stories, ratings and a card), and where yours lie.

What entries share is in two packages: `tables` reads files of stories and tables of any form,
`releases` finds, reads and checks the files of a release.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from fabula.core.catalogue import Catalogue
from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError, SettingError, UnknownName, UserError, closest
from fabula.core.files import data_home, lock_file, write_json
from fabula.core.plain import from_plain
from fabula.core.protocols import watch


def _pick_dataset(module: ModuleType) -> ModuleType:
    if not isinstance(getattr(module, "CARD", None), DatasetCard) or not hasattr(module, "load"):
        raise UserError(f"{module.__name__} defines no CARD and load", "a data set has both")
    return module


DATASETS: Catalogue[ModuleType] = Catalogue("data set", ("fabula.datasets",), _pick_dataset)


@dataclass(frozen=True)
class Place:
    """Where a data set lies and, for a table of one's own, how to read it."""

    path: str
    gold: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    lower: tuple[str, ...] = ()


def load_dataset(name: str, path: str | Path | None = None, *, partial: bool = False) -> Dataset:
    """Load a data set by its name; `path` says where its files are, if `data add` did not.

    A release that does not hold what its card says is refused, unless `partial` is given.
    """
    _check_kinds(name, path)
    if name in DATASETS:
        with watch.get().during(f"reading {name}"):
            dataset: Dataset = DATASETS.get(name).load(Path(path) if path else find_place(name))
        return dataset if partial else check_counts(dataset)
    place = read_places().get(name)
    if place is None:
        known = [*DATASETS.names(), *list_added()]
        raise UnknownName(f"no data set is called {name!r}", closest(name, known))
    return load_place(name, place)


def _check_kinds(name: Any, path: Any) -> None:
    """Refuse a file where the name of a data set belongs, and what is neither."""
    if isinstance(name, os.PathLike) or (isinstance(name, str) and Path(name).suffix):
        raise SettingError(
            f"{str(name)!r} is no data set's name",
            "evaluate(Path(…), …) reads stories of a file; `fabula data add` gives a table a name",
        )
    if not isinstance(name, str):
        raise SettingError(f"{name!r} is no data set's name", closest("", DATASETS.names()))
    if path is not None and not isinstance(path, str | os.PathLike):
        raise SettingError(f"path={path!r} is no path", "pass the folder or file of the release")


def load_place(name: str, place: Place) -> Dataset:
    """Load what lies in a place: a data set that has that name, or a table of one's own."""
    path = Path(place.path)
    if name in DATASETS and name != "table":
        if place.gold or place.columns or place.lower:
            raise SettingError(f"--gold, --column and --lower are not for {name}", "leave them out")
        return load_dataset(name, path, partial=True)
    if path.is_dir():
        raise UnknownName(f"no data set is called {name!r}", closest(name, DATASETS.names()))
    if name == "table" or not name.isidentifier():
        raise SettingError(
            f"{name!r} will not do as a name", "take letters, digits and _, and another than table"
        )
    from fabula.datasets.table import read_table

    table = read_table(path, gold=place.gold, columns=place.columns, lower=place.lower)
    return replace(table, name=name)


def check_counts(dataset: Dataset) -> Dataset:
    """Refuse a release that does not hold what its card says."""
    counts = dataset.counts
    for name, wanted in dataset.card.counts.items():
        if counts[name] != wanted:
            raise InputError(
                f"{dataset.name}: {counts[name]:,} {name} where the release has {wanted:,}",
                "fetch it again, or pass --partial to use what is there",
            )
    return dataset


def list_findings(dataset: Dataset) -> list[str]:
    """Say what is odd about the very files that a data set was loaded from."""
    usual = DATASETS.get(dataset.name).CARD.quirks if dataset.name in DATASETS else ()
    return [quirk for quirk in dataset.card.quirks if quirk not in usual]


def find_place(name: str) -> Path | None:
    """Where a data set lies, if `fabula data add` was told."""
    place = read_places().get(name)
    return Path(place.path) if place else None


def datasets_below(data: Path) -> Path:
    """Folder that holds a folder for each data set: the one given, or data/ in it."""
    inner = data / "data"
    return inner if inner.is_dir() else data


def printed_below(data: Path, name: str) -> Path:
    """File of printed values that goes with the data sets: in the folder given, or beside it."""
    return next((path for path in (data / name, data.parent / name) if path.is_file()), data / name)


def list_added() -> list[str]:
    """Names of the tables of one's own that `fabula data add` was told of."""
    return sorted(name for name in read_places() if name not in DATASETS)


def is_added(name: str) -> bool:
    """Whether a table of one's own was added under that name."""
    return name not in DATASETS and name in read_places()


def read_places() -> dict[str, Place]:
    """All places that were added, by the name of the data set."""
    path = places_file()
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {name: from_plain(Place, row, name) for name, row in rows.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"{path} cannot be read ({reason})", "mend its permissions") from None
    except (ValueError, AttributeError, SettingError):
        raise InputError(f"{path} is damaged", "delete it and add your data sets again") from None


def add_place(name: str, place: Place) -> None:
    """Note where a data set lies; what another process adds meanwhile is not lost."""
    with _lock_places():
        _write_places({**read_places(), name: place})


def remove_place(name: str) -> bool:
    """Forget where a data set lies; false where nothing was known."""
    with _lock_places():
        places = read_places()
        known = places.pop(name, None) is not None
        if known:
            _write_places(places)
    return known


def places_file() -> Path:
    """File that holds the places."""
    return data_home() / "datasets.json"


def _write_places(places: Mapping[str, Place]) -> None:
    rows = {name: asdict(place) for name, place in sorted(places.items())}
    write_json(places_file(), rows, indent=2)


@contextmanager
def _lock_places() -> Iterator[None]:
    """Let one process at a time change the file; the system frees the lock of a dead one."""
    path = places_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with lock_file(path.with_name(f".{path.name}.lock")):
            yield
    except OSError as error:
        reason = error.strerror or error
        raise UserError(
            f"{path} cannot be written ({reason})", "set FABULA_HOME to another folder"
        ) from error
