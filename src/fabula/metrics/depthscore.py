"""DepthScore: how far the deep parts of two clouds of tokens reach beyond one another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fabula.core.card import Card
from fabula.core.model import Embedder
from fabula.core.score import Reading, Status
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.metrics._depth import directions, distance, supports
from fabula.metrics._vectors import Cloud, distinct_texts, make_clouds, texts_of
from fabula.metrics.model_metric import ModelMetric

if TYPE_CHECKING:
    from fabula.core.model import Array

# Projections of one text that are held at once: 5,000 tokens on 10,000 directions, 200 MB.
_MOST_PLACES = 50_000_000


@dataclass(frozen=True)
class Depthscore(ModelMetric):
    """Distance between the depth-trimmed regions of story and reference, as clouds of tokens."""

    revision = 2
    card = Card(
        title="DepthScore",
        family="embedding",
        direction="lower",
        low=0.0,
        needs=("reference",),
        assets=("minilm",),
        references="the reference with the smallest distance counts",
        paper="Staerman, Mozharovskyi, Colombo, Clémençon and d'Alché-Buc (2021). A pseudo-metric "
        "between probability distributions based on depth-trimmed regions. arXiv:2103.12711.",
        formula="X, Y: the tokens' vectors, of length one. Depth of a token: mean over random "
        "directions u of min(rank/n, 1 − rank/n), rank 1 to n by ⟨x, u⟩. For the percentiles 30, "
        "47.5, 65, 82.5 and 100 of depth: h(u) = max ⟨x, u⟩ over the tokens at least as deep; "
        "(mean over the percentiles of max over u of |h_X(u) − h_Y(u)|⁵)^(1/5)",
        compat="Gaps have a sign: h_X(u) − h_Y(u), X the reference, so that the value is not "
        "symmetric and there is none where the mean is negative. Texts are cut at the model's "
        "window.",
        quirks=(
            "Tokens that the model adds are points like the others, as in the original.",
            "`directions` and `seed` make one fixed set of directions: NumPy's default_rng(seed), "
            "normal numbers scaled to length one. The original draws its own, which are others.",
            "Tokens in the same place in a direction are ranked in the order of the text.",
            "HANNA's column is of bert-base-uncased, layer 9, and signed. MiniLM's layer 4 agrees "
            "best with it on prompts 0 to 47; on the other 48 it correlates at .531 with compat "
            "and at .487 without (machine stories): another space has other depths.",
        ),
        cannot_see="Order, and what is said of whom: a text is a cloud without sentences. Few "
        "tokens reach less far, so that short stories are far from long references: on HANNA the "
        "value falls with the number of words (r = −.45; HANNA's own column −.43).",
        published={"hanna": {"DepthScore": ("depthscore(compat=True)", "")}},
    )

    model: str = "embedded('minilm')"
    layer: Annotated[int, AtLeast(0)] = 4
    directions: Annotated[int, AtLeast(1)] = 10_000
    seed: Annotated[int, AtLeast(0)] = 0

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Work out every different text once, then compare story by story."""
        texts = distinct_texts(stories)
        encoder = self.model_as(Embedder)
        clouds = make_clouds(encoder, texts, layers=[self.layer], cut=self.compat)
        known = {text: self._reach(cloud) for text, cloud in zip(texts, clouds, strict=True)}
        return [self._compare_story(story, known) for story in stories]

    def _reach(self, cloud: Cloud) -> _Reach:
        if not len(cloud) or len(cloud) * self.directions > _MOST_PLACES:
            return _Reach(len(cloud), None, cloud.coverage)
        points = cloud.points[0].astype(np.float32, copy=False)  # (tokens, width)
        along = directions(self.directions, points.shape[1], self.seed)
        return _Reach(len(cloud), supports(points, along), cloud.coverage)

    def _compare_story(self, story: Story, known: dict[str, _Reach]) -> Reading:
        text, *references = texts_of(story)
        return self.best(self._between(known[text], known[other]) for other in references)

    def _between(self, story: _Reach, reference: _Reach) -> Reading:
        if not story.tokens or not reference.tokens:
            return self.missing(Status.UNDEFINED, "the model sees no token in one of the texts")
        if story.supports is None or reference.supports is None:
            most = max(story.tokens, reference.tokens)
            limit = f"{_MOST_PLACES // self.directions:,} for {self.directions:,} directions"
            return self.missing(Status.TOO_LONG, f"{most:,} tokens: over the limit of {limit}")
        value = distance(reference.supports, story.supports, signed=self.compat)
        if math.isnan(value):
            return self.missing(Status.UNDEFINED, "the mean of the signed gaps is negative")
        return Reading((value,), coverage=min(story.coverage, reference.coverage))


@dataclass(frozen=True)
class _Reach:
    """How many tokens a text has, and how far they reach; None where they are too many."""

    tokens: int
    supports: Array | None
    coverage: float
