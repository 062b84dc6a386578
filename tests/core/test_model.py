from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fabula.core.model import (
    Embedder,
    Generator,
    Likelihood,
    MaskedLikelihood,
    TokenLogs,
    TokenStates,
)

PROTOCOLS = [Embedder, Generator, Likelihood, MaskedLikelihood]


class Writer:
    """Offers one of the four."""

    signature = "writer"

    def generate(self, prompts: list[str], **settings: object) -> list[str]:
        return prompts


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_model_offers_what_it_has_the_methods_of(protocol: type) -> None:
    assert isinstance(Writer(), protocol) == (protocol is Generator)


def test_what_comes_back_is_read_whole_unless_it_says_otherwise() -> None:
    assert TokenStates((), (), np.zeros((1, 0, 4))).coverage == 1.0
    logs = TokenLogs((), (), np.zeros(0))
    assert logs.coverage == 1.0
    assert logs.entropies is None


def test_what_comes_back_does_not_change() -> None:
    logs = TokenLogs(("a",), ((0, 1),), np.zeros(1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        logs.coverage = 0.5  # type: ignore[misc]
