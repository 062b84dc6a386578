"""Threads of a model: never more than there are cores for it."""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

import pytest

from fabula.core.errors import PackageMissing, SettingError
from fabula.models import _runtime
from fabula.models._runtime import core_count, limit_threads, thread_limit


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FABULA_THREADS", raising=False)
    monkeypatch.setattr(_runtime, "core_count", lambda: 8)


@pytest.mark.parametrize(("workers", "threads"), [(1, 8), (2, 4), (3, 2), (8, 1), (20, 1)])
def test_workers_share_the_cores(workers: int, threads: int) -> None:
    assert thread_limit(workers) == threads


def test_the_user_decides_but_never_over_the_number_of_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FABULA_THREADS", "3")
    assert thread_limit(8) == 3
    monkeypatch.setenv("FABULA_THREADS", "99")
    assert thread_limit() == 8


def test_a_worker_that_does_not_know_how_many_there_are_takes_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert thread_limit() == 8
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    assert thread_limit() == 1


@pytest.mark.parametrize("value", ["0", "-1", "all"])
def test_what_is_no_number_of_threads_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("FABULA_THREADS", value)
    with pytest.raises(SettingError, match="FABULA_THREADS"):
        thread_limit()


@pytest.mark.parametrize(("quota", "cores"), [("150000 100000\n", 1), ("max 100000\n", None)])
def test_a_container_s_quota_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, cores: int | None
) -> None:
    without = core_count()
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    monkeypatch.setattr(_runtime, "_QUOTA", file)
    assert core_count() == (cores or without)


def test_torch_is_told_and_a_lower_number_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert limit_threads(8) == torch.get_num_threads() == 1
        assert limit_threads(1) == torch.get_num_threads() == 1
        monkeypatch.setenv("FABULA_THREADS", "2")
        assert limit_threads() == torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_without_torch_the_one_command_that_gets_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(PackageMissing, match="torch is not installed"):
        limit_threads()
