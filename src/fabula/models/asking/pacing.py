"""How fast a server may be asked: requests and tokens a minute, and a pause when it says so.

Every question gets a time at which it may be asked (the generic cell rate algorithm), so that those
who wait do not race. A server that is busy holds all of them up, not the one that it told.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any

# A second's worth may be asked at once: threads that wake late make up for it.
_BURST_S = 1.0
_FIRST_HOLD_S = 0.5
LONGEST_HOLD_S = 60.0


@dataclass(eq=False)
class _Rate:
    """So much a second, with a second's worth in one go."""

    per_second: float
    due_at: float = 0.0

    def book(self, amount: float, now: float) -> float:
        """Give the time at which that much may go; it is taken."""
        start = max(now, self.due_at - _BURST_S)
        self.due_at = max(self.due_at, now) + amount / self.per_second
        return start

    def give_back(self, amount: float) -> None:
        """Take back what was not needed, or book what was more."""
        self.due_at -= amount / self.per_second


@dataclass(eq=False)
class Pace:
    """Limits of a server, shared by all who ask it; without any, only its pauses count."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    clock: Callable[[], float] = time.monotonic
    _held_until: float = 0.0
    _holds: int = 0
    _rates: dict[str, _Rate] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        """Begin with nothing taken."""
        for name, limit in (("requests", self.requests_per_minute),
                            ("tokens", self.tokens_per_minute)):  # fmt: skip
            if limit is not None:
                self._rates[name] = _Rate(limit / 60)

    def wait(self, tokens: int, cancel: Event) -> bool:
        """Wait until a question of so many tokens may be asked; False when it is called off."""
        with self._lock:
            now = self.clock()
            amounts = {"requests": 1, "tokens": tokens}
            starts = [rate.book(amounts[name], now) for name, rate in self._rates.items()]
            due_at = max(starts, default=now)
        while not cancel.is_set():
            remaining_s = max(due_at, self._held_until) - self.clock()
            if remaining_s <= 0:
                return True
            cancel.wait(remaining_s)
        return False

    def settle(self, expected: int, needed: int) -> None:
        """Correct what was booked by how many tokens it came to."""
        with self._lock:
            if rate := self._rates.get("tokens"):
                rate.give_back(expected - needed)

    def hold(self, wait_s: float | None) -> None:
        """Let nobody ask for so long; where the server does not say, longer each time."""
        with self._lock:
            now = self.clock()
            if now < self._held_until and wait_s is None:
                return  # of questions that were on their way when the first was turned away
            if wait_s is None:
                wait_s = draw_wait(_FIRST_HOLD_S, self._holds)
                self._holds += 1
            self._held_until = max(self._held_until, now + min(wait_s, LONGEST_HOLD_S))

    def go_on(self) -> None:
        """Take in that a question was answered: the next pause is short again."""
        self._holds = 0


def draw_wait(first_s: float, tries: int) -> float:
    """Seconds before the next try: twice as long each time, between half of it and all by chance.

    Chance keeps those who failed together from trying together.
    """
    return float(min(first_s * 2**tries, LONGEST_HOLD_S) * random.uniform(0.5, 1.0))
