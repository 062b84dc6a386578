"""Checks of figures we claim to reproduce, one kind a file; `fabula verify` runs them all."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabula.core.errors import UnknownName, closest
from fabula.replication.checks._finding import Finding


def check_names() -> list[str]:
    """Name the checks, one a file."""
    names = (name for _, name, _ in pkgutil.iter_modules(__path__))
    return [name for name in names if not name.startswith("_")]


def run_checks(data: Path | None, only: Sequence[str] = ()) -> Iterator[Finding]:
    """Run every check, or those whose names begin with one of `only`.

    What `data` does not hold is said not to be checked here.
    """
    names = check_names()
    for one in only:
        if not any(name.startswith(one) for name in names):
            raise UnknownName(f"no check is called {one!r}", closest(one, names))
    for name in names:
        if not only or name.startswith(tuple(only)):
            yield from importlib.import_module(f"{__name__}.{name}").findings(data)
