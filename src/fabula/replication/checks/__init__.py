"""Checks of figures we claim to reproduce; `fabula verify` runs them all.

A check is a function `check_NAME(data)` of a module here that gives what it found; adding one is
writing it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fabula.core.errors import UnknownName, closest
from fabula.core.protocols import watch
from fabula.replication.checks._result import CheckResult, verified_page

__all__ = ["CheckResult", "find_checks", "run_checks", "verified_page"]
Check = Callable[[Path | None], Iterator[CheckResult]]


def find_checks() -> dict[str, Check]:
    """Give every check by its name, in the order of names."""
    checks: dict[str, Check] = {}
    for _, module, _ in pkgutil.iter_modules(__path__):
        if not module.startswith("_"):
            members = vars(importlib.import_module(f"{__name__}.{module}"))
            checks |= {
                name.removeprefix("check_"): check
                for name, check in members.items()
                if name.startswith("check_")
            }
    return dict(sorted(checks.items()))


def run_checks(data: Path | None, only: Sequence[str] = ()) -> Iterator[CheckResult]:
    """Run every check, or those whose names begin with one of `only`.

    What `data` does not hold is said not to be checked here.
    """
    checks = find_checks()
    for wanted in only:
        if not any(name.startswith(wanted) for name in checks):
            raise UnknownName(f"no check is called {wanted!r}", closest(wanted, checks))
    for name, check in checks.items():
        if not only or name.startswith(tuple(only)):
            watch.get().tell(f"checking {name}")
            yield from check(data)
