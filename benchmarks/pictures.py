"""Seconds a picture: reading it, finding ten regions, and encoding their crops.

    python benchmarks/pictures.py [FOLDER]

Pictures of the folder, else some that are drawn here. Two threads, unless FABULA_THREADS says
otherwise. The load of the machine is printed beside: with other work on it, the seconds of the
processor say more than those of the clock.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("FABULA_THREADS", "2")

from fabula.models import PictureReader, crop, load_model

MOST = 60
SIDES = (1280, 960)
ENDINGS = {".jpg", ".jpeg", ".png", ".webp"}


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else draw(Path(scratch))
        files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in ENDINGS)
        measure(files[:MOST])


def measure(files: list[Path]) -> None:
    reader = PictureReader()
    detector: Any = load_model("embedded('ssd_mobilenet')")
    encoder: Any = load_model("embedded('mobilenet_v2')")
    # Weights load when they are needed; what is measured is what comes after.
    warm = reader.read(files[0])
    detector.detect([warm])
    encoder.encode([warm.pixels])
    rows: dict[str, list[tuple[float, float]]] = {"read": [], "detect": [], "encode": []}
    crops = 0
    for file in files[1:]:
        picture = timed(rows["read"], lambda file=file: reader.read(file))
        [found] = timed(rows["detect"], lambda picture=picture: detector.detect([picture]))
        cut = [crop(picture, region.box) for region in found]
        timed(rows["encode"], lambda cut=cut: encoder.encode(cut))
        crops += len(cut)
    count, threads = len(files) - 1, os.environ["FABULA_THREADS"]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"{count} pictures, {crops / count:.1f} regions each, {threads} threads,")
    print(f"load {load:.1f} on {os.cpu_count()} cores; {encoder.signature}")
    for name, times in rows.items():
        print(f"{name:8} {show(times)}")
    whole = [
        tuple(map(sum, zip(*parts, strict=True))) for parts in zip(*rows.values(), strict=True)
    ]
    print(f"{'all':8} {show(whole)}")  # type: ignore[arg-type]


def timed(into: list[tuple[float, float]], work: Callable[[], Any]) -> Any:
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    into.append((time.perf_counter() - clock, time.process_time() - processor))
    return result


def show(times: list[tuple[float, float]]) -> str:
    clock, processor = (statistics.median(column) for column in zip(*times, strict=True))
    return f"{clock:.3f} s by the clock, {processor:.3f} s of the processor (median a picture)"


def draw(folder: Path) -> Path:
    """Draw pictures of patches, which give the detector as much to do as any."""
    from PIL import Image

    chance = np.random.default_rng(1)
    for number in range(21):
        patches = chance.integers(0, 256, (12, 16, 3), dtype=np.uint8)
        image = Image.fromarray(patches).resize(SIDES, Image.Resampling.BICUBIC)
        image.save(folder / f"{number}.jpg", quality=90)
    return folder


if __name__ == "__main__":
    main()
