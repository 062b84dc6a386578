"""Other processes of this machine."""

from __future__ import annotations

import os
import sys


def is_alive(pid: int) -> bool:
    """Whether a process of that number runs; where that cannot be told, it is taken to."""
    if sys.platform == "win32":
        # Signal 0 would end the process there.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
