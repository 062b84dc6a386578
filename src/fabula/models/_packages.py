"""Packages of the extra `models`, loaded when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from fabula.core.errors import PackageMissing


def package(name: str) -> Any:
    """Import a package of the extra `models`; one that is absent is the user's to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise PackageMissing(name, "models") from None
