"""Weights for tokens by how rare they are in a batch, for metrics that ask a model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, cast

from fabula.core.batch import BatchMetric
from fabula.core.card import Batch
from fabula.core.model import Tokeniser
from fabula.core.protocols import Gathering
from fabula.core.score import Reading
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.metrics._model_metric import ModelMetric

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


@dataclass
class _Sides:
    """Tokens of the stories of a batch, and of their references."""

    tokenise: Tokenise | None
    stories: _Texts = field(default_factory=_Texts)
    references: _Texts = field(default_factory=_Texts)

    def add(self, story: Story) -> None:
        assert self.tokenise is not None
        texts = [story.text, *(one for one in story.references if one.strip())]
        first, *rest = self.tokenise(texts)
        self.stories.add(first)
        for tokens in rest:
            self.references.add(tokens)

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
    """A metric that asks a model and can weigh tokens: say how to `ask_with` the weights.

    With `idf` the batch is the whole run, as in the packages that these metrics come from.
    """

    idf: Annotated[bool, Means("tokens that are rare in the run weigh more")] = False

    @property
    def batch(self) -> Batch | None:
        """The whole run where tokens are weighed, else none."""
        return "run" if self.idf else None

    def ask_with(self, stories: Sequence[Story], rarities: Rarities | None) -> Sequence[Reading]:
        """Read stories with the model at hand; without rarities all tokens weigh the same."""
        raise NotImplementedError

    def ask(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Take the stories given for the whole run."""
        return BatchMetric.read(self, stories) if self.idf else self.ask_with(stories, None)

    def gathering(self) -> Gathering:
        """Count in how many stories and references each token occurs."""
        return _Sides(self._tokenise if self.at_hand else _no_tokens)

    def read_in(self, stories: Sequence[Story], gathered: Gathering) -> Sequence[Reading]:
        """Read stories knowing how rare tokens are, or say why that cannot be."""
        sides = cast(_Sides, gathered)
        rarities = Rarities(
            *(Rarity(one.number, one.counts) for one in (sides.stories, sides.references))
        )
        return self.read_by(partial(self.ask_with, rarities=rarities), stories)

    def _tokenise(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return self.offered(Tokeniser).tokens(texts)


def _no_tokens(texts: Sequence[str]) -> list[tuple[str, ...]]:
    return [() for _ in texts]
