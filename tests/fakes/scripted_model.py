"""A model that says what it was told, so that values can be worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from fabula.core.model import Span, TokenLogs
from fabula.metrics import model_metric
from fabula.models import fake


def told_logs(*chances: tuple[str, float], start: int = 0, **rest: Any) -> TokenLogs:
    """Tokens that follow each other, with their probabilities."""
    spans: list[Span] = []
    for token, _ in chances:
        spans.append((start, start := start + len(token)))
    tokens = tuple(token for token, _ in chances)
    logs = np.array([math.log(chance) for _, chance in chances])
    return TokenLogs(tokens, tuple(spans), logs, **rest)


@dataclass
class ToldModel:
    """Likelihood and masked likelihood of one text; keeps what it was asked."""

    found: TokenLogs
    signature: str = "told"
    asked: list[Any] = field(default_factory=list)

    def logs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[TokenLogs]:
        self.asked += pairs
        return iter([self.found])

    def masked_logs(self, texts: Sequence[str]) -> Iterator[TokenLogs]:
        self.asked += texts
        return iter([self.found])


def blind_to(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Make the fake model see no token in that text."""
    seen = fake.split_tokens
    monkeypatch.setattr(fake, "split_tokens", lambda one: ((), ()) if one == text else seen(one))


def tell(monkeypatch: pytest.MonkeyPatch, found: TokenLogs) -> ToldModel:
    """Make every metric's model one that says `found`."""
    model = ToldModel(found)
    monkeypatch.setattr(model_metric, "load_model", lambda spec: model)
    return model
