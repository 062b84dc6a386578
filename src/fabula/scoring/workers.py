"""Workers: read stories here, or in several processes that end when this one does."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from fabula.core.errors import UserError
from fabula.core.metric import BatchStatistics, Metric, needs_batch
from fabula.core.score import Reading
from fabula.core.story import Story
from fabula.models import thread_limit

Gathered = Mapping[str, Mapping[str, BatchStatistics]]


@dataclass(frozen=True)
class Task:
    """Stories, and for each metric the places of those it has to read."""

    stories: list[Story]
    wanted: list[list[int]]


@dataclass(frozen=True)
class Done:
    """What a task wanted, metric by metric, and the seconds that each metric took."""

    readings: list[list[Reading]]
    seconds: list[float]


def read_task(metrics: Sequence[Metric], gathered: Gathered, task: Task) -> Done:
    """Read what a task wants, metric by metric."""
    done = Done([], [])
    for metric, places in zip(metrics, task.wanted, strict=True):
        started = time.perf_counter()
        done.readings.append(_read(metric, gathered, [task.stories[place] for place in places]))
        done.seconds.append(time.perf_counter() - started)
    return done


def _read(metric: Metric, gathered: Gathered, stories: list[Story]) -> list[Reading]:
    if not stories:
        return []
    if needs_batch(metric):
        return metric.read_in(stories, gathered[metric.spec])
    return metric.read(stories)


class Workers:
    """Reads tasks in the order they come; with one job in this process, when asked."""

    def __init__(self, metrics: list[Metric], gathered: Gathered, jobs: int) -> None:
        if jobs == 1:
            _announce(metrics)
        self._metrics = metrics
        self._gathered = gathered
        self._pool = _start(metrics, gathered, jobs) if jobs > 1 else None
        self._pending: deque[Task | Future[Done]] = deque()
        self.ahead = 2 * jobs if jobs > 1 else 0

    def submit(self, task: Task) -> None:
        """Take a task on."""
        idle = not any(task.wanted)
        self._pending.append(task if idle or not self._pool else self._pool.submit(_work, task))

    def result(self) -> Done:
        """Give what the oldest task wanted."""
        task = self._pending.popleft()
        if isinstance(task, Task):
            return read_task(self._metrics, self._gathered, task)
        try:
            return task.result()
        except BrokenProcessPool as error:
            raise UserError(
                "a worker process ended early, perhaps for want of memory",
                "try fewer jobs; a script that calls evaluate(jobs=…) needs a "
                "`if __name__ == '__main__':` guard",
            ) from error

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool:
            self._pool.shutdown(wait=True, cancel_futures=True)


def _start(metrics: list[Metric], gathered: Gathered, jobs: int) -> ProcessPoolExecutor:
    """Start processes afresh: forking a process with threads or a database open is not safe."""
    return ProcessPoolExecutor(
        max_workers=jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare,
        initargs=(metrics, gathered, thread_limit(jobs)),
    )


_prepared: tuple[list[Metric], Gathered] = ([], {})


def _prepare(metrics: list[Metric], gathered: Gathered, threads: int) -> None:
    global _prepared
    # Models read it when they are loaded, which is later.
    os.environ["FABULA_THREADS"] = str(threads)
    _prepared = metrics, gathered
    _announce(metrics)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _announce(metrics: Sequence[Metric]) -> None:
    """Let every metric know which others run, so that they can share what they ask of a model."""
    for metric in metrics:
        metric.prepare(metrics)


def _end_with_parent() -> None:
    """A killed parent cannot say goodbye; a worker left waiting would wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(task: Task) -> Done:
    return read_task(*_prepared, task)
