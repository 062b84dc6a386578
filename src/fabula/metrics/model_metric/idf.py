"""Weights for tokens by how rare they are in a batch, for metrics that ask a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, cast

from fabula.core.card import Batch
from fabula.core.metric import BatchMetric, BatchStatistics
from fabula.core.model import Tokeniser
from fabula.core.score import Reading
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.metrics.model_metric import ModelMetric

Tokenise = Callable[[Sequence[str]], list[tuple[str, ...]]]


@dataclass(frozen=True)
class Rarity:
    """How rare tokens are among some texts: log((N + 1) / (texts with it + 1))."""

    texts: int
    counts: Counter[str]

    def weight(self, token: str) -> float:
        """Give the weight of a token; one that was never seen has log(N + 1)."""
        return math.log((self.texts + 1) / (self.counts[token] + 1))

    def weights(self, tokens: Sequence[str]) -> list[float]:
        """Give the weights of tokens."""
        known = {token: self.weight(token) for token in dict.fromkeys(tokens)}
        return [known[token] for token in tokens]


@dataclass
class _Texts:
    """How many texts of one side hold each token; one that stories share counts for each."""

    number: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, tokens: tuple[str, ...]) -> None:
        self.number += 1
        self.counts.update(set(tokens))

    def merge(self, other: _Texts) -> None:
        self.number += other.number
        self.counts.update(other.counts)


@dataclass
class _Sides:
    """Tokens of the stories of a batch, and of their references."""

    tokenise: Tokenise | None
    stories: _Texts = field(default_factory=_Texts)
    references: _Texts = field(default_factory=_Texts)

    def add(self, story: Story) -> None:
        assert self.tokenise is not None
        texts = [story.text, *story.nonblank_references]
        story_tokens, *reference_tokens = self.tokenise(texts)
        self.stories.add(story_tokens)
        for tokens in reference_tokens:
            self.references.add(tokens)

    def merge(self, other: _Sides) -> None:
        self.stories.merge(other.stories)
        self.references.merge(other.references)

    def __getstate__(self) -> dict[str, object]:
        """Travel to other processes without the model."""
        return {"tokenise": None, "stories": self.stories, "references": self.references}


@dataclass(frozen=True)
class Rarities:
    """How rare tokens are among the stories of a batch, and among their references."""

    stories: Rarity
    references: Rarity


@dataclass(frozen=True)
class RarityMetric(ModelMetric, BatchMetric):
    """A metric that asks a model and can weigh tokens: write `compute_weighted`.

    With `idf` the batch is the whole run, as in the packages that these metrics come from.
    """

    idf: Annotated[bool, Means("tokens that are rare in the run weigh more")] = False

    @property
    def batch(self) -> Batch | None:
        """The whole run where tokens are weighed, else none."""
        return "run" if self.idf else None

    def compute_weighted(
        self, stories: Sequence[Story], rarities: Rarities | None
    ) -> Sequence[Reading]:
        """Read stories; without rarities all tokens weigh the same."""
        raise NotImplementedError

    def compute(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Take the stories given for the whole run."""
        if self.idf:
            return super().compute(stories)
        return self.compute_weighted(stories, None)

    def empty_statistics(self) -> BatchStatistics:
        """Count in how many stories and references each token occurs."""
        return _Sides(self.model_as(Tokeniser).tokens)

    def compute_in(
        self, stories: Sequence[Story], statistics: BatchStatistics
    ) -> Sequence[Reading]:
        """Read stories knowing how rare tokens are."""
        sides = cast(_Sides, statistics)
        rarities = Rarities(
            *(Rarity(side.number, side.counts) for side in (sides.stories, sides.references))
        )
        return self.compute_weighted(stories, rarities)
