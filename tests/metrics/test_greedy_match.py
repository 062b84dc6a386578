from __future__ import annotations

import numpy as np
import pytest

from fabula.metrics import _vectors
from fabula.metrics._vectors import excess, largest_cosines

LEFT = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
RIGHT = np.array([[0.8, 0.6], [0.0, -1.0]])


@pytest.mark.parametrize("block", [1, 3, 4_000_000])
def test_every_vector_finds_its_nearest_whatever_is_held_at_once(block, monkeypatch):
    monkeypatch.setattr(_vectors, "BLOCK_PAIRS", block)
    forth, back = largest_cosines(LEFT, RIGHT)
    # Cosines: .8 0; .6 −1; −.8 0.
    assert forth == pytest.approx([0.8, 0.6, 0.0])
    assert back == pytest.approx([0.8, 0.0])


def test_no_cosine_is_above_one():
    almost = np.array([[0.6, 0.8 + 1e-9]])
    forth, back = largest_cosines(almost, almost)
    assert forth.max() == back.max() == 1.0


def test_too_many_pairs_are_said_with_the_limit():
    assert excess(10_000, 20_000) == ""
    assert excess(20_000, 20_000) == "20,000 × 20,000 tokens: over the limit of 200,000,000 pairs"
