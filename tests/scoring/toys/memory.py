"""Score a file with the command line; then say on stderr how much memory and time it took."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

from fabula.cli import cli


def peak_mib() -> float:
    """Peak of this process's own memory.

    Not `getrusage`: its peak is never below the memory of the process that started this one.
    """
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024


if __name__ == "__main__":
    began = time.monotonic()
    cli(sys.argv[1:], prog_name="fabula", standalone_mode=False)
    sys.stderr.write(f"{peak_mib()} {time.monotonic() - began}\n")
