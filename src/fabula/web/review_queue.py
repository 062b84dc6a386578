"""Who waits for the reader: one story at a time is read, in a process beside this one.

The child is started when the first story comes, keeps its models, and ends after some idle
minutes or with this process. A crash or a story that takes too long ends the child and not its
parent: who waited for it is told, and the next one gets a fresh child.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field

from fabula.core.children import Child, ChildLost
from fabula.core.errors import Conflict, NoCapacity
from fabula.web.review_reader import Event, ReadingOrder, serve_reader

_log = logging.getLogger("fabula.web")
_LOOK_EVERY_S = 0.1
_ALIVE_EVERY_S = 10.0


@dataclass(frozen=True)
class QueuePace:
    """How many may wait, and for how long; seconds but for `most`, which counts the one that is
    read. `grace_s` is what the reader has to obey once nobody waits for what it reads."""

    most: int = 6
    within_s: float = 300.0
    idle_s: float = 600.0
    grace_s: float = 3.0


@dataclass(eq=False)
class Turn:
    """A place in the line; events come to who waits through the loop that they wait in."""

    who: str
    order: ReadingOrder
    is_given_up: bool = False
    events: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def tell(self, event: Event | None) -> None:
        """Pass an event on; None is the last."""
        # A loop that is closed has nobody in it.
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.events.put_nowait, event)


class ReviewQueue:
    """The line of a web process, and the thread that takes one after the other to the reader."""

    def __init__(self, pace: QueuePace | None = None) -> None:
        self.pace = pace or QueuePace()
        self.child: Child | None = None
        self._line: list[Turn] = []
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_over = False

    async def read(self, who: str, order: ReadingOrder) -> AsyncIterator[Event]:
        """Wait in line, and give the events of a review as they come; who stops listening gives
        up the place. What hinders is said before anything is given."""
        turn = Turn(who, order)
        self._enter(turn)
        return self._follow(turn)

    def end(self) -> None:
        """Let nobody wait any more, and end the child."""
        with self._changed:
            self._is_over = True
            for turn in self._line:
                turn.is_given_up = True
            self._changed.notify()
            thread = self._thread
        if thread is not None:
            thread.join(2 * self.pace.grace_s)

    def _enter(self, turn: Turn) -> None:
        with self._changed:
            waiting = [other for other in self._line if not other.is_given_up]
            if any(other.who == turn.who for other in waiting):
                raise Conflict("a story of yours is being read", "wait for it, or stop it")
            if len(waiting) >= self.pace.most or self._is_over:
                raise NoCapacity("many stories wait to be read", "try again in a minute")
            self._line.append(turn)
            turn.tell({"event": "state", "state": "waiting", "ahead": len(waiting)})
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
            self._changed.notify()

    async def _follow(self, turn: Turn) -> AsyncIterator[Event]:
        try:
            while True:
                try:
                    event = await asyncio.wait_for(turn.events.get(), _ALIVE_EVERY_S)
                except TimeoutError:
                    # Proxies close what is silent for long, and a reader who left is noticed.
                    event = {"event": "alive"}
                if event is None:
                    return
                yield event
        finally:
            with self._changed:
                turn.is_given_up = True

    def _run(self) -> None:
        while turn := self._next():
            try:
                self._serve(turn)
            finally:
                with self._changed:
                    self._line.remove(turn)
                    waiting = [other for other in self._line if not other.is_given_up]
                turn.tell(None)
                for ahead, other in enumerate(waiting):
                    other.tell({"event": "state", "state": "waiting", "ahead": ahead})

    def _next(self) -> Turn | None:
        """Give the first in line who still waits; after some idle minutes there is none."""
        with self._changed:
            while True:
                self._line = [turn for turn in self._line if not turn.is_given_up]
                if self._line:
                    return self._line[0]
                if self._is_over or not self._changed.wait(self.pace.idle_s):
                    self._thread, child, self.child = None, self.child, None
                    break
        if child is not None:
            child.stop()
        return None

    def _serve(self, turn: Turn) -> None:
        try:
            child = self._need_child(turn)
            child.send("read", turn.order)
            self._pass_on(child, turn)
        except ChildLost as lost:
            self.child = None
            _log.error("the reader: %s", lost)
            self._apologise(
                turn, "the reader broke down over this text", "try again, or shorten it"
            )

    def _need_child(self, turn: Turn) -> Child:
        if self.child is None or not self.child.is_alive:
            turn.tell({"event": "state", "state": "starting"})
            self.child = Child(serve_reader, name="reader")
        return self.child

    def _pass_on(self, child: Child, turn: Turn) -> None:
        """Pass on what the reader says until it rests, or the time is spent."""
        until = time.monotonic() + self.pace.within_s
        is_told = False
        while True:
            for kind, value in child.receive(_LOOK_EVERY_S):
                if kind == "rested":
                    return
                turn.tell(value[1])
            if turn.is_given_up and not is_told:
                is_told = True
                child.send("cancel", turn.order.id)
                until = min(until, time.monotonic() + self.pace.grace_s)
            if time.monotonic() > until:
                self.child = None
                child.kill()
                seconds = f"{self.pace.within_s:.0f} s"
                self._apologise(turn, f"the review took longer than {seconds}", "give a part of it")
                return

    def _apologise(self, turn: Turn, message: str, remedy: str) -> None:
        turn.tell({"event": "problem", "message": message, "remedy": remedy})
