"""How fast a server may be asked: requests and tokens a minute, and a pause when it says so.

Every question gets a time at which it may be asked (the generic cell rate algorithm), so that those
who wait do not race. A server that is busy holds all of them up, not the one that it told. What it
says is left of its limits is spread over the time until they are whole again. Where nobody says how
many requests it takes, that is learned when it turns one away: as many as it took until then, and a
little more from there on.
"""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Event, Lock
from typing import Any

from fabula.models.servers.limits import RoomLeft

# A second's worth may be asked at once: threads that wake late make up for it.
_BURST_S = 1.0
_FIRST_HOLD_S = 0.5
# A limit is learned from what was answered in so long; it shrinks by a factor when one is turned
# away, at most once a second, and grows by a share a second (additive increase, as in TCP).
_LEARNING_S = 10.0
_SHRINKAGE, _SHRINK_EACH_S = 0.8, 1.0
_GROWTH = 0.03
LONGEST_HOLD_S = 60.0
# Limits that last longer are those of a day: nobody spreads questions over it.
_LONGEST_ROOM_S = 120.0


@dataclass(eq=False)
class _Rate:
    """So much a second, with a second's worth in one go."""

    per_second: float
    due_at: float = 0.0
    learned_at: float = math.inf  # when it was last changed; never, if it was told

    def book(self, amount: float, now: float) -> float:
        """Give the time at which that much may go; it is taken."""
        start = max(now, self.due_at - _BURST_S)
        self.due_at = max(self.due_at, now) + amount / self.per_second
        return start

    def grow(self, now: float) -> None:
        """Try a little more than was learned."""
        if now > self.learned_at:
            self.per_second *= (1 + _GROWTH) ** (now - self.learned_at)
            self.learned_at = now

    def give_back(self, amount: float) -> None:
        """Take back what was not needed, or book what was more."""
        self.due_at -= amount / self.per_second


@dataclass(eq=False)
class _Room:
    """What is left until a time, given out evenly.

    Whether a server fills up steadily or all at once then, this takes what it gives: of one that
    fills up steadily, what is left and the time settle where both are spent at the same speed.
    """

    remaining: float
    reset_at: float
    limit: float | None
    taken: float = 0.0
    taken_at: float = -math.inf

    def find_time(self, amount: float, now: float) -> float:
        """Give the time at which that much may go, as far as is known now."""
        if now >= self.reset_at:
            # Whole again, and how long for is told with the next answer.
            self.remaining = math.inf if self.limit is None else self.limit
            self.reset_at = math.inf
        if self.reset_at == math.inf:
            return now
        if self.remaining < max(amount, 1.0):
            return self.reset_at
        if self.taken_at == -math.inf:
            return now
        # Who went last has its share of the time.
        share = self.taken / (self.remaining + self.taken)
        return self.taken_at + share * (self.reset_at - self.taken_at)

    def take(self, amount: float, now: float) -> None:
        """Take that much."""
        self.remaining -= amount
        self.taken, self.taken_at = amount, now


@dataclass(eq=False)
class Pace:
    """Limits of a server, shared by all who ask it; without any, only its pauses count."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    clock: Callable[[], float] = time.monotonic
    _held_until: float = 0.0
    _holds: int = 0
    _asked_at: deque[float] = field(default_factory=deque, repr=False)
    _answered_at: deque[float] = field(default_factory=deque, repr=False)
    _shrunk_at: float = -math.inf
    _rates: dict[str, _Rate] = field(default_factory=dict, repr=False)
    _rooms: dict[str, _Room] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        """Begin with nothing taken."""
        for name, limit in (("requests", self.requests_per_minute),
                            ("tokens", self.tokens_per_minute)):  # fmt: skip
            if limit is not None:
                self._rates[name] = _Rate(limit / 60)

    def wait(self, tokens: int, cancel: Event) -> bool:
        """Wait until a question of so many tokens may be asked; False when it is called off."""
        due_at, booked_in = -math.inf, None
        while not cancel.is_set():
            with self._lock:
                now = self.clock()
                # Who was held up when a limit was learned has to queue up by it.
                if due_at == -math.inf:
                    booked_in, due_at = self._rates.get("requests"), self._book(tokens, now)
                elif booked_in is not (learned := self._rates.get("requests")) and learned:
                    booked_in, due_at = learned, max(due_at, learned.book(1, now))
                amounts = {"requests": 1, "tokens": tokens}
                times = [room.find_time(amounts[name], now) for name, room in self._rooms.items()]
                remaining_s = max(due_at, self._held_until, *times) - now
                if remaining_s <= 0:
                    for name, room in self._rooms.items():
                        room.take(amounts[name], now)
                    _add_time(self._asked_at, now)
                    return True
            cancel.wait(remaining_s)
        return False

    def _book(self, tokens: int, now: float) -> float:
        for rate in self._rates.values():
            rate.grow(now)
        amounts = {"requests": 1, "tokens": tokens}
        starts = [rate.book(amounts[name], now) for name, rate in self._rates.items()]
        return max(starts, default=now)

    def settle(self, expected: int, needed: int) -> None:
        """Correct what was booked by how many tokens it came to."""
        with self._lock:
            if rate := self._rates.get("tokens"):
                rate.give_back(expected - needed)

    def note_room(self, told: RoomLeft) -> None:
        """Take in what the server says is left, of requests or of tokens."""
        if told.reset_s > _LONGEST_ROOM_S:
            return
        with self._lock:
            now = self.clock()
            if told.counts not in self._rooms and self.requests_per_minute is None:
                self._rates.pop("requests", None)  # a guess from when nobody had told yet
            known = self._rooms.get(told.counts, _Room(0.0, now, None))
            self._rooms[told.counts] = replace(
                known, remaining=told.remaining, reset_at=now + told.reset_s, limit=told.limit
            )

    def hold(self, wait_s: float | None) -> None:
        """Let nobody ask for so long; where the server does not say, longer each time."""
        with self._lock:
            now = self.clock()
            is_held = now < self._held_until
            if is_held and wait_s is None:
                return  # of questions that were on their way when the first was turned away
            if self.requests_per_minute is None and now - self._shrunk_at > _SHRINK_EACH_S:
                self._learn(now)
            if wait_s is None:
                wait_s = draw_wait(_FIRST_HOLD_S, self._holds)
                self._holds += 1
            self._held_until = max(self._held_until, now + min(wait_s, LONGEST_HOLD_S))

    def _learn(self, now: float) -> None:
        """Ask for less than was asked for until now, but for no less than was answered."""
        learned = self._rates.get("requests")
        asked = learned.per_second if learned else _measure(self._asked_at, now)
        per_second = max(asked * _SHRINKAGE, _measure(self._answered_at, now))
        self._rates["requests"] = _Rate(per_second, now + _BURST_S, now)
        self._shrunk_at = now

    def go_on(self) -> None:
        """Take in that a question was answered: the next pause is short again."""
        with self._lock:
            self._holds = 0
            _add_time(self._answered_at, self.clock())


def _add_time(times: deque[float], now: float) -> None:
    times.append(now)
    while now - times[0] > _LEARNING_S:
        times.popleft()


def _measure(times: deque[float], now: float) -> float:
    """How many there were a second, of late."""
    recent = [at for at in times if now - at <= _LEARNING_S]
    return max(len(recent), 1) / max(now - recent[0], 1.0) if recent else 1.0


def draw_wait(first_s: float, tries: int) -> float:
    """Seconds before the next try: twice as long each time, between half of it and all by chance.

    Chance keeps those who failed together from trying together.
    """
    return float(min(first_s * 2**tries, LONGEST_HOLD_S) * random.uniform(0.5, 1.0))
