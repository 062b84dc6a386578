from __future__ import annotations

from multiprocessing.synchronize import Barrier
from pathlib import Path

from fabula.core.score import Reading
from fabula.scoring.cache import ScoreCache


def put_hundred(path: Path, first: int, start: Barrier) -> None:
    """Put a hundred readings from `first` on, and one that everybody puts, one by one."""
    start.wait()
    with ScoreCache(path) as store:
        for number in range(first, first + 100):
            own = number.to_bytes(20, "big")
            store.put({own: Reading((float(number),)), bytes(20): Reading((0.0,))})
