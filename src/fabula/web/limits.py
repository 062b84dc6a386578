"""How often: token buckets, in memory, a process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from fabula.core.errors import UserError
from fabula.web.settings import Rate

# More addresses than this are not remembered; the one not seen for longest is forgotten first.
_MOST_KEYS = 20_000


class TooMany(UserError):
    """More requests than one may send; `wait_s` later it will do."""

    def __init__(self, wait_s: float) -> None:
        super().__init__("too many requests", f"try again in {max(1, round(wait_s))} s")
        self.wait_s = wait_s


class Buckets:
    """A bucket of tokens for everyone who comes: each request takes one, time brings them back."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = rate.count
        self._per_s = rate.count / rate.seconds
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: str) -> None:
        """Take a token out of somebody's bucket, or refuse."""
        if not self._most:
            return
        now = self._clock()
        with self._lock:
            level, then = self._levels.pop(key, (self._most, now))
            level = min(self._most, level + (now - then) * self._per_s)
            is_enough = level >= 1
            self._levels[key] = (level - is_enough, now)
            if len(self._levels) > _MOST_KEYS:
                self._levels.popitem(last=False)
        if not is_enough:
            raise TooMany((1 - level) / self._per_s)
