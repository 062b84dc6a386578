"""The report of HANNA's study by the real command, made once for all tests that look at it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-c", "from fabula.cli import main; main()")
_WAIT_S = 240


@dataclass(frozen=True)
class Ran:
    """What the command said, and where its report lies."""

    folder: Path
    stdout: str
    stderr: str


def hanna_study(shared: Path, factory: pytest.TempPathFactory) -> Ran:
    """Run the study; who comes first does, and all others wait for it."""
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    place = root / "hanna-study"
    try:
        place.mkdir()
    except FileExistsError:
        return _awaited(place)
    return _run(shared, place)


def _run(shared: Path, place: Path) -> Ran:
    words = ("study", "run", "studies/hanna.toml", "--data", shared, "-o", place / "report")
    done = subprocess.run(
        [*COMMAND, *map(str, words)],
        cwd=REPO,
        env=os.environ
        | {"FABULA_HOME": str(place / "home"), "NO_COLOR": "1", "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (place / "stderr").write_text(done.stderr, encoding="utf-8")
    (place / "stdout.new").write_text(done.stdout, encoding="utf-8")
    (place / "stdout.new").rename(place / "stdout")
    return Ran(place / "report", done.stdout, done.stderr)


def _awaited(place: Path) -> Ran:
    end = time.monotonic() + _WAIT_S
    while not (place / "stdout").exists():
        assert time.monotonic() < end, "another worker did not finish HANNA's study"
        time.sleep(0.2)
    said = ((place / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
    return Ran(place / "report", *said)
