"""A model that puts words where it was told, so that distances can be worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from fabula.core.model import TokenStates
from fabula.metrics import model_metric

EAST, NORTH, WEST, SOUTH = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)


@dataclass
class PlacedModel:
    """Every word, as written, stands at one point a layer; a beginning and an end point east."""

    points: dict[str, Sequence[tuple[float, float]]]
    layers: int = 1
    width: int = 2
    window: int | None = None
    signature: str = "placed"

    def tokens(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [tuple(text.split()) for text in texts]

    def states(self, texts: Sequence[str], layers: Sequence[int]) -> Iterator[TokenStates]:
        return (self._states(text, layers) for text in texts)

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        raise NotImplementedError

    def _states(self, text: str, layers: Sequence[int]) -> TokenStates:
        spans, at = [(0, 0)], 0
        for word in text.split():
            start = text.index(word, at)
            spans.append((start, at := start + len(word)))
        ends = [EAST] * self.layers
        rows = [ends, *(self.points[word] for word in text.split()), ends]
        states = np.array(rows, dtype=float).transpose(1, 0, 2)[list(layers)]
        return TokenStates(("<s>", *text.split(), "</s>"), (*spans, (0, 0)), states)


def place(monkeypatch: pytest.MonkeyPatch, **points: tuple[float, float]) -> PlacedModel:
    """Make every metric's model one that knows these words, in one layer."""
    model = PlacedModel({word: [point] for word, point in points.items()})
    monkeypatch.setattr(model_metric, "load_model", lambda spec: model)
    return model
