"""A filler of gaps whose guesses are told, so that values can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from fabula.core.model import MeanGuess
from fabula.metrics import model_metric
from fabula.models.networks.tuning import Lesson, Tuning

Row = Sequence[str | None]


@dataclass(frozen=True)
class ToldFiller:
    """Tokens are words between blanks; a gap's word comes of `choose`, a guess of `chances`."""

    choose: Callable[[list[str | None], int], str] = lambda row, at: "?"
    chances: Mapping[str, Sequence[float]] = field(default_factory=dict)
    room: int = 40
    signature: str = "told"
    lessons: tuple[Lesson, ...] = ()
    asked: list[Any] = field(default_factory=list)

    def tokens(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [tuple(text.split()) for text in texts]

    def fill(self, rows: Sequence[Row]) -> list[tuple[str, ...]]:
        self.asked.extend(rows)
        return [
            tuple(self.choose(list(row), at) for at, token in enumerate(row) if token is None)
            for row in rows
        ]

    def mean_guesses(
        self, texts: Sequence[str], weights: Sequence[Sequence[float]], *, temperature: float = 1.0
    ) -> Iterator[MeanGuess]:
        self.asked.extend(texts)
        for tokens, some in zip(self.tokens(texts), weights, strict=True):
            table = np.array([self.chances[token] for token in tokens]).reshape(len(tokens), -1)
            total = sum(some)
            mean = np.array(some) @ table / total if total else np.full(1, np.nan)
            yield MeanGuess(mean)

    def tune_on(self, lessons: Sequence[Lesson], tuning: Tuning) -> ToldFiller:
        """Give one that puts the first word it was taught into every gap."""
        self.asked.append(tuning)
        taught = lessons[0].tokens[lessons[0].gaps[0]]
        return replace(self, choose=lambda row, at: taught, lessons=tuple(lessons))


def tell_filler(monkeypatch: pytest.MonkeyPatch, **rest: Any) -> ToldFiller:
    """Make every metric's model a told filler."""
    model = ToldFiller(**rest)
    monkeypatch.setattr(model_metric, "load_model", lambda spec: model)
    return model
