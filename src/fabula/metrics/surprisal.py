"""Surprisal over the story: how the model's surprise rises, falls and varies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.card import Card
from fabula.core.model import Likelihood, TokenLogs
from fabula.core.score import Reading, Status
from fabula.core.story import Story
from fabula.metrics.model_metric import ModelMetric
from fabula.text.sentences import sentence_spans

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class Surprisal(ModelMetric):
    """Bits per token sentence by sentence: their mean, their spread, and the rise to the end."""

    revision = 2
    card = Card(
        title="Surprisal over the story",
        label="Surprisal",
        family="model",
        direction="descriptive",
        uses=("prompt",),
        aspects=("", "spread", "rise"),
        assets=("smollm2",),
        paper="Levy (2008). Expectation-based syntactic comprehension. Cognition 106; uniform "
        "information density: Jaeger and Levy (2007), NIPS 19.",
        formula="−log₂ p averaged within each sentence; mean over sentences, their standard "
        "deviation, and the slope of a line through them from begin to end",
        quirks=(
            "The note of a score holds the curve: bits per token, sentence by sentence.",
            "The prompt is context and not counted; a single sentence has no spread and no rise.",
            "Values of models with other tokenisers do not compare.",
        ),
        cannot_see="Why a sentence surprises: a twist, a rare name and an error look the same.",
    )

    model: str = "embedded('smollm2')"
    prompt: bool = True

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Ask for the logs of every story given its prompt."""
        prompts = [(story.prompt or "").strip() if self.prompt else "" for story in stories]
        pairs = [
            (f"{prompt}\n" if prompt else "", story.text)
            for prompt, story in zip(prompts, stories, strict=True)
        ]
        logs = self.model_as(Likelihood).logs(pairs)
        return [
            self._reading(story.text, text_logs)
            for story, text_logs in zip(stories, logs, strict=True)
        ]

    def _reading(self, text: str, token_logs: TokenLogs) -> Reading:
        curve = sentence_bits(text, token_logs)
        if not len(curve):
            return self.missing(Status.UNDEFINED, "the model sees no token to guess")
        note = "bits by sentence: " + " ".join(f"{bits:.2f}" for bits in curve)
        shape = _shape(curve) if len(curve) > 1 else (math.nan, math.nan)
        note += "" if len(curve) > 1 else " (one sentence has no spread and no rise)"
        return Reading((float(curve.mean()), *shape), coverage=token_logs.coverage, note=note)


def _shape(curve: Array) -> tuple[float, float]:
    """Standard deviation, and the rise of a straight line from the first sentence to the last."""
    slope = np.polyfit(np.linspace(0, 1, len(curve)), curve, 1)[0]
    return float(curve.std(ddof=1)), float(slope)


def sentence_bits(text: str, token_logs: TokenLogs) -> Array:
    """Mean bits per token of every sentence that has one; a token may begin with blanks."""
    bits = -np.asarray(token_logs.logs, dtype=np.float64) / math.log(2)
    ends = [end for _, end in sentence_spans(text)]
    last = np.array([end - 1 for _, end in token_logs.spans], dtype=int)
    places = np.minimum(np.searchsorted(ends, last, side="right"), len(ends) - 1)
    known = ~np.isnan(bits)
    counts = np.bincount(places[known], minlength=len(ends))
    sums = np.bincount(places[known], weights=bits[known], minlength=len(ends))
    means: Array = sums[counts > 0] / counts[counts > 0]
    return means
