"""The local engine: stories in chunks, metrics over each, the cache between them.

Chunks are read here, or in several processes that end when this one does.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice

from fabula.core.errors import InputError, UserError
from fabula.core.metric import BatchStatistics, Metric, needs_batch
from fabula.core.protocols import Progress, StorySource
from fabula.core.score import Reading, Score
from fabula.core.story import Story
from fabula.models import thread_limit
from fabula.scoring.cache import ScoreCache
from fabula.scoring.survey import SetDigest, Survey, digest_parts, digest_story, digest_whole

CHUNK = 32

# What a killed run may have to do again; a transaction for every chunk would cost more.
_FLUSH_EVERY_S = 0.2

Gathered = Mapping[str, Mapping[str, BatchStatistics]]


@dataclass(frozen=True)
class Task:
    """Stories, and for each metric the places of those it has to read."""

    stories: list[Story]
    wanted: list[list[int]]


@dataclass(frozen=True)
class TaskResult:
    """What a task wanted, metric by metric, and the seconds that each metric took."""

    readings: list[list[Reading]]
    seconds: list[float]


@dataclass
class Chunk:
    """Some stories on their way: what is known of them, metric by metric, and what is not."""

    stories: list[Story]
    keys: list[list[bytes]]
    known: list[dict[bytes, Reading]]

    def task(self) -> Task:
        """Give what is still to be read: for each metric the places of its stories."""
        wanted = [
            [place for place, key in enumerate(keys) if key not in known]
            for keys, known in zip(self.keys, self.known, strict=True)
        ]
        return Task(self.stories, wanted)

    def add_readings(self, task: Task, readings: list[list[Reading]]) -> dict[bytes, Reading]:
        """Take in what was read, metric by metric; give it by key."""
        new: dict[bytes, Reading] = {}
        for number, (places, own) in enumerate(zip(task.wanted, readings, strict=True)):
            fresh = {
                self.keys[number][place]: reading
                for place, reading in zip(places, own, strict=True)
            }
            self.known[number].update(fresh)
            new.update(fresh)
        return new

    def scores(self, metrics: Sequence[Metric]) -> Iterator[tuple[Story, Score]]:
        """Give all scores, story by story."""
        for place, story in enumerate(self.stories):
            for number, metric in enumerate(metrics):
                reading = self.known[number][self.keys[number][place]]
                for score in metric.scores_of(story, reading):
                    yield story, score


class Engine:
    """Runs metrics over a source of stories that was surveyed before.

    `seconds` are those that each metric took so far; what metrics share, as the pass of an
    encoder, counts for the first of them.
    """

    def __init__(
        self,
        metrics: Sequence[Metric],
        survey: Survey,
        *,
        cache: ScoreCache | None = None,
        jobs: int = 1,
        progress: Progress | None = None,
    ) -> None:
        self.metrics = list(metrics)
        self.survey = survey
        self.cache = cache
        self.jobs = jobs
        self.progress = progress
        self.seconds = dict.fromkeys((metric.spec for metric in self.metrics), 0.0)
        self._unsaved: dict[bytes, Reading] = {}
        self._flushed_at = time.monotonic()

    def run(self, source: StorySource) -> Generator[tuple[Story, Score], None, None]:
        """Give every score, story by story, in the order of the source; close it when done."""
        if self.progress:
            self.progress.start(self.survey.count * len(self.metrics))
        digest = SetDigest()
        gathered = {spec: batches.gathered for spec, batches in self.survey.batches.items()}
        try:
            with Workers(self.metrics, gathered, self.jobs) as workers:
                for chunk in self._read_chunks(source, workers, digest):
                    yield from chunk.scores(self.metrics)
        finally:
            self._flush()
        if digest.hex() != self.survey.digest.hex():
            raise _changed_error()
        if self.progress:
            self.progress.finish()

    def cached_scores(self, stories: list[Story]) -> list[Score]:
        """Give all scores if the cache holds every one; nothing if one would have to be made."""
        chunk = self._chunk(stories)
        if any(chunk.task().wanted):
            return []
        return [score for _, score in chunk.scores(self.metrics)]

    def _read_chunks(
        self, source: StorySource, workers: Workers, digest: SetDigest
    ) -> Iterator[Chunk]:
        """Give chunks in order, keeping the workers busy with those that follow."""
        waiting: deque[tuple[Chunk, Task]] = deque()
        for chunk in self._chunks(source, digest):
            task = chunk.task()
            workers.submit(task)
            waiting.append((chunk, task))
            if len(waiting) > workers.ahead:
                yield self._collect(*waiting.popleft(), workers)
        while waiting:
            yield self._collect(*waiting.popleft(), workers)

    def _collect(self, chunk: Chunk, task: Task, workers: Workers) -> Chunk:
        """Wait for the oldest task, and put what it read into its chunk and the cache."""
        result = workers.result()
        for metric, seconds in zip(self.metrics, result.seconds, strict=True):
            self.seconds[metric.spec] += seconds
        self._unsaved.update(chunk.add_readings(task, result.readings))
        if time.monotonic() - self._flushed_at >= _FLUSH_EVERY_S:
            self._flush()
        if self.progress:
            self.progress.advance(len(chunk.stories) * len(self.metrics))
        return chunk

    def _flush(self) -> None:
        """Put the readings of the last moments into the cache, in one transaction."""
        if self.cache is not None:
            self.cache.put(self._unsaved)
        self._unsaved = {}
        self._flushed_at = time.monotonic()

    def _chunks(self, source: StorySource, digest: SetDigest) -> Iterator[Chunk]:
        stories = iter(source)
        while batch := list(islice(stories, CHUNK)):
            for story in batch:
                digest.add(digest_whole(story))
            yield self._chunk(batch)

    def _chunk(self, stories: list[Story]) -> Chunk:
        """Make a chunk of stories, with what the cache holds of them."""
        keys = self._keys(stories)
        if self.cache is None:
            return Chunk(stories, keys, [{} for _ in keys])
        cached = self.cache.get([key for own in keys for key in own])
        known = [{key: cached[key] for key in own if key in cached} for own in keys]
        return Chunk(stories, keys, known)

    def _keys(self, stories: list[Story]) -> list[list[bytes]]:
        """Give the cache key of each story, metric by metric."""
        digests: dict[tuple[str, ...], list[str]] = {}
        for reads in {metric.reads for metric in self.metrics}:
            digests[reads] = [digest_story(story, reads).hex() for story in stories]
        return [
            [
                digest_parts([metric.identity, self._batch_key(metric, story), digest])
                for story, digest in zip(stories, digests[metric.reads], strict=True)
            ]
            for metric in self.metrics
        ]

    def _batch_key(self, metric: Metric, story: Story) -> str:
        if not needs_batch(metric):
            return ""
        digest = self.survey.batches[metric.spec].digests.get(metric.batch_of(story))
        if digest is None:
            raise _changed_error()
        return digest.hex()


def _changed_error() -> InputError:
    return InputError("the stories changed while they were being read", "run it again")


def read_task(metrics: Sequence[Metric], gathered: Gathered, task: Task) -> TaskResult:
    """Read what a task wants, metric by metric."""
    result = TaskResult([], [])
    for metric, places in zip(metrics, task.wanted, strict=True):
        started = time.perf_counter()
        result.readings.append(_read(metric, gathered, [task.stories[place] for place in places]))
        result.seconds.append(time.perf_counter() - started)
    return result


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
        self._pool = _start_pool(metrics, gathered, jobs) if jobs > 1 else None
        self._pending: deque[Task | Future[TaskResult]] = deque()
        self.ahead = 2 * jobs if jobs > 1 else 0

    def submit(self, task: Task) -> None:
        """Take a task on."""
        idle = not any(task.wanted)
        self._pending.append(
            task if idle or not self._pool else self._pool.submit(_read_in_worker, task)
        )

    def result(self) -> TaskResult:
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


def _start_pool(metrics: list[Metric], gathered: Gathered, jobs: int) -> ProcessPoolExecutor:
    """Start processes afresh: forking a process with threads or a database open is not safe."""
    return ProcessPoolExecutor(
        max_workers=jobs,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare_worker,
        initargs=(metrics, gathered, thread_limit(jobs)),
    )


_worker_state: tuple[list[Metric], Gathered] = ([], {})


def _prepare_worker(metrics: list[Metric], gathered: Gathered, threads: int) -> None:
    global _worker_state
    # Models read it when they are loaded, which is later.
    os.environ["FABULA_THREADS"] = str(threads)
    _worker_state = metrics, gathered
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


def _read_in_worker(task: Task) -> TaskResult:
    return read_task(*_worker_state, task)
