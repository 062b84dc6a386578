"""Parts of a study report: every public function here makes a section of what a study found.

A study file names a part by its function's name. A part that lacks what it needs gives None.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache

from fabula.core.errors import UnknownName, closest
from fabula.reports.study_blocks import Section
from fabula.reports.study_view import View

Part = Callable[[View], Section | None]
# Parts that speak of scores alone; the others are left out where nobody rated the stories.
WITHOUT_RATINGS = (
    "columns", "means", "published", "references", "order", "example", "classes",
    "between_metrics",
)  # fmt: skip


@cache
def known_parts() -> dict[str, Part]:
    """Find the parts by name in the modules of this package."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in
               pkgutil.iter_modules(__path__)]  # fmt: skip
    return {
        name: function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


def find_part(name: str) -> Part:
    """Give the part of that name."""
    parts = known_parts()
    if name not in parts:
        raise UnknownName(f"no part of a study is called {name!r}", closest(name, parts))
    return parts[name]
