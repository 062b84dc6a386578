"""What models run on: packages of the extra `models`, threads, and precisions of the processor."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from fabula.core.errors import InputError, PackageMissing, SettingError, UserError
from fabula.core.files import cache_home, write_json
from fabula.core.protocols import watch

T = TypeVar("T")
R = TypeVar("R")

_QUOTA = Path("/sys/fs/cgroup/cpu.max")
_PROCESSOR = Path("/proc/cpuinfo")
_PROBE_TIMEOUT_S = 300
_LONGEST_REASON = 200
# A child that was ended from outside says nothing about the processor.
_ENDED_FROM_OUTSIDE = tuple(-getattr(signal, name, 0) for name in ("SIGKILL", "SIGTERM", "SIGINT"))
# What an encoder does with its rows: products with and without batches, attention, GELU, norms.
# Few rows and many, since kernels are chosen by size.
_PROBE = """
import sys, torch
if sys.argv[1] == "int8":
    for rows in (1, 24, 512):
        given = torch.ones(rows, 384, dtype=torch.int8)
        made = torch._int_mm(given, torch.ones(384, 1536, dtype=torch.int8))
        assert made.eq(384).all()
    sys.exit()
kind = {"bf16": torch.bfloat16, "fp16": torch.float16}[sys.argv[1]]
layer = torch.nn.Linear(384, 384, dtype=kind)
with torch.inference_mode():
    for rows in (24, 512):
        given = torch.rand(rows, 384).to(kind)
        made = torch.addmm(layer.bias, layer(given), layer.weight)
        split = made.view(1, rows, 12, 32).transpose(1, 2)
        torch.nn.functional.scaled_dot_product_attention(split, split, split)
        torch.bmm(split[0], split[0].transpose(1, 2)).softmax(-1)
        torch.nn.functional.layer_norm(torch.nn.functional.gelu(made), (384,)).float().sum().item()
"""


def package(name: str) -> Any:
    """Import a package of the extra `models`; one that is absent is the user's to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise PackageMissing(name, "models") from None


@contextmanager
def refuse_broken(what: str, remedy: str, *, error: type[UserError] = InputError) -> Iterator[None]:
    """Put into words whatever a package says of files that it cannot read.

    transformers, tokenizers and onnxruntime raise errors of every kind, `Exception` itself among
    them, for files that were cut off or never theirs.
    """
    try:
        yield
    except UserError:
        raise
    except BaseException as failed:
        # A panic of a package written in Rust is no Exception, and has no name to import.
        if not isinstance(failed, Exception) and type(failed).__name__ != "PanicException":
            raise
        reason = (str(failed).strip().splitlines() or [type(failed).__name__])[0]
        raise error(f"{what} cannot be loaded ({reason[:_LONGEST_REASON]})", remedy) from failed


@contextmanager
def silence(transformers: Any) -> Iterator[None]:
    """Keep transformers' progress bars and reports of loading from the user's screen."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def require_precision(dtype: str) -> None:
    """Refuse a reduced precision that this processor, or this torch, cannot compute with."""
    if dtype != "fp32" and not runs_precision(dtype):
        raise SettingError(
            f"dtype={dtype!r} does not run on this processor, whatever it says of itself",
            "leave dtype out, or take a device that knows it",
        )


@cache
def runs_precision(dtype: str) -> bool:
    """Whether this processor computes in a precision: tried once, in a child process.

    torch asks the processor, which may name instructions that a hypervisor then hides; to use one
    of them kills the process. The answer is remembered for the processor and version of torch.
    """
    package("torch")
    processor, torch_version = _describe_processor(), version("torch")
    said = "\0".join((processor, torch_version, dtype)).encode()
    file = cache_home() / "precisions-v1" / f"{hashlib.sha256(said).hexdigest()[:24]}.json"
    with suppress(OSError, ValueError, KeyError, TypeError):
        return bool(json.loads(file.read_bytes())["runs"])
    runs = _try_precision(dtype)
    if runs is not None:
        # Where the cache cannot be written, the next process tries again.
        with suppress(UserError):
            write_json(file, {"dtype": dtype, "torch": torch_version, "runs": runs})
    return bool(runs)


def _try_precision(dtype: str) -> bool | None:
    """Compute in a child process; None where something else ended it, such as want of memory."""
    order = [sys.executable, "-P", "-c", _PROBE, dtype]
    try:
        with watch.get().during(f"trying whether this processor computes in {dtype}"):
            child = subprocess.run(order, capture_output=True, timeout=_PROBE_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return None
    return None if child.returncode in _ENDED_FROM_OUTSIDE else child.returncode == 0


def _describe_processor() -> str:
    """Model and instructions of the first processor, as far as the system tells them."""
    facts = [f"{platform.machine()} {platform.processor()}"]
    with suppress(OSError):
        lines = _PROCESSOR.read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
        wanted = ("model name", "flags", "Features", "CPU part")
        facts += [line for line in lines.splitlines() if line.startswith(wanted)]
    return "\n".join(facts)


def thread_limit(workers: int | None = None) -> int:
    """Threads for one of several processes: `FABULA_THREADS`, else its share of the cores.

    A worker process that does not know how many there are gets one thread.
    """
    cores = core_count()
    if (asked := _read_thread_setting()) is not None:
        return min(asked, cores)
    if workers is None:
        import multiprocessing

        return cores if multiprocessing.parent_process() is None else 1
    return max(cores // max(workers, 1), 1)


def own_device() -> str:
    """Where networks of our own compute: the processor, unless `FABULA_DEVICE` is cuda.

    Their numbers are those of the processor to about 1e-5 then, and no longer to the last bit.
    """
    asked = os.environ.get("FABULA_DEVICE", "cpu")
    if asked not in ("cpu", "cuda"):
        raise SettingError(f"FABULA_DEVICE={asked!r} will not do", "say cpu or cuda")
    if asked == "cuda" and not package("torch").cuda.is_available():
        raise SettingError("FABULA_DEVICE is cuda, and torch sees none here", "leave it out")
    return asked


def map_threads(do: Callable[[T], R], things: Sequence[T]) -> list[R]:
    """Do something with each thing, on as many threads as one may have; results in their order.

    For what leaves Python for long. Small networks take two threads of their own hardly any faster
    than one: those of a runtime wait for each other after every layer, these once at the end.
    """
    threads = min(thread_limit(), len(things))
    if threads < 2:
        return [do(thing) for thing in things]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(do, things))


def limit_threads(workers: int | None = None) -> int:
    """Tell torch how many threads to use; what the user set lower already stays."""
    torch = package("torch")
    limit = thread_limit(workers)
    count = limit if _read_thread_setting() is not None else min(limit, torch.get_num_threads())
    if count != torch.get_num_threads():
        torch.set_num_threads(count)
    return count


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch to one thread: small matrices are waited for longer than they are reckoned."""
    torch = package("torch")
    count = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(count)


def core_count() -> int:
    """Cores that this process may use, a container's quota included."""
    known = getattr(os, "sched_getaffinity", None)
    cores = len(known(0)) if known else os.cpu_count() or 1
    return max(min(cores, _read_quota() or cores), 1)


def _read_quota() -> int | None:
    """Whole cores that a container may use up, if it is bounded at all."""
    try:
        allowed, period = _QUOTA.read_text(encoding="ascii").split()
        return int(allowed) // int(period)
    except (OSError, ValueError):
        return None


def _read_thread_setting() -> int | None:
    value = os.environ.get("FABULA_THREADS", "")
    if not value:
        return None
    if not value.isdecimal() or int(value) < 1:
        raise SettingError(f"FABULA_THREADS={value!r} will not do", "give a whole number above 0")
    return int(value)
