"""The worker: runs machines outside the web process, and keeps the studio tidy.

One thread and one child process a machine (`machine_runner.py`, `author_child.py`). Any number of
workers may share a database: what they do they lease. Stopped politely (SIGTERM, Ctrl-C) a worker
finishes the texts at hand, within bounds, and gives the others back; killed, it leaves leases
that end by themselves, and another worker takes over. Nothing that was asked for is stuck.
"""

from __future__ import annotations

import logging
import os
import platform
import signal
import threading
import time
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, or_, select

from fabula.core.errors import UnknownName, closest
from fabula.studio.database import Studio, open_studio
from fabula.studio.generation import fail_lost
from fabula.studio.kept_words import note_problem, read_waiting
from fabula.studio.machine_runner import TROUBLE, MachineRunner, Pace
from fabula.studio.machines import Machine, read_machine
from fabula.studio.migrations import need_schema
from fabula.studio.tables import jobs, links, now, sessions, stories, suggestions
from fabula.studio.tables import machines as machine_table

_log = logging.getLogger("fabula.worker")
_LOOK_S = 1.0
_TIDY_S = 3600.0
# How long after finding nothing to count a worker looks again.
_IDLE_S = 30.0
# Nobody's story goes between being uploaded and being asked about.
_YOUNG = timedelta(hours=1)


def run_worker(
    url: str | None = None,
    *,
    machines: Collection[str] | None = None,
    most: int = 8,
    pace: Pace | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Run the machines of a studio until SIGTERM, Ctrl-C, or `stop`.

    `machines`: only those of these names; each writes up to `most` texts side by side. Every
    machine that is active or draining has its co-author loaded; an inactive one only while
    something waits that was asked of it before.
    """
    stop = stop or stop_at_signals()
    studio = open_studio(url)
    try:
        need_schema(studio)
        _check_names(studio, machines)
        _Supervisor(studio, machines, replace(pace or Pace(), most=most)).run(stop)
    finally:
        studio.close()


def stop_at_signals() -> threading.Event:
    """Make an event that SIGTERM and Ctrl-C set."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


def _check_names(studio: Studio, names: Collection[str] | None) -> None:
    with studio.read() as db:
        known = list(db.scalars(select(machine_table.c.name)))
    for name in names or ():
        if name not in known:
            raise UnknownName(f"no machine is called {name!r}", closest(name, known))


class _Supervisor:
    """Starts and stops the threads of machines as they come and go, and does the duties."""

    def __init__(self, studio: Studio, names: Collection[str] | None, pace: Pace) -> None:
        self.studio, self.names, self.pace = studio, names, pace
        self.worker = f"{platform.node()[:40]}:{os.getpid()}"
        self.runners: dict[str, MachineRunner] = {}
        self._tidied = self._read_at = float("-inf")

    def run(self, stop: threading.Event) -> None:
        _log.info("worker %s has started", self.worker)
        while not stop.is_set():
            try:
                self._look_round()
            except TROUBLE:
                _log.exception("the database did not answer")
            stop.wait(min(_LOOK_S, self.pace.beat_s))
        _log.info("worker %s stops", self.worker)
        for runner in self.runners.values():
            runner.stopping.set()
        for runner in self.runners.values():
            runner.join()

    def _look_round(self) -> None:
        wanted = {machine.id: machine for machine in find_wanted(self.studio, self.names)}
        for machine_id, runner in list(self.runners.items()):
            if machine_id not in wanted:
                runner.stopping.set()
            if not runner.is_alive():
                # It was stopped, or met a fault of ours that is in the log: the next look starts
                # another, if there is to be one.
                del self.runners[machine_id]
        for machine_id in wanted.keys() - self.runners.keys():
            runner = MachineRunner(self.studio, wanted[machine_id], self.worker, self.pace)
            self.runners[machine_id] = runner
            runner.start()
        if lost := fail_lost(self.studio):
            _log.error("%d jobs were lost with their workers too often and have failed", lost)
        if time.monotonic() - self._tidied > _TIDY_S:
            self._tidied = time.monotonic()
            _log.info("tidied: %d stories, %d keys", clean_stories(self.studio),
                      remove_expired(self.studio))  # fmt: skip
        if time.monotonic() > self._read_at and not self._has_work():
            self._read_words()

    def _has_work(self) -> bool:
        """Whether something waits for a machine of this worker, or is being written."""
        ours = jobs.c.machine_id.in_(list(self.runners))
        is_open = jobs.c.state.in_(("waiting", "leased")) & (jobs.c.due_at <= now())
        with self.studio.read() as db:
            return db.execute(select(jobs.c.id).where(is_open, ours).limit(1)).first() is not None

    def _read_words(self) -> None:
        """Count parts of speech of what was published: a pastime, which never stops the worker."""
        try:
            done = read_waiting(self.studio)
        except TROUBLE:
            raise
        except Exception:
            _log.exception("the tagger failed; parts of speech are counted after a new start")
            note_problem(self.studio, "the tagger failed: the worker's log says how")
            self._read_at = float("inf")
            return
        self._read_at = time.monotonic() + (0.0 if done else _IDLE_S)


def find_wanted(studio: Studio, names: Collection[str] | None = None) -> list[Machine]:
    """Machines that are to run: on offer, or with something to finish."""
    has_work = (
        select(jobs.c.id)
        .where(jobs.c.machine_id == machine_table.c.id, jobs.c.state.in_(("waiting", "leased")))
        .exists()
    )
    query = select(machine_table).where(or_(machine_table.c.status != "inactive", has_work))
    if names is not None:
        query = query.where(machine_table.c.name.in_(list(names)))
    with studio.read() as db:
        return [read_machine(row) for row in db.execute(query)]


def clean_stories(studio: Studio, *, young: timedelta = _YOUNG) -> int:
    """Delete uploaded stories that nobody asked about and that a newer export of the same game
    has replaced (as STORIUM's platform does at night); how many."""
    columns = (stories.c.id, stories.c.pid, stories.c.exported_at, stories.c.created_at)
    with studio.read() as db:
        rows = db.execute(select(*columns).where(stories.c.pid.is_not(None))).all()
    newest: dict[str, datetime] = {}
    for row in rows:
        moment = _exported(row.exported_at, row.created_at)
        newest[row.pid] = max(moment, newest.get(row.pid, moment))
    ripe = now() - young
    stale = [
        row.id
        for row in rows
        if _exported(row.exported_at, row.created_at) < newest[row.pid] and row.created_at < ripe
    ]
    deleted = 0
    for start in range(0, len(stale), 100):
        deleted += _delete_unused(studio, stale[start : start + 100])
    return deleted


def _exported(text: str | None, otherwise: datetime) -> datetime:
    """When a story was exported, as the export says (`2020-1-2 3:04:05 UTC`, or ISO)."""
    try:
        return datetime.strptime(text or "", "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return otherwise
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _delete_unused(studio: Studio, story_ids: list[str]) -> int:
    with studio.write() as db:
        # Locked before the look: a suggestion that comes meanwhile waits, and then has no story.
        ours = select(stories.c.id).where(stories.c.id.in_(story_ids)).order_by(stories.c.id)
        db.execute(ours.with_for_update())
        used = select(suggestions.c.story_id).where(suggestions.c.story_id.in_(story_ids))
        unused = sorted(set(story_ids) - set(db.scalars(used)))
        return db.execute(delete(stories).where(stories.c.id.in_(unused))).rowcount


def remove_expired(studio: Studio) -> int:
    """Delete sessions and one-time links whose time is over; how many."""
    moment = now()
    with studio.write() as db:
        return sum(
            db.execute(delete(table).where(table.c.expires_at < moment)).rowcount
            for table in (sessions, links)
        )
