"""The real command, in a process of its own and with a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

COMMAND = (sys.executable, "-c", "from fabula.cli import main; main()")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which nobody's own cache is touched and nothing is coloured."""
    return os.environ | {
        "FABULA_HOME": str(tmp_path / "home"),
        "NO_COLOR": "1",
        # Those who run tests side by side tell them another width.
        "COLUMNS": "100",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONWARNINGS": "error",
    }


@pytest.fixture
def fabula(
    tmp_path: Path, environment: dict[str, str]
) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs the command in the temporary folder."""

    def run(*words: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*COMMAND, *map(str, words)],
            input=stdin,
            capture_output=True,
            env=environment,
            cwd=tmp_path,
            timeout=60,
            check=False,
        )

    return run
