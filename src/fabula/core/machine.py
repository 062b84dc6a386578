"""This machine: variables of its environment and its other processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def switch_on(*names: str) -> Iterator[None]:
    """Set variables of the environment to 1 for a while; afterwards they are as they were."""
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


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
