"""Checks of figures we claim to reproduce, one kind a file; `fabula verify` runs them all."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

from fabula.scoring.checks._finding import Finding


def run_checks(data: Path | None) -> Iterator[Finding]:
    """Run every check; what `data` does not hold is said not to be checked here."""
    for _, name, _ in pkgutil.iter_modules(__path__):
        if not name.startswith("_"):
            yield from importlib.import_module(f"{__name__}.{name}").findings(data)
