"""Perplexity: how far a language model is surprised by the story."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabula.core.card import Card
from fabula.core.model import Likelihood, TokenLogs
from fabula.core.score import Reading, Status
from fabula.core.story import Story
from fabula.metrics.model_metric import ModelMetric
from fabula.text.words import words

_MOST_TOKENS = 1000


@dataclass(frozen=True)
class Perplexity(ModelMetric):
    """Exponential of the mean negative log probability, per token and per word."""

    revision = 2
    card = Card(
        title="Perplexity",
        family="model",
        direction="lower",
        low=1.0,
        uses=("prompt",),
        aspects=("", "word"),
        assets=("smollm2",),
        paper="Jelinek, Mercer, Bahl and Baker (1977). Perplexity: a measure of the difficulty of "
        "speech recognition tasks. JASA 62.",
        formula="exp(−Σ log p / tokens), and the same sum over the number of words",
        compat="OpenMEVA's: prompt, a blank and the story are one text cut at 1,000 tokens, and "
        "the prompt counts but for its first token.",
        quirks=(
            "The prompt is context and not counted; a text without one begins with the model's "
            "own beginning.",
            "Values per token of models with other tokenisers do not compare; those per word do.",
            "Long stories are read by a sliding window: every token counts once.",
            "On a processor a value is the same to the last bit whatever else is scored with it; "
            "on a GPU stories are read in batches, which moves it by up to 1e-6 of itself.",
        ),
        cannot_see="Quality: dull and repetitive text is likely text. On preferences of readers "
        "low perplexity is no merit.",
    )

    model: str = "embedded('smollm2')"
    prompt: bool = True

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Ask for the logs of every story given its prompt."""
        pairs = [self._pair(story) for story in stories]
        logs = self.model_as(Likelihood).logs(pairs)
        return [
            self._reading(story, text_logs) for story, text_logs in zip(stories, logs, strict=True)
        ]

    def _pair(self, story: Story) -> tuple[str, str]:
        context = (story.prompt or "").strip() if self.prompt else ""
        if self.compat:
            return "", f"{context} {story.text}".strip()
        return (context + "\n" if context else ""), story.text

    def _reading(self, story: Story, token_logs: TokenLogs) -> Reading:
        logs, text, read = token_logs.logs, story.text, 1.0
        if self.compat and len(logs):
            kept = min(len(logs), _MOST_TOKENS)
            text, read = self._pair(story)[1][: token_logs.spans[kept - 1][1]], kept / len(logs)
            logs = logs[1:kept]
        logs = logs[~np.isnan(logs)]
        if not len(logs):
            return self.missing(Status.UNDEFINED, "the model sees no token to guess")
        loss, count = -float(logs.sum()), len(words(text))
        values = _exp(loss / len(logs)), _exp(loss / count) if count else math.nan
        note = "" if math.isfinite(values[1]) else "no words, or more than a number can hold"
        return Reading(values, coverage=token_logs.coverage * read, note=note)


def _exp(value: float) -> float:
    """Exponential; what no number can hold is infinite, and so no value."""
    return math.exp(value) if value < 700 else math.inf
