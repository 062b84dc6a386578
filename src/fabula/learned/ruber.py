"""RUBER: does the story answer its prompt, and is it like a story that does?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fabula.core.card import Card, Need
from fabula.core.model import CountsUnknown, TokenCount
from fabula.core.score import Reading, Status
from fabula.core.story import Story
from fabula.learned.reader.domain import describe_oddities
from fabula.learned.reader.metric import LearnedMetric, Weights
from fabula.learned.ruber_model.network import Bounds, Pooled, RuberModel, cosine, load_ruber

_NEEDS: dict[str, tuple[Need, ...]] = {
    "unreferenced": ("prompt",),
    "referenced": ("reference",),
    "hybrid": ("prompt", "reference"),
}


@dataclass(frozen=True)
class Ruber(LearnedMetric[RuberModel]):
    """Probability that the story was written on its prompt, by a network on a frozen encoder."""

    revision = 2
    card = Card(
        title="RUBER",
        family="learned",
        direction="higher",
        low=-1.0,
        high=1.0,
        needs=("prompt",),
        uses=("reference",),
        assets=("story_encoder", "ruber"),
        references="with how='referenced' and how='hybrid' the nearest reference counts",
        typical=("ruber",),
        paper="Tao, Mou, Zhao and Yan (2018). RUBER: An Unsupervised Method for Automatic "
        "Evaluation of Open-Domain Dialog Systems. AAAI, 722–729. With a frozen encoder: "
        "Ghazarian, Wei, Galstyan and Peng (2019). Better Automatic Evaluation of Open-Domain "
        "Dialogue Systems with Contextualized Embeddings. NeuralGen, 82–89.",
        formula="how='unreferenced': the softmax of two logits, those of a layer with tanh over "
        "[q; qᵀMr; r], where q is the prompt and r the story, each the pool of the states of its "
        "tokens (0 to 1). how='referenced': the cosine of the pools of story and reference (-1 to "
        "1). how='hybrid': the mean of both, each brought between 0 and 1 by the bounds that it "
        "had in training",
        compat="Of every text the first 500 tokens are read, as in the release for BERT.",
        quirks=(
            "Made for dialogue: the prompt plays the context and the story the reply.",
            "Whether tokens are pooled by their maximum, as in the release, or their mean is the "
            "training's choice. Ours takes the mean: by the maximum a story's own prompt had more "
            "than another for .68 of the held-out stories, by the mean for .82 [.77, .87].",
            "Vectors are brought to mean 0 and deviation 1 by those of the training, and M begins "
            "as a cosine would have it, which the paper does not do; from chance numbers .74.",
            "It hardly beats counting: on HANNA's machine stories its values correlate with "
            "people's relevance at .348 [.278, .408], the share of the prompt's words that the "
            "story holds at .301 [.231, .372]; among the stories of one prompt .295 and .335.",
            "The paper's bounds come of the stories at hand; ours of the training, so that a value "
            "does not depend on other stories.",
        ),
        cannot_see="Whether the story is good, or well told: a shuffled story on the right subject "
        "has a high value.",
    )

    weights: Weights = "ruber"
    how: Literal["unreferenced", "referenced", "hybrid"] = "unreferenced"

    @property
    def needs(self) -> tuple[Need, ...]:
        """What the story is held against."""
        return _NEEDS[self.how]

    def load(self) -> RuberModel:
        """Load the network with its encoder."""
        return load_ruber(self.weights)

    def traits(self) -> dict[str, str]:
        """Digest of the network, and the encoder's signature."""
        return {"model": self.model.signature if self.at_hand else "missing"}

    def count_unknown(self, texts: Sequence[str]) -> Sequence[TokenCount]:
        """Ask the encoder, if it has a sign for what it does not know."""
        encoder = self.model.encoder
        return encoder.count_unknown(texts) if isinstance(encoder, CountsUnknown) else ()

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Pool every different text once, then look at stories one by one."""
        texts = list(dict.fromkeys(text for story in stories for text in self._texts(story)))
        pooled = dict(zip(texts, self.model.pool(texts, cut=self.compat), strict=True))
        return [self._compare(story, pooled) for story in stories]

    def _texts(self, story: Story) -> list[str]:
        prompt = [story.prompt or ""] if "prompt" in self.needs else []
        return [story.text, *prompt, *self._references(story)]

    def _references(self, story: Story) -> list[str]:
        return list(story.nonblank_references) if "reference" in self.needs else []

    def _compare(self, story: Story, pooled: dict[str, Pooled]) -> Reading:
        text, config = pooled[story.text], self.model.config
        parts: list[tuple[float, Bounds]] = []
        if "prompt" in self.needs and story.prompt:
            chance = self.model.chance(pooled[story.prompt], text)
            parts.append((chance, config.unreferenced))
        if references := self._references(story):
            cosines = [cosine(text.vector, pooled[reference].vector) for reference in references]
            nearest = max((near for near in cosines if not math.isnan(near)), default=math.nan)
            parts.append((nearest, config.referenced))
        values = [b.place(v) if self.how == "hybrid" else v for v, b in parts]
        value = sum(values) / len(values)
        if math.isnan(value):
            note = "the encoder sees no token in one of the texts"
            return self.missing(Status.UNDEFINED, note)
        note = "; ".join(describe_oddities(story.text, config.domain))
        return Reading((value,), coverage=text.coverage, note=note)
