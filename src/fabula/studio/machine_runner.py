"""One machine at work: a thread of the worker that leases, hands on, stores, and starts again.

The co-author sits in a child process. While it writes, the thread stores what came (at most
every `store_s`, the whole batch at once), prolongs the leases, passes on what was cancelled, and
watches the clock. A child that dies is started again after a while that grows; what it was at is
tried again, alone, so that a text that kills its writer takes no others along.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from fabula.core.children import ChildLost, Message
from fabula.core.errors import UserError
from fabula.studio.author_child import AuthorChild, Order
from fabula.studio.database import NO_ANSWER, Studio
from fabula.studio.generation import (
    Writing,
    apologise,
    end_preparation,
    end_suggestions,
    fail_suggestions,
    read_preparation,
    retry_suggestions,
    return_suggestions,
    start_suggestions,
    store_pieces,
)
from fabula.studio.jobs import LEASE_S, Job, beat, lease_jobs
from fabula.studio.machines import Machine

_log = logging.getLogger("fabula.worker")
# What a database raises that does not answer, or that ends one of two who wait for each other.
TROUBLE: tuple[type[Exception], ...] = (DBAPIError, *NO_ANSWER)
_STARTS_BEFORE_GIVING_UP = 3
_LONGEST_RESTART_S = 15.0


@dataclass(frozen=True)
class Pace:
    """How a worker goes about its work; all but `most` (texts in a batch) are seconds.

    A lease is prolonged five times before it would end. `timeout_s` is what a text may take,
    `grace_s` what a child has to obey, `drain_s` what a worker that is to stop has for the texts
    at hand, `rest_s` how long a machine that cannot start is left alone, `restart_s` how long one
    that died is, twice as long every time until it writes again.
    """

    most: int = 8
    lease_s: float = LEASE_S
    poll_s: float = 0.1
    fill_s: float = 0.05
    store_s: float = 0.2
    timeout_s: float = 120.0
    grace_s: float = 10.0
    startup_s: float = 600.0
    drain_s: float = 6.0
    rest_s: float = 60.0
    restart_s: float = 0.5

    @property
    def beat_s(self) -> float:
        """Between two signs of life."""
        return self.lease_s / 5


class MachineRunner(threading.Thread):
    """Runs one machine until `stopping` is set."""

    def __init__(self, studio: Studio, machine: Machine, worker: str, pace: Pace) -> None:
        super().__init__(name=f"machine {machine.name}")
        self.studio, self.machine, self.worker, self.pace = studio, machine, worker, pace
        self.stopping = threading.Event()
        self._child: AuthorChild | None = None
        self._signature = ""
        # Children lost since a batch went well, and since one was ready.
        self._losses = self._failed_starts = 0
        # While it cannot start: why, and when it is tried again.
        self._obstacle, self._start_at = "", 0.0

    def run(self) -> None:
        """Work until told to stop. A database that cannot be reached is asked again."""
        try:
            while not self.stopping.is_set():
                self._take_turn()
            if self._child is not None:
                self._child.stop()
        finally:
            self.drop_child()

    def _take_turn(self) -> None:
        try:
            if not self._work():
                self.stopping.wait(self.pace.poll_s)
        except TROUBLE:
            _log.exception("%s: the database did not answer", self.machine.name)
            self.stopping.wait(1.0)
        except ChildLost as lost:
            self._rest_after(lost)

    def _work(self) -> bool:
        """Do what waits; whether there was anything."""
        if self._child is None and time.monotonic() >= self._start_at:
            self._start_child()
        if self.stopping.is_set():
            return False
        if self._child is None:
            # A machine that will not start soon lets nobody wait for it.
            everything = ("suggest", "snapshot", "prepare")
            leased = self._lease(self.pace.most, *everything) if self._obstacle else []
            if leased:
                fail_suggestions(self.studio, leased, self._obstacle)
            return bool(leased)
        if leased := self._lease(self.pace.most, "suggest"):
            self._write(self._gather(leased))
        # Who uploads a story waits until it is ready, so that one has its turn after every batch;
        # drafts are prepared while nobody waits for a text.
        kinds = ("snapshot",) if leased else ("snapshot", "prepare")
        is_able = self._child is not None and not self.stopping.is_set()
        if stories := self._lease(1, *kinds) if is_able else []:
            self._prepare(stories[0])
        return bool(leased or stories)

    def _lease(self, most: int, *kinds: str) -> list[Job]:
        return lease_jobs(
            self.studio,
            self.worker,
            kinds=kinds,
            machine_id=self.machine.id,
            most=most,
            lease_s=self.pace.lease_s,
        )

    def _gather(self, leased: list[Job]) -> list[Job]:
        """Fill a batch; what its writer may have died of is tried alone."""
        if len(leased) < self.pace.most:
            self.stopping.wait(self.pace.fill_s)
            leased = leased + self._lease(self.pace.most - len(leased), "suggest")
        tried = [job for job in leased if job.problem][:1]
        others = [job for job in leased if job not in tried]
        if tried and others:
            return_suggestions(self.studio, others)
        return tried or leased

    def _start_child(self) -> None:
        self._child = AuthorChild(self.machine.spec, self.machine.name)
        deadline = time.monotonic() + self.pace.startup_s
        while not (messages := self._child.receive(self.pace.poll_s)):
            if self.stopping.is_set():
                self.drop_child()
                return
            if time.monotonic() > deadline:
                self._lose_child(f"did not start within {self.pace.startup_s:.0f} seconds")
        kind, value = messages[0]
        if kind == "ready":
            self._signature, self._failed_starts, self._obstacle = value, 0, ""
            _log.info("%s is ready", self.machine.name)
            return
        _log.error("%s cannot start: %s", self.machine.name, value)
        self._obstacle = f"The co-author {self.machine.name} cannot start: {value}"
        self._start_at = time.monotonic() + self.pace.rest_s
        self.drop_child()

    def drop_child(self) -> None:
        """End the child at once, if there is one."""
        if self._child is not None:
            self._child.kill()
            self._child = None

    def _lose_child(self, reason: str) -> None:
        """End a child that does not obey."""
        _log.error("%s %s", self.machine.name, reason)
        self.drop_child()
        raise ChildLost(None)

    def _rest_after(self, lost: ChildLost) -> None:
        """Start again after a while; one that never gets ready is an obstacle like others."""
        _log.error("%s: %s", self.machine.name, lost)
        self._child = None
        self._losses += 1
        self._failed_starts += 1
        rest_s = min(self.pace.restart_s * 2 ** (self._losses - 1), _LONGEST_RESTART_S)
        self._start_at = time.monotonic() + rest_s
        if self._failed_starts >= _STARTS_BEFORE_GIVING_UP:
            self._obstacle = apologise(self.machine.name)

    def _write(self, leased: Sequence[Job]) -> None:
        """Take a batch to its end, whatever becomes of the child."""
        orders = start_suggestions(self.studio, leased)
        if not orders:
            return
        batch = _Batch(self, orders)
        try:
            batch.run()
            self._losses = 0
        except ChildLost as lost:
            self._rest_after(lost)
            self._retry(batch.unended())

    def _retry(self, leased: Sequence[Job]) -> None:
        """Give what the child was at another try."""
        failed = retry_suggestions(self.studio, leased, apologise(self.machine.name))
        for job in leased:
            outcome = "gave up" if job in failed else "will try again"
            _log.error(
                "%s: %s with %s %s after attempt %d",
                self.machine.name, outcome, job.kind, job.key, job.attempts,
            )  # fmt: skip

    def _prepare(self, job: Job) -> None:
        """Let the co-author get ready for a story."""
        child = self._need_child()
        try:
            context = read_preparation(self.studio, job)
        except UserError as error:
            _log.warning("%s: %s cannot be prepared: %s", self.machine.name, job.key, error)
            end_preparation(self.studio, job, str(error))
            return
        if context is None:
            end_preparation(self.studio, job)
            return
        try:
            child.prepare(context)
            deadline = time.monotonic() + self.pace.timeout_s
            while not (messages := child.receive(self.pace.beat_s)):
                beat(self.studio, [job], lease_s=self.pace.lease_s)
                if self.stopping.is_set():
                    return_suggestions(self.studio, [job])
                    return
                if time.monotonic() > deadline:
                    self._lose_child("did not get ready for a story in time")
        except ChildLost as lost:
            self._rest_after(lost)
            self._retry([job])
        else:
            end_preparation(self.studio, job, messages[0].value)

    def _need_child(self) -> AuthorChild:
        assert self._child is not None, "nothing is leased before the co-author is ready"
        return self._child


class _Batch:
    """Some texts that are written side by side, until the child rests."""

    def __init__(self, runner: MachineRunner, orders: Sequence[tuple[Job, Order]]) -> None:
        self.runner, self.pace = runner, runner.pace
        self.child = runner._need_child()
        self.writings = {order.id: Writing(job) for job, order in orders}
        self.orders = [order for _, order in orders]
        self.has_rested = False
        self.started = self.stored = time.monotonic()
        # When the worker is to have stopped, and when the child has to have obeyed.
        self.drained_at, self.obeyed_at = float("inf"), float("inf")

    def unended(self) -> list[Job]:
        """Jobs whose end is not written down."""
        return [writing.job for writing in self.writings.values()]

    def run(self) -> None:
        """Store pieces until every text has ended and the child rests."""
        self.child.write(self.orders)
        while self.writings or not self.has_rested:
            for message in self.child.receive(min(self.pace.poll_s, self.pace.store_s) / 2):
                self._take(message)
            try:
                self._end_some()
                self._store_some()
                self._watch_clock()
            except TROUBLE:
                # All of it is written again with the next step, if the lease lasts.
                _log.exception("%s: the database did not answer", self.runner.machine.name)
                self.stored = time.monotonic()

    def _take(self, message: Message) -> None:
        if message.kind == "rested":
            self.has_rested = True
        elif message.kind == "piece" and message.value.id in self.writings:
            self.writings[message.value.id].add(message.value)

    def _end_some(self) -> None:
        ended = {key: each for key, each in self.writings.items() if each.status}
        for writing in ended.values():
            if writing.status == "failed" and not writing.problem:
                writing.problem = apologise(self.runner.machine.name)
        if ended:
            end_suggestions(self.runner.studio, list(ended.values()), self.runner._signature)
            self._forget(ended)

    def _store_some(self) -> None:
        moment = time.monotonic()
        is_news = any(not writing.is_stored for writing in self.writings.values())
        if moment - self.stored < (self.pace.store_s if is_news else self.pace.beat_s):
            return
        self.stored = moment
        held = store_pieces(
            self.runner.studio, list(self.writings.values()), lease_s=self.pace.lease_s
        )
        self._abandon([key for key, each in self.writings.items() if each.job.id not in held])

    def _watch_clock(self) -> None:
        moment = time.monotonic()
        runner, name = self.runner, self.runner.machine.name
        if runner.stopping.is_set() and self.drained_at == float("inf"):
            self.drained_at = moment + self.pace.drain_s
        if moment > self.drained_at and self.writings:
            return_suggestions(runner.studio, self.unended())
            self._forget(list(self.writings))
            # Nobody waits for the child any more, and who stops us will not wait for it either.
            runner.drop_child()
            self.has_rested = True
        if moment - self.started > self.pace.timeout_s and self.writings:
            problem = f"The co-author {name} took too long; ask again or choose another."
            fail_suggestions(runner.studio, self.unended(), problem)
            self._abandon(list(self.writings))
        if not self.writings and not self.has_rested:
            self.obeyed_at = min(self.obeyed_at, moment + self.pace.grace_s)
            if moment > self.obeyed_at:
                runner._lose_child("did not stop when it was told")

    def _abandon(self, keys: Sequence[str]) -> None:
        """Tell the child that nobody waits for these any more."""
        for key in keys:
            self.child.cancel(key)
        self._forget(keys)

    def _forget(self, keys: Sequence[str] | dict[str, Writing]) -> None:
        for key in keys:
            del self.writings[key]
