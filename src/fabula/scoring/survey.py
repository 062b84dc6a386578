"""The first pass over the stories: are they sound, how many, and what are the batches?

What is scored has digests: under them the cache keeps what metrics said, and by them a second pass
knows that the stories are still the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fabula.core.card import Need
from fabula.core.errors import InputError, UserError
from fabula.core.images import digest_image
from fabula.core.metric import BatchMetric, BatchStatistics, Metric, needs_batch
from fabula.core.protocols import StorySource, watch
from fabula.core.story import Story

_SIZE = 20
_MOST_WORDS = 300
_TELL_EVERY = 1000
_WHOLE: tuple[Need, ...] = ("prompt", "reference")


def digest_story(story: Story, reads: tuple[Need, ...]) -> bytes:
    """Digest of the parts of a story that a metric reads; its id is not among them."""
    parts = ["text", story.text]
    if "prompt" in reads:
        parts += ["prompt", story.prompt or ""]
    if "reference" in reads:
        parts += ["references", *story.references]
    if "images" in reads:
        parts += ["images", *map(digest_image, story.images)]
    return digest_parts(parts)


def digest_whole(story: Story) -> bytes:
    """Digest of a story with everything it says, its id, system, item and pictures' names too."""
    names = (story.id, story.system or "", story.item or "", *story.images)
    return digest_parts([digest_story(story, _WHOLE).hex(), *names])


def digest_pictures(source: Iterable[Story]) -> str:
    """Digest of what the pictures of all stories hold, in their order."""
    digests = (digest_image(name) for story in source for name in story.images)
    return digest_parts(digests).hex()


def digest_parts(parts: Iterable[str]) -> bytes:
    """Digest of several strings; where one ends and the next begins counts."""
    hasher = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        hasher.update(len(raw).to_bytes(8, "big"))
        hasher.update(raw)
    return hasher.digest()[:_SIZE]


class SetDigest:
    """Digest of a set of stories that does not depend on their order."""

    def __init__(self) -> None:
        self._sum = 0
        self.count = 0

    def add(self, digest: bytes) -> None:
        """Take one more member in."""
        self._sum = (self._sum + int.from_bytes(digest, "big")) % (1 << 8 * _SIZE)
        self.count += 1

    def merge(self, other: SetDigest) -> None:
        """Take all members of another set in, of which none is here."""
        self._sum = (self._sum + other._sum) % (1 << 8 * _SIZE)
        self.count += other.count

    @classmethod
    def parse(cls, text: str) -> SetDigest:
        """Make a digest of its text again."""
        digest = cls()
        count, total = text.split("-")
        digest.count, digest._sum = int(count), int(total, 16)
        return digest

    def hex(self) -> str:
        """Give the digest as text."""
        return f"{self.count}-{self._sum:0{2 * _SIZE}x}"


@dataclass
class Batches:
    """What a batch metric gathered of each of its batches, and their digests."""

    gathered: dict[str, BatchStatistics] = field(default_factory=dict)
    digests: dict[str, SetDigest] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def add(self, metric: BatchMetric, story: Story) -> None:
        """Take a story into account; a batch at which the metric raises has failed as a whole."""
        try:
            metric.add_to(self.gathered, story)
        except (UserError, MemoryError):
            raise
        except (Exception, SystemExit) as error:
            # What was gathered so far may hold half of the story.
            why = f"{describe_failure(error)}, at story {story.id!r} of its batch"
            self.failed.setdefault(metric.batch_of(story), why)
        digest = self.digests.setdefault(metric.batch_of(story), SetDigest())
        digest.add(digest_story(story, metric.reads))

    def merge(self, other: Batches) -> None:
        """Take in what was gathered of other stories; the merged statistics may share parts."""
        for name, statistics in other.gathered.items():
            if name in self.gathered:
                self.gathered[name].merge(statistics)
            else:
                self.gathered[name] = statistics
        for name, digest in other.digests.items():
            self.digests.setdefault(name, SetDigest()).merge(digest)
        self.failed = {**other.failed, **self.failed}

    def refuse_failed(self, names: Iterable[str]) -> None:
        """Raise where one of these batches has failed."""
        for name in names:
            if name in self.failed:
                raise BatchFailed(self.failed[name])


class BatchFailed(Exception):
    """The batch of a story could not be gathered, so that the story cannot be read in it."""


def describe_failure(error: BaseException) -> str:
    """Say in one short line what a metric raised."""
    if isinstance(error, BatchFailed):
        return str(error)
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}"[:_MOST_WORDS] if words else type(error).__name__


@dataclass
class Survey:
    """What one pass over the stories tells: their number, a digest, the batches by spec."""

    digest: SetDigest = field(default_factory=SetDigest)
    batches: dict[str, Batches] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of stories."""
        return self.digest.count


def survey(source: StorySource, metrics: Sequence[Metric]) -> Survey:
    """Go through all stories once; refuse doubled ids and an empty source."""
    surveyed = Survey()
    batch_metrics = [metric for metric in metrics if needs_batch(metric)]
    seen: dict[str, int] = {}
    for number, story in enumerate(source, 1):
        if story.id in seen:
            raise InputError(
                f"story {number} has the id {story.id!r} of story {seen[story.id]}",
                "give every story an id of its own",
            )
        seen[story.id] = number
        if number % _TELL_EVERY == 0:
            watch.get().tell(f"going over the stories, {number:,} so far")
        surveyed.digest.add(digest_whole(story))
        for metric in batch_metrics:
            surveyed.batches.setdefault(metric.spec, Batches()).add(metric, story)
    if not surveyed.count:
        raise InputError("there are no stories", "give at least one")
    return surveyed
