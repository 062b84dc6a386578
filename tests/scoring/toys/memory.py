"""Score a file with the command line; then say on stderr how much memory and time it took."""

from __future__ import annotations

import resource
import sys
import time

from fabula.cli import cli

if __name__ == "__main__":
    began = time.monotonic()
    cli(sys.argv[1:], prog_name="fabula", standalone_mode=False)
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sys.stderr.write(f"{peak_kib / 1024} {time.monotonic() - began}\n")
