"""A home of its own for every test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fabula.models import _load
from fakes.factories import forget_assets


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty `FABULA_HOME`, so that nobody's own cache is touched."""
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    forget_assets()
    yield tmp_path / "home"
    forget_assets()


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which nothing was pulled or added."""
    for variable in ("FABULA_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.delenv("FABULA_ASSETS", raising=False)
    monkeypatch.setattr(_load, "_loaded", {})
    return tmp_path
