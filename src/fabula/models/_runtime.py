"""What models run on: packages of the extra `models`, threads, and precisions of the processor."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from fabula.core.errors import PackageMissing, SettingError


def package(name: str) -> Any:
    """Import a package of the extra `models`; one that is absent is the user's to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise PackageMissing(name, "models") from None


_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def thread_limit(workers: int | None = None) -> int:
    """Threads for one of several processes: `FABULA_THREADS`, else its share of the cores.

    A worker process that does not know how many there are gets one thread.
    """
    cores = core_count()
    if (asked := _asked()) is not None:
        return min(asked, cores)
    if workers is None:
        import multiprocessing

        return cores if multiprocessing.parent_process() is None else 1
    return max(cores // max(workers, 1), 1)


def limit_threads(workers: int | None = None) -> int:
    """Tell torch how many threads to use; what the user set lower already stays."""
    torch = package("torch")
    limit = thread_limit(workers)
    count = limit if _asked() is not None else min(limit, torch.get_num_threads())
    if count != torch.get_num_threads():
        torch.set_num_threads(count)
    return count


def core_count() -> int:
    """Cores that this process may use, a container's quota included."""
    known = getattr(os, "sched_getaffinity", None)
    cores = len(known(0)) if known else os.cpu_count() or 1
    return max(min(cores, _quota() or cores), 1)


def _quota() -> int | None:
    """Whole cores that a container may use up, if it is bounded at all."""
    try:
        allowed, period = _QUOTA.read_text(encoding="ascii").split()
        return int(allowed) // int(period)
    except (OSError, ValueError):
        return None


def _asked() -> int | None:
    value = os.environ.get("FABULA_THREADS", "")
    if not value:
        return None
    if not value.isdecimal() or int(value) < 1:
        raise SettingError(f"FABULA_THREADS={value!r} will not do", "give a whole number above 0")
    return int(value)
