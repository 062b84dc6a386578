"""RUBER: does the story answer its prompt, and is it like a story that does?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from fabula.core.card import Card, Need
from fabula.core.errors import SettingError, UnknownName, UserError
from fabula.core.metric import Metric
from fabula.core.score import Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.learned._domain import unfamiliar
from fabula.learned._ruber_model import Pooled, RuberModel, load_ruber
from fabula.learned._ruber_network import Bounds, cosine

_NEEDS: dict[str, tuple[Need, ...]] = {
    "unreferenced": ("prompt",),
    "referenced": ("reference",),
    "hybrid": ("prompt", "reference"),
}


@dataclass(frozen=True)
class Ruber(Metric):
    """Probability that the story was written on its prompt, by a network on a frozen encoder."""

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

    weights: Annotated[str, Means("an asset, or the folder of a training")] = "ruber"
    how: Literal["unreferenced", "referenced", "hybrid"] = "unreferenced"

    def check(self) -> None:
        """Refuse a name that names nothing."""
        if not self.weights.strip() or not self.weights.isprintable():
            problem = f"weights={self.weights!r} names no weights"
            raise self.refuse(problem, "name an asset, or the folder of a training")

    @property
    def needs(self) -> tuple[Need, ...]:
        """What the story is held against."""
        return _NEEDS[self.how]

    def traits(self) -> dict[str, str]:
        """Digest of the network, and the encoder's signature."""
        found = self._attempt
        return {"model": found.signature if isinstance(found, RuberModel) else "missing"}

    @property
    def at_hand(self) -> bool:
        """Whether the weights can be had."""
        return isinstance(self._attempt, RuberModel)

    def read(self, stories: Sequence[Story]) -> list[Reading]:
        """Pool every different text once, then look at stories one by one."""
        model = self._attempt
        if isinstance(model, str):
            return [self.missing(Status.MISSING_MODEL, model) for _ in stories]
        texts = list(dict.fromkeys(text for one in stories for text in self._texts(one)))
        found = dict(zip(texts, model.pooled(texts, cut=self.compat), strict=True))
        return [self._reading(story, model, found) for story in stories]

    def _texts(self, story: Story) -> list[str]:
        prompt = [story.prompt or ""] if "prompt" in self.needs else []
        return [story.text, *prompt, *self._references(story)]

    def _references(self, story: Story) -> list[str]:
        return [one for one in story.references if one.strip() and "reference" in self.needs]

    def _reading(self, story: Story, model: RuberModel, found: dict[str, Pooled]) -> Reading:
        text = found[story.text]
        parts: list[tuple[float, Bounds]] = []
        if "prompt" in self.needs and story.prompt:
            chance = model.chance(found[story.prompt], text)
            parts.append((chance, model.about.unreferenced))
        if references := self._references(story):
            cosines = [cosine(text.vector, found[one].vector) for one in references]
            alike = max((one for one in cosines if not math.isnan(one)), default=math.nan)
            parts.append((alike, model.about.referenced))
        values = [b.place(v) if self.how == "hybrid" else v for v, b in parts]
        value = sum(values) / len(values)
        if math.isnan(value):
            note = "the encoder sees no token in one of the texts"
            return self.missing(Status.UNDEFINED, note)
        note = "; ".join(unfamiliar(story.text, model.about.domain))
        return Reading((value,), coverage=text.coverage, note=note)

    @cached_property
    def _attempt(self) -> RuberModel | str:
        """Give the network with its encoder, or why it cannot be had."""
        try:
            return load_ruber(self.weights)
        except (SettingError, UnknownName) as error:
            # Weights of ours that this Fabula does not know yet are no mistake of the user's.
            if self.weights in self.card.assets:
                return str(error)
            raise
        except UserError as error:
            return str(error)
