"""How likely one text is to a model that has read another: BARTScore's rule, for any model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from fabula.core.card import Need
from fabula.core.model import Likelihood, TokenLogs, Truncating
from fabula.core.score import Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.metrics.model_metric import ModelMetric

Use = Literal["HS", "SH", "PS", "SP"]

# Every window of the target is read beside every window of the source.
_MOST_PAIRS = 1_000_000_000


@dataclass(frozen=True)
class _Pair:
    """What the model reads and what it is asked about, and the share of the story that is left."""

    source: str
    target: str
    coverage: float


@dataclass(frozen=True)
class Seq2SeqScore(ModelMetric):
    """Mean log probability of a target's tokens, its signs counted, given a source."""

    # Tokens at which source and target are cut under compat, if they are.
    most_tokens: ClassVar[int | None] = None

    use: Annotated[Use, Means("source, target: S story, H human reference, P prompt")] = "HS"
    several: Annotated[Literal["mean", "max"], Means("over several references")] = "mean"

    @property
    def needs(self) -> tuple[Need, ...]:
        """What stands beside the story, by the use."""
        return ("reference",) if "H" in self.use else ("prompt",)

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Ask for the logs of all targets in one call."""
        model = self.model_as(Likelihood)
        pairs = [self._pairs(model, story) for story in stories]
        fit = [
            (pair.source, pair.target) for group in pairs for pair in group if not _is_long(pair)
        ]
        logs = model.logs(fit)
        return [self._join([self._reading(pair, logs) for pair in group]) for group in pairs]

    def _pairs(self, model: Likelihood, story: Story) -> list[_Pair]:
        prompt = (story.prompt or "").strip()
        others = [prompt] if "P" in self.use else list(story.nonblank_references)
        text, *others = self._cut(model, [story.text, *others])
        coverage = len(text) / len(story.text)
        if self.use.startswith("S"):
            return [_Pair(text, other, coverage) for other in others]
        return [_Pair(other, text, coverage) for other in others]

    def _cut(self, model: Likelihood, texts: list[str]) -> list[str]:
        if not self.compat or self.most_tokens is None or not isinstance(model, Truncating):
            return texts
        return model.truncate(texts, self.most_tokens)

    def _reading(self, pair: _Pair, logs: Iterator[TokenLogs]) -> Reading:
        if _is_long(pair):
            counts = f"{len(pair.source):,} × {len(pair.target):,} characters"
            note = f"{counts} of source and target: over the limit of {_MOST_PAIRS:,}"
            return self.missing(Status.TOO_LONG, note)
        token_logs = next(logs)
        told = np.array([*token_logs.logs, *token_logs.added])
        if not len(token_logs.logs) or np.isnan(told).all():
            return self.missing(Status.UNDEFINED, "the model sees no token in the target")
        # A mean of probabilities that are all 1 can lie a hair above it.
        value = min(float(np.nanmean(told)), 0.0)
        return Reading((value,), coverage=token_logs.coverage * pair.coverage)

    def _join(self, readings: list[Reading]) -> Reading:
        """Give the mean or best over the references that have a value."""
        good = [reading for reading in readings if reading.status is Status.OK]
        if not good:
            return readings[0]
        values = [reading.values[0] for reading in good]
        value = max(values) if self.several == "max" else sum(values) / len(values)
        return Reading((value,), coverage=min(reading.coverage for reading in good))


def _is_long(pair: _Pair) -> bool:
    return len(pair.source) * len(pair.target) > _MOST_PAIRS
