from __future__ import annotations

import numpy as np
import pytest

from fabula.metrics import _vectors
from fabula.metrics._vectors import dot_products


@pytest.mark.parametrize("shape", [(1, 1, 3), (7, 5, 2), (300, 40, 50), (3, 6_000, 50)])
@pytest.mark.parametrize("alone", [0, 1_000, 250_000])
def test_tiles_change_nothing(shape, alone, monkeypatch):
    monkeypatch.setattr(_vectors, "_ALONE", alone)
    chance = np.random.default_rng(1)
    left, right = (chance.normal(size=(rows, shape[2])) for rows in shape[:2])
    expected = np.einsum("lw,rw->lr", left, right)
    np.testing.assert_allclose(dot_products(left, right), expected, atol=1e-12)


def test_no_vectors_give_no_products():
    assert dot_products(np.zeros((3, 2)), np.zeros((0, 2))).shape == (3, 0)
    assert dot_products(np.zeros((0, 2)), np.zeros((3, 2))).shape == (0, 3)
