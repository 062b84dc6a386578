"""The local engine: stories in chunks, metrics over each, the cache between them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from fabula.core.errors import InputError
from fabula.core.metric import Metric, needs_batch
from fabula.core.protocols import Progress, StorySource
from fabula.core.score import Reading, Score
from fabula.core.story import Story
from fabula.scoring.cache import ScoreCache
from fabula.scoring.survey import SetDigest, Survey, digest_parts, digest_story, digest_whole
from fabula.scoring.workers import Task, Workers

CHUNK = 32

# What a killed run may have to do again; a transaction for every chunk would cost more.
_FLUSH_EVERY_S = 0.2


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
        done = workers.result()
        for metric, seconds in zip(self.metrics, done.seconds, strict=True):
            self.seconds[metric.spec] += seconds
        self._unsaved.update(chunk.add_readings(task, done.readings))
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
