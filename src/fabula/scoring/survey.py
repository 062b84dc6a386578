"""The first pass over the stories: are they sound, how many, and what are the batches?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fabula.core.batch import BatchMetric, in_batches
from fabula.core.errors import InputError
from fabula.core.metric import Metric
from fabula.core.protocols import Gathering, StorySource
from fabula.core.story import Story
from fabula.scoring.digest import SetDigest, digest_story, digest_whole


@dataclass
class Batches:
    """What a batch metric gathered of each of its batches, and their digests."""

    gathered: dict[str, Gathering] = field(default_factory=dict)
    digests: dict[str, SetDigest] = field(default_factory=dict)

    def add(self, metric: BatchMetric, story: Story) -> None:
        """Take a story into account."""
        metric.add_to(self.gathered, story)
        digest = self.digests.setdefault(metric.batch_of(story), SetDigest())
        digest.add(digest_story(story, metric.card.reads))


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
    found = Survey()
    batch_metrics = [metric for metric in metrics if in_batches(metric)]
    seen: dict[str, int] = {}
    for number, story in enumerate(source, 1):
        if story.id in seen:
            raise InputError(
                f"story {number} has the id {story.id!r} of story {seen[story.id]}",
                "give every story an id of its own",
            )
        seen[story.id] = number
        found.digest.add(digest_whole(story))
        for metric in batch_metrics:
            found.batches.setdefault(metric.spec, Batches()).add(metric, story)
    if not found.count:
        raise InputError("there are no stories", "give at least one")
    return found
