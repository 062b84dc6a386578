"""What a model runs on: no more threads than there are cores, no precision that kills."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import PackageMissing, SettingError
from fabula.models import _runtime
from fabula.models._runtime import (
    core_count,
    limit_threads,
    one_thread,
    require_precision,
    runs_precision,
    thread_limit,
)
from fabula.models.huggingface import load
from fabula.models.networks.bert import load_bert
from fakes.tiny_models import save_bert


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


DIES = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"


@pytest.fixture
def untried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No precision has been tried yet, in this process or another."""
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    _runtime.runs_precision.cache_clear()
    yield tmp_path / "cache" / "precisions-v1"
    _runtime.runs_precision.cache_clear()


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
def test_a_precision_that_kills_is_refused_in_one_line(
    untried: Path, monkeypatch: pytest.MonkeyPatch, dtype: str
) -> None:
    monkeypatch.setattr(_runtime, "_PROBE", DIES)
    with pytest.raises(SettingError, match=f"dtype='{dtype}' does not run on this proc.*; leave"):
        require_precision(dtype)


def test_no_weights_are_read_in_a_precision_that_kills(
    untried: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_runtime, "_PROBE", DIES)
    folder = save_bert(tmp_path / "bert")
    with pytest.raises(SettingError, match="dtype='bf16' does not run"):
        load_bert(folder, dtype="bf16")
    model: Any = load(str(folder), dtype="fp16", device="cpu")
    with pytest.raises(SettingError, match="dtype='fp16' does not run"):
        model.vectors(["Once."])


@pytest.mark.parametrize(("probe", "runs"), [("", True), (DIES, False), ("1 / 0", False)])
def test_a_precision_is_tried_once_and_remembered(
    untried: Path, monkeypatch: pytest.MonkeyPatch, probe: str, runs: bool
) -> None:
    monkeypatch.setattr(_runtime, "_PROBE", probe)
    assert runs_precision("bf16") is runs
    monkeypatch.setattr(_runtime, "_try_precision", None)
    assert runs_precision("bf16") is runs
    _runtime.runs_precision.cache_clear()
    assert runs_precision("bf16") is runs
    assert len(list(untried.iterdir())) == 1


def test_another_processor_or_precision_is_tried_again(
    untried: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_runtime, "_PROBE", DIES)
    assert not runs_precision("bf16")
    monkeypatch.setattr(_runtime, "_PROBE", "")
    assert runs_precision("fp16")
    (tmp_path / "cpuinfo").write_text("model name : another\n")
    monkeypatch.setattr(_runtime, "_PROCESSOR", tmp_path / "cpuinfo")
    _runtime.runs_precision.cache_clear()
    assert runs_precision("bf16")


def test_a_child_that_was_ended_from_outside_is_not_remembered(
    untried: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_runtime, "_PROBE", DIES.replace("SIGILL", "SIGKILL"))
    assert not runs_precision("bf16")
    assert not untried.exists()


def test_full_precision_needs_no_trial(untried: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_runtime, "_try_precision", None)
    require_precision("fp32")


def test_the_trial_itself_runs_in_full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    probe = _runtime._PROBE.replace('"bf16": torch.bfloat16', '"fp32": torch.float32')
    monkeypatch.setattr(_runtime, "_PROBE", probe)
    assert _runtime._try_precision("fp32") is True


def test_one_thread_is_kept_to_and_the_others_come_back():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    with pytest.raises(ValueError, match="stop"), one_thread():
        assert torch.get_num_threads() == 1
        raise ValueError("stop")
    assert torch.get_num_threads() == before
