"""MATTR: how varied the words of a story are, whatever its length."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from fabula.core.card import Card
from fabula.core.score import Reading
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.metrics._word_metric import WordMetric


@dataclass(frozen=True)
class Mattr(WordMetric):
    """Mean type-token ratio of all runs of `window` words in a story."""

    card = Card(
        title="Moving-average type-token ratio",
        family="baseline",
        direction="descriptive",
        low=0.0,
        high=1.0,
        paper="Covington and McFall (2010). Cutting the Gordian knot: the moving-average "
        "type-token ratio (MATTR). Journal of Quantitative Linguistics 17(2), 94–100.",
        formula="mean over all windows of (different words / window)",
        compat="Words by the ASCII rule of rouge-score.",
        cannot_see="What the words say. Small learned metrics hardly pass it on machine stories.",
        quirks=("A story shorter than the window gets its plain ratio, and a note.",),
    )

    window: Annotated[int, AtLeast(1)] = 50

    def value(self, story: Story) -> Reading:
        """Mean ratio over the windows."""
        found = self.words_of(story)
        if len(found) < self.window:
            note = f"shorter than the window of {self.window} words: its plain ratio"
            return Reading((len(set(found)) / len(found),), note=note)
        return Reading((_mean_kinds(found, self.window) / self.window,))


def _mean_kinds(found: list[str], window: int) -> float:
    """Mean number of different words in a window, moved along one word at a time."""
    counts = Counter(found[:window])
    total = kinds = len(counts)
    for leaving, entering in zip(found, found[window:], strict=False):
        counts[leaving] -= 1
        kinds += (counts[entering] == 0) - (counts[leaving] == 0)
        counts[entering] += 1
        total += kinds
    return total / (len(found) - window + 1)
