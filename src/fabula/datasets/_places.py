"""Where data sets lie on this machine, as the user once told us."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from fabula.core.errors import InputError, UserError
from fabula.core.places import data_home


@dataclass(frozen=True)
class Place:
    """Where a data set lies and, for a table of one's own, how to read it."""

    path: str
    gold: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    lower: tuple[str, ...] = ()


def places_file() -> Path:
    """File that holds the places."""
    return data_home() / "datasets.json"


def places() -> dict[str, Place]:
    """All places, by the name of the data set."""
    path = places_file()
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {name: _place(one) for name, one in found.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"{path} cannot be read ({reason})", "mend its permissions") from None
    except (ValueError, TypeError, AttributeError, KeyError):
        raise InputError(f"{path} is damaged", "delete it and add your data sets again") from None


def remember(name: str, place: Place) -> None:
    """Keep where a data set lies; what another process adds meanwhile is not lost."""
    with _locked():
        _write({**places(), name: place})


def forget(name: str) -> bool:
    """Forget where a data set lies; false where nothing was known."""
    with _locked():
        found = places()
        known = found.pop(name, None) is not None
        if known:
            _write(found)
    return known


def _place(one: dict[str, Any]) -> Place:
    columns = {str(role): str(name) for role, name in one.get("columns", {}).items()}
    return Place(str(one["path"]), tuple(one.get("gold", ())), columns, tuple(one.get("lower", ())))


def _write(found: Mapping[str, Place]) -> None:
    path = places_file()
    rows = {name: asdict(place) for name, place in sorted(found.items())}
    handle, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=2, ensure_ascii=False)
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


@contextmanager
def _locked() -> Iterator[None]:
    """Let one process at a time change the file; the system frees the lock of a dead one."""
    path = places_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_name(f".{path.name}.lock").open("w") as lock:
            _take(lock)
            yield
    except OSError as error:
        reason = error.strerror or error
        raise UserError(
            f"{path} cannot be written ({reason})", "set FABULA_HOME to another folder"
        ) from error


def _take(lock: IO[str]) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
