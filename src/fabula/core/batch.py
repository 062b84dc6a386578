"""Metrics that are defined on a batch of stories, not on one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from fabula.core.metric import Metric
from fabula.core.protocols import Gathering
from fabula.core.score import Reading
from fabula.core.story import Story


@dataclass(frozen=True)
class BatchMetric(Metric):
    """A metric whose value for a story depends on the stories scored with it.

    Its `batch` says which belong together: all of one `system`, or of the whole `run`.
    One pass gathers what there is to know of each batch, a second reads the stories.
    """

    def gathering(self) -> Gathering:
        """Give something empty that gathers a batch, story by story; it must pickle."""
        raise NotImplementedError

    def read_in(self, stories: Sequence[Story], gathered: Gathering) -> Sequence[Reading]:
        """Read stories of one batch, knowing all of it."""
        raise NotImplementedError

    def batch_of(self, story: Story) -> str:
        """Name of the batch a story belongs to."""
        return (story.system or "") if self.batch == "system" else ""

    def gather(self, stories: Sequence[Story]) -> dict[str, Gathering]:
        """Gather every batch among the stories."""
        batches: dict[str, Gathering] = {}
        for story in stories:
            self.add_to(batches, story)
        return batches

    def add_to(self, batches: dict[str, Gathering], story: Story) -> None:
        """Add a story to its batch, unless it cannot be read."""
        if self.obstacle(story) is None:
            batches.setdefault(self.batch_of(story), self.gathering()).add(story)

    def read(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Take the stories given for the whole of their batches."""
        return self._read_batches(stories, self.gather(stories))

    def readings_in(
        self, stories: Sequence[Story], batches: Mapping[str, Gathering]
    ) -> list[Reading]:
        """Give one reading per story, in order, knowing the batches gathered before."""
        return self.with_obstacles(stories, lambda ready: self._read_batches(ready, batches))

    def _read_batches(
        self, stories: Sequence[Story], batches: Mapping[str, Gathering]
    ) -> list[Reading]:
        members: dict[str, list[int]] = {}
        for position, story in enumerate(stories):
            members.setdefault(self.batch_of(story), []).append(position)
        found: dict[int, Reading] = {}
        for batch, positions in members.items():
            readings = self.read_in([stories[i] for i in positions], batches[batch])
            found.update(zip(positions, readings, strict=True))
        return [found[position] for position in range(len(stories))]


def in_batches(metric: Metric) -> TypeGuard[BatchMetric]:
    """Whether a metric, with the settings it has, needs to know its batch."""
    return isinstance(metric, BatchMetric) and metric.batch is not None
