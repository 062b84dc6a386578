"""A run at an address, as a folder of this machine for as long as somebody reads it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import Any

from fabula.core.addresses import Place, drop_scheme, fetch_file, is_address, open_place
from fabula.core.errors import InputError
from fabula.core.protocols import watch
from fabula.core.story import count_text
from fabula.scoring.folder import RUN

_FETCHED_AT_ONCE = 8


@contextmanager
def fetch_run(name: str) -> Iterator[Path]:
    """Give the folder of a run: itself, or a copy of one at an address, which goes afterwards."""
    plain = drop_scheme(name)
    if not is_address(plain):
        yield Path(plain)
        return
    place = open_place(plain)
    names = [RUN, *_list_files(place)]
    home = Path(mkdtemp(prefix="fabula-"))
    try:
        # Pages and provenance call a run by its folder.
        folder = home / (place.name.rpartition("/")[2] or "run")
        doing = f"copying {count_text(len(names), 'file')} of {place.name}"
        with watch.get().during(doing), ThreadPoolExecutor(_FETCHED_AT_ONCE) as pool:
            for _ in pool.map(lambda name: _fetch(place, name, folder), names):
                pass
        yield folder
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _list_files(place: Place) -> list[str]:
    """Give the names of the files that a run's record speaks of, right below its folder."""
    remedy = (
        "name what was given to score as -o; one that is not finished goes on with that command"
    )
    try:
        record: Any = json.loads(place.read(RUN))
        names = [str(name) for name in record["files"]]
    except FileNotFoundError:
        raise InputError(f"{place.name} holds no finished run", remedy) from None
    except (ValueError, RecursionError, KeyError, TypeError):
        raise InputError(f"{place.name}/{RUN} is not the record of a run", remedy) from None
    for name in names:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise InputError(f"{place.name}/{RUN} names {name!r}, outside of its run", remedy)
    return names


def _fetch(place: Place, name: str, folder: Path) -> None:
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with fetch_file(f"{place.name}/{name}") as copy:
        shutil.move(copy, target)
