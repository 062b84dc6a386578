"""A crew does calls, one a worker at a time: this process itself, or processes of this machine.

A worker that dies loses what it was at; the call goes to another. A call at which several workers
died is given up, named with its stories, when all the others are done.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Protocol

from fabula.core.errors import UserError
from fabula.models import thread_limit
from fabula.scoring.shards.plan import Plan
from fabula.scoring.shards.worker import Call, Mark, ShardWorker
from fabula.scoring.workers import keep_interrupts_off

# A worker that was ended from outside is no fault of its shard; one that ends ten is.
MOST_DEATHS = 10
_END_WITHIN_S = 5.0


class WorkerLost(Exception):
    """A worker ended before it had done what it was called for."""


class Crew(Protocol):
    """Workers that are given calls and say when they are done."""

    @property
    def free(self) -> int:
        """How many of them have nothing to do."""
        ...

    def give(self, call: Call) -> None:
        """Give a call to a worker that is free."""

    def take(self) -> tuple[Call, Mark | Exception] | None:
        """Wait for the next call that is done, or could not be; or until one more is free."""
        ...

    def close(self) -> None:
        """Let all workers go, whatever they are at; none does anything afterwards."""


def do_calls(crew: Crew, calls: Iterable[Call], plan: Plan) -> Iterator[tuple[Call, Mark]]:
    """Have calls done, in any order; give each with its mark."""
    waiting, busy = deque(calls), 0
    deaths: Counter[Call] = Counter()
    lost: list[tuple[Call, Exception]] = []
    while waiting or busy:
        while waiting and crew.free:
            crew.give(waiting.popleft())
            busy += 1
        taken = crew.take()
        if taken is None:
            continue
        call, said = taken
        busy -= 1
        if isinstance(said, WorkerLost):
            deaths[call] += 1
            if deaths[call] < MOST_DEATHS:
                waiting.append(call)
            else:
                lost.append((call, said))
        elif isinstance(said, Exception):
            raise said
        else:
            yield call, said
    if lost:
        raise _name_lost(lost, plan)


def _name_lost(lost: list[tuple[Call, Exception]], plan: Plan) -> UserError:
    named = [
        "merging batches" if call.verb == "merge" else plan.name_shard(call.number, call.about)
        for call, _ in lost
    ]
    problem = f"{MOST_DEATHS} workers ended at {', '.join(named)}; the last {lost[0][1]}"
    remedy = (
        "give workers more memory or smaller shards (--shard-stories); all other shards are done"
    )
    return UserError(problem, remedy)


class OwnCrew:
    """This process, which does what it is given when asked for it."""

    free = 1

    def __init__(self, plan: Plan) -> None:
        self._worker = ShardWorker(plan)
        self._call: Call | None = None

    def give(self, call: Call) -> None:
        """Take a call."""
        self._call, self.free = call, 0

    def take(self) -> tuple[Call, Mark | Exception]:
        """Do it."""
        assert self._call is not None
        call, self._call, self.free = self._call, None, 1
        return call, self._worker.answer(call)

    def close(self) -> None:
        """Nothing to end."""


class ProcessCrew:
    """Processes of this machine; one that dies is replaced."""

    def __init__(self, plan: Plan, jobs: int) -> None:
        self._plan, self._threads = plan, thread_limit(jobs)
        self._idle = [self._start() for _ in range(jobs)]
        self._busy: dict[_Process, Call] = {}

    @property
    def free(self) -> int:
        """How many have nothing to do."""
        return len(self._idle)

    def _start(self) -> _Process:
        with keep_interrupts_off():
            return _Process(self._plan, self._threads)

    def give(self, call: Call) -> None:
        """Send a call to one of those that are free."""
        worker = self._idle.pop()
        with suppress(OSError):  # it died while it was idle: taking will say so
            worker.line.send(call)
        self._busy[worker] = call

    def take(self) -> tuple[Call, Mark | Exception]:
        """Wait until one is done; start another in the place of one that died."""
        lines = {worker.line: worker for worker in self._busy}
        worker = lines[wait(list(lines))[0]]  # type: ignore[index]
        call = self._busy.pop(worker)
        try:
            said: Mark | Exception = worker.line.recv()
        except (EOFError, OSError):
            said = worker.explain_end()
            worker.end()
            worker = self._start()
        self._idle.append(worker)
        return call, said

    def close(self) -> None:
        """End all of them, whatever they are at."""
        for worker in [*self._idle, *self._busy]:
            worker.end()
        self._idle, self._busy = [], {}


class _Process:
    """A process and the line to it."""

    def __init__(self, plan: Plan, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, far_end = context.Pipe()
        self.process = context.Process(target=_serve, args=(far_end, plan, threads), daemon=True)
        self.process.start()
        # Only the worker's own copy is left: when it dies, the line says so.
        far_end.close()

    def explain_end(self) -> WorkerLost:
        """Say how it ended."""
        self.process.join(_END_WITHIN_S)
        code = self.process.exitcode
        ended = f"by signal {-code}" if code and code < 0 else f"with code {code}"
        return WorkerLost(f"ended {ended}, perhaps for want of memory")

    def end(self) -> None:
        """End it at once: what it was at is not marked as done."""
        self.process.kill()
        self.process.join(_END_WITHIN_S)
        self.line.close()


def _serve(line: Connection, plan: Plan, threads: int) -> None:
    """Do one call after another; end when nobody is there to give them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = ShardWorker(plan, threads)
    calls: SimpleQueue[Call] = SimpleQueue()
    threading.Thread(target=_receive, args=(line, calls), daemon=True).start()
    while True:
        said = worker.answer(calls.get())
        try:
            line.send(said)
        except OSError:
            return


def _receive(line: Connection, calls: SimpleQueue[Call]) -> None:
    """Take calls off the line; a driver that was killed closes it, and all is over."""
    try:
        while True:
            calls.put(line.recv())
    except (EOFError, OSError):
        os._exit(1)
