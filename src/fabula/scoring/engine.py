"""The local engine: stories in chunks, metrics over each batch by batch, the cache behind them.

What a batch gave is on its way into the cache before the next is read, so that a run that is
stopped or killed loses a moment's work. Chunks are read here, or by the processes of `workers`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from fabula.core.errors import InputError, UserError
from fabula.core.metric import Metric, StoryMetric, needs_batch
from fabula.core.protocols import Progress, StorySource, watch
from fabula.core.score import Reading, Score, Status
from fabula.core.story import Story, count_text
from fabula.scoring.cache import ScoreCache
from fabula.scoring.survey import (
    Batches,
    SetDigest,
    Survey,
    describe_failure,
    digest_parts,
    digest_story,
    digest_whole,
)

CHUNK = 32
# Stories a metric is given at once that may read them together. It does not depend on how fast
# they are read: a run that was stopped must go on with the same batches, to the last bit.
BATCH = 8

# What a killed run may have to do again; a transaction for every batch would cost more.
_FLUSH_EVERY_S = 0.2
# One that reads story by story gets as many at once as it reads in about that time.
_SHORT_S, _LONG_S = 0.05, 0.5


@dataclass(frozen=True)
class Task:
    """Stories of a chunk, and for each metric the places of those it has to read."""

    number: int
    stories: list[Story]
    wanted: list[list[int]]


@dataclass(frozen=True)
class Part:
    """What one metric read of some stories of a task, and the seconds it took."""

    task: int
    metric: int
    places: list[int]
    readings: list[Reading]
    seconds: float


class Chunk:
    """Some stories on their way: what is known of them, metric by metric, and what is not."""

    def __init__(
        self, stories: list[Story], keys: list[list[bytes]], known: list[dict[bytes, Reading]]
    ) -> None:
        self.stories, self._keys, self._known = stories, keys, known
        self.wanted = [
            [place for place, key in enumerate(own) if key not in found]
            for own, found in zip(keys, known, strict=True)
        ]
        self.lacking = sum(map(len, self.wanted))

    def add(self, part: Part) -> dict[bytes, Reading]:
        """Take in what a metric read; give it by key."""
        keys = self._keys[part.metric]
        new = {
            keys[place]: reading for place, reading in zip(part.places, part.readings, strict=True)
        }
        self._known[part.metric].update(new)
        self.lacking -= len(part.places)
        return new

    def scores(self, metrics: Sequence[Metric]) -> Iterator[tuple[Story, Score]]:
        """Give all scores, story by story."""
        for place, story in enumerate(self.stories):
            for number, metric in enumerate(metrics):
                reading = self._known[number][self._keys[number][place]]
                for score in metric.scores_of(story, reading):
                    yield story, score


class Reader(Protocol):
    """Reads tasks; `ahead` is how many more than the oldest it can be busy with."""

    ahead: int

    def submit(self, task: Task) -> None:
        """Take a task on."""

    def next_part(self) -> Part:
        """Wait for the next part of any of the tasks."""
        ...


class Engine:
    """Runs metrics over a source of stories that was surveyed before.

    `seconds` are those that each metric took so far; what metrics share, as the pass of an
    encoder, counts for the first of them. A metric that raises on a story has failed on it, and
    the run goes on, unless it is `strict`. Without a `progress` of its own it tells whoever
    watches. `at_once` stories are given to a metric that may read them together. Without `check`
    somebody else sees to it that the stories are those that were surveyed.
    """

    def __init__(
        self,
        metrics: Sequence[Metric],
        survey: Survey,
        *,
        cache: ScoreCache | None = None,
        jobs: int = 1,
        progress: Progress | None = None,
        strict: bool = False,
        at_once: int = BATCH,
        check: bool = True,
    ) -> None:
        self.metrics = list(metrics)
        self.survey = survey
        self.cache = cache
        self.jobs = jobs
        self.progress = progress
        self.strict = strict
        self.at_once = at_once
        self.check = check
        self.seconds = dict.fromkeys((metric.spec for metric in self.metrics), 0.0)
        self._unsaved: dict[bytes, Reading] = {}
        self._unsaved_count = 0
        self._flushed_at = time.monotonic()
        self._kept = 0

    def run(self, source: StorySource) -> Generator[tuple[Story, Score], None, None]:
        """Give every score, story by story, in the order of the source; close it when done."""
        self.progress = self.progress or watch.get().count("scores")
        if self.progress:
            self.progress.start(self.survey.count * len(self.metrics))
        digest = SetDigest()
        try:
            with self._open_reader() as reader:
                for chunk in self._read_chunks(source, reader, digest):
                    yield from chunk.scores(self.metrics)
        finally:
            self._flush()
        if self.check and digest.hex() != self.survey.digest.hex():
            raise changed_error()
        if self.progress:
            self.progress.finish()

    def cached_scores(self, stories: list[Story]) -> list[Score]:
        """Give all scores if the cache holds every one; nothing if one would have to be made."""
        chunk = self._chunk(stories)
        return [] if chunk.lacking else [score for _, score in chunk.scores(self.metrics)]

    def _open_reader(self) -> AbstractContextManager[Reader]:
        reading = TaskReader(
            self.metrics, self.survey.batches, strict=self.strict, at_once=self.at_once
        )
        if self.jobs == 1:
            return LocalReader(reading)
        from fabula.scoring.workers import WorkerPool

        return WorkerPool(reading, self.jobs)

    def _read_chunks(
        self, source: StorySource, reader: Reader, digest: SetDigest
    ) -> Iterator[Chunk]:
        """Give chunks in order, keeping the reader busy with those that follow."""
        waiting: dict[int, Chunk] = {}

        def finish_oldest() -> Chunk:
            number, oldest = next(iter(waiting.items()))
            while oldest.lacking:
                part = reader.next_part()
                self._take_in(part, waiting[part.task])
            return waiting.pop(number)

        for number, chunk in enumerate(self._chunks(source, digest)):
            waiting[number] = chunk
            if chunk.lacking:
                reader.submit(Task(number, chunk.stories, chunk.wanted))
            if len(waiting) > reader.ahead:
                yield finish_oldest()
        while waiting:
            yield finish_oldest()

    def _take_in(self, part: Part, chunk: Chunk) -> None:
        """Put what was read into its chunk and, soon, into the cache."""
        self.seconds[self.metrics[part.metric].spec] += part.seconds
        self._unsaved.update(chunk.add(part))
        self._unsaved_count += sum(reading.status.lasting for reading in part.readings)
        if time.monotonic() - self._flushed_at >= _FLUSH_EVERY_S:
            self._flush()
        if self.progress:
            self.progress.advance(len(part.places))

    def _flush(self) -> None:
        """Put the readings of the last moments into the cache, in one transaction."""
        if self.cache is not None:
            self.cache.put(self._unsaved)
            self._kept += self._unsaved_count
        self._unsaved, self._unsaved_count = {}, 0
        self._flushed_at = time.monotonic()
        watch.get().tell_kept(self._describe_kept())

    def _describe_kept(self) -> str:
        if self.cache is None:
            return "nothing is kept"
        stories, metrics = self.survey.count, len(self.metrics)
        of = f"{self._kept:,} of {count_text(stories * metrics, 'score')}"
        grid = f"{count_text(stories, 'story', 'stories')} × {count_text(metrics, 'metric')}"
        return f"{of} ({grid}) are kept; the same command goes on from there"

    def _chunks(self, source: StorySource, digest: SetDigest) -> Iterator[Chunk]:
        stories = iter(source)
        while batch := list(islice(stories, max(CHUNK, self.at_once))):
            for story in batch if self.check else ():
                digest.add(digest_whole(story))
            chunk = self._chunk(batch)
            known = len(batch) * len(self.metrics) - chunk.lacking
            self._kept += known
            if self.progress:
                self.progress.advance(known)
            yield chunk

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
            raise changed_error()
        return digest.hex()


def changed_error() -> InputError:
    """Give the error for stories that are not those of the pass before."""
    return InputError("the stories changed while they were being read", "run it again")


class TaskReader:
    """Reads tasks, metric by metric and batch by batch; travels to other processes."""

    def __init__(
        self,
        metrics: list[Metric],
        batches: dict[str, Batches],
        *,
        strict: bool = False,
        at_once: int = BATCH,
    ) -> None:
        self.metrics, self._batches, self._strict = metrics, batches, strict
        # Grows for a metric that reads story by story, and whose batches are thus all the same.
        self._sizes = [_first_size(metric, at_once) for metric in metrics]

    def prepare(self) -> None:
        """Let every metric know which others run, so that they share what they ask of a model."""
        for metric in self.metrics:
            metric.prepare(self.metrics)

    def read(self, task: Task) -> Iterator[Part]:
        """Read what a task wants; give every batch as soon as it is read."""
        for number, (metric, wanted) in enumerate(zip(self.metrics, task.wanted, strict=True)):
            done = 0
            while done < len(wanted):
                places = wanted[done : done + self._sizes[number]]
                done += len(places)
                stories = [task.stories[place] for place in places]
                looking = watch.get()
                looking.tell(metric.spec)
                looking.tell_detail(f"story {stories[0].id}")
                started = time.perf_counter()
                readings = self._read(metric, stories)
                seconds = time.perf_counter() - started
                self._adapt(number, seconds)
                yield Part(task.number, number, places, readings, seconds)

    def _adapt(self, number: int, seconds: float) -> None:
        if isinstance(self.metrics[number], StoryMetric):
            size = self._sizes[number]
            larger = min(2 * size, CHUNK) if seconds < _SHORT_S else size
            self._sizes[number] = max(size // 2, 1) if seconds > _LONG_S else larger

    def _read(self, metric: Metric, stories: list[Story]) -> list[Reading]:
        """Read a batch; where that raises, story by story, so that one does not cost the others."""
        try:
            return _check_readings(metric, self._measure(metric, stories))
        except (UserError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            if len(stories) > 1:
                return [reading for story in stories for reading in self._read(metric, [story])]
            failure = describe_failure(error)
            if self._strict:
                raise UserError(
                    f"{metric.spec} failed on story {stories[0].id!r}: {failure}",
                    "mend the metric, or leave --strict out to go on without that score",
                ) from error
            return [_fail(metric, stories[0], failure)]

    def _measure(self, metric: Metric, stories: list[Story]) -> list[Reading]:
        if not needs_batch(metric):
            return metric.read(stories)
        batches = self._batches[metric.spec]
        if batches.failed:
            batches.refuse_failed(metric.batch_of(story) for story in stories)
        return metric.read_in(stories, batches.gathered)


def _first_size(metric: Metric, at_once: int) -> int:
    if metric.slow or isinstance(metric, StoryMetric):
        return 1
    return metric.at_once or at_once


def _fail(metric: Metric, story: Story, failure: str) -> Reading:
    return metric.missing(Status.FAILED, f"{failure} (story {story.id!r})")


def _check_readings(metric: Metric, readings: list[Reading]) -> list[Reading]:
    """Refuse what is no reading: a plug-in's mistake must not surface far from it."""
    count = len(metric.aspects)
    for reading in readings:
        if not isinstance(reading, Reading) or len(reading.values) != count:
            raise TypeError(f"{reading!r:.80} is no reading of {count_text(count, 'value')}")
        for value in reading.values:
            math.isnan(value)  # raises for what is no number
    return readings


class LocalReader:
    """Reads in this process, when asked."""

    ahead = 0

    def __init__(self, reading: TaskReader) -> None:
        reading.prepare()
        self._reading = reading
        self._parts: Iterator[Part] = iter(())

    def submit(self, task: Task) -> None:
        """Take a task on; the one before is done."""
        self._parts = self._reading.read(task)

    def next_part(self) -> Part:
        """Read the next batch."""
        return next(self._parts)

    def __enter__(self) -> LocalReader:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""
