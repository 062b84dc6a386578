"""Masked entropy: how open every place of the story is to a reader who knows the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.card import Card
from fabula.core.model import MaskedLikelihood, TokenLogs
from fabula.core.score import Reading, Status
from fabula.core.story import Story
from fabula.metrics.model_metric import ModelMetric


@dataclass(frozen=True)
class MaskedEntropy(ModelMetric):
    """Mean entropy of a masked language model's guesses, and the mean surprise of the truth."""

    revision = 2
    card = Card(
        title="Masked entropy",
        family="model",
        direction="descriptive",
        low=0.0,
        aspects=("", "surprisal"),
        assets=("story_encoder",),
        paper="Salazar, Liang, Nguyen and Kirchhoff (2020). Masked Language Model Scoring. ACL "
        "(pseudo-log-likelihood).",
        formula="each token masked in turn: mean of −Σ p log₂ p over the vocabulary, and mean of "
        "−log₂ p of the token that stands there; in bits",
        quirks=(
            "Embedded models mask every eighth token in one go (`apart` in the signature): far "
            "fewer passes, and values that do not compare with those of one token at a time.",
            "A head that the checkpoint does not hold is refused, never scored with.",
        ),
        cannot_see="What lies beyond one window of the model; the prompt; whether what is open or "
        "surprising is any good.",
    )

    model: str = "embedded('story_encoder')"

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Mask every token of every story in turn."""
        logs_by_text = self.model_as(MaskedLikelihood).masked_logs(
            [story.text for story in stories]
        )
        return [self._reading(logs) for logs in logs_by_text]

    def _reading(self, token_logs: TokenLogs) -> Reading:
        if not len(token_logs.logs) or token_logs.entropies is None:
            return self.missing(Status.UNDEFINED, "the model sees no token to guess")
        bits = 1 / math.log(2)
        entropy = float(np.mean(token_logs.entropies)) * bits
        return Reading(
            (entropy, -float(np.mean(token_logs.logs)) * bits), coverage=token_logs.coverage
        )
