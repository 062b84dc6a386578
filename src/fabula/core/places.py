"""Where Fabula keeps what it has fetched and what it can make again."""

from __future__ import annotations

import os
from pathlib import Path


def data_home() -> Path:
    """Folder of what was fetched: `FABULA_HOME`, else the user's data folder."""
    return _own_home() or _xdg_home("XDG_DATA_HOME", ".local/share")


def cache_home() -> Path:
    """Folder of what can be made again: `FABULA_HOME/cache`, else the user's cache folder."""
    own = _own_home()
    return own / "cache" if own else _xdg_home("XDG_CACHE_HOME", ".cache")


def _own_home() -> Path | None:
    value = os.environ.get("FABULA_HOME", "")
    return Path(value).expanduser().absolute() if value else None


def _xdg_home(variable: str, usual: str) -> Path:
    value = os.environ.get(variable, "")
    # The XDG rules say that a relative path is to be ignored.
    parent = Path(value) if Path(value).is_absolute() else Path.home() / usual
    return parent / "fabula"
