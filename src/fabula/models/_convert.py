"""What is made of an asset's files when it is pulled, so that nothing slow is left for later."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from fabula.core.errors import PackageMissing
from fabula.models._asset import Asset, WheelPlace
from fabula.models._gguf import convert_gguf

Report = Callable[[str], None]
BEAT_S = 5.0


@dataclass(frozen=True)
class Conversion:
    """How files become others: `run(source, target, say)`, with packages of an extra."""

    run: Callable[[Path, Path, Report], None]
    packages: tuple[str, ...]
    extra: str


def missing_package(wanted: Asset) -> PackageMissing | None:
    """Name a package that pulling the asset needs and that is not installed."""
    needs = [(package, "tables") for package in ("pyarrow",) if _has_columns(wanted)]
    if wanted.convert:
        needs += [(name, _of(wanted).extra) for name in _of(wanted).packages]
    absent = [PackageMissing(name, extra) for name, extra in needs if find_spec(name) is None]
    return absent[0] if absent else None


def convert(wanted: Asset, source: Path, target: Path, *, report: Report) -> dict[str, str]:
    """Fill the folder `target` with what is made of `source`; give the packages it was made with.

    Files that the conversion does not read, such as a licence, are taken over.
    """
    if missing := missing_package(wanted):
        raise missing
    if shutil.disk_usage(target).free < wanted.converted_size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    conversion = _of(wanted)
    with _beating(lambda seconds: report(f"{wanted.name}: still converting, {seconds} s")):
        conversion.run(source, target, lambda step: report(f"{wanted.name}: converting, {step}"))
    for path in target.rglob("*"):
        # safetensors lets only the owner read what it writes; a store may be shared.
        path.chmod(path.stat().st_mode | 0o444)
    return {name: version(name) for name in conversion.packages}


@contextmanager
def _beating(report: Callable[[int], None]) -> Iterator[None]:
    """Report the seconds gone by, every few of them."""
    began, is_done = time.monotonic(), threading.Event()

    def beat() -> None:
        while not is_done.wait(BEAT_S):
            report(round(time.monotonic() - began))

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join()


def _has_columns(wanted: Asset) -> bool:
    wheels = [place for place in wanted.places if isinstance(place, WheelPlace)]
    return any(member.column for place in wheels for member in place.members)


def _of(wanted: Asset) -> Conversion:
    return CONVERSIONS[wanted.convert]


CONVERSIONS: Mapping[str, Conversion] = {
    "gguf": Conversion(
        run=convert_gguf,
        packages=("torch", "transformers", "tokenizers", "safetensors", "gguf", "accelerate"),
        extra="models",
    ),
}
