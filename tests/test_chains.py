"""Following a command must not take more files than a reader can hold in mind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "chains.py"


@pytest.mark.assets
@pytest.mark.slow
def test_no_daily_command_passes_through_more_files_than_it_may():
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" files (at most ") == 5
