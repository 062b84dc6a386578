from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.files import cache_home, data_home


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable set, and a home folder that is known."""
    for variable in ("FABULA_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", "/home/ann")


def test_without_variables_the_users_usual_folders_are_used() -> None:
    assert data_home() == Path("/home/ann/.local/share/fabula")
    assert cache_home() == Path("/home/ann/.cache/fabula")


def test_xdg_folders_come_before_the_usual_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert data_home() == Path("/data/fabula")
    assert cache_home() == Path("/home/ann/.cache/fabula")


def test_fabula_home_comes_before_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.setenv("FABULA_HOME", "~/tales")
    assert data_home() == Path("/home/ann/tales")
    assert cache_home() == Path("/home/ann/tales/cache")
