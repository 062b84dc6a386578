"""Pairs of stories: how often a value puts the preferred one first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fabula.learned.training.examples import ExampleSet
from fabula.meta.resampling import estimate_mean
from fabula.replication.storyer._comparison import Compared
from fabula.replication.storyer._findings import Cell
from fabula.replication.storyer._material import Material
from fabula.replication.storyer._variants import RANKING
from fabula.text.features import FEATURE_NAMES

Array = np.ndarray[Any, np.dtype[Any]]
_TRIVIAL = {
    "words": "log_words",
    "unique words": "log_unique_words",
    "word length": "word_length",
    "moving type-token ratio": "moving_type_token_ratio",
}


def correct_pairs(outputs: Array, examples: ExampleSet) -> Array:
    """Give for every pair the share of seeds in which its first text is ahead; a tie is wrong.

    `outputs` are (seeds, texts, outputs), of which the first counts.
    """
    first, second = examples.members.T
    ahead = outputs[:, first, 0] > outputs[:, second, 0]
    found: Array = ahead.mean(0)
    return found


def accuracy_rows(
    material: Material, found: Compared, names: Sequence[str], *, first: str
) -> list[list[Cell]]:
    """Give the accuracy of every variant, and how far it stands below the first one."""
    pairs = found.examples[RANKING]
    counts: tuple[int, int] = len(pairs), len(set(pairs.items))
    right = {
        name: correct_pairs(found.said[name].outputs[RANKING, RANKING], pairs)
        for name in names
        if (RANKING, RANKING) in found.said[name].outputs
    }
    rows: list[list[Cell]] = []
    for name, one in right.items():
        ahead = estimate_mean(one, pairs.items, resamples=material.resamples)
        less = estimate_mean(right[first] - one, pairs.items, resamples=material.resamples)
        rows.append([name, ahead, None if name == first else less, *counts])
    return rows


def trivial_rows(material: Material, pairs: ExampleSet) -> list[list[Cell]]:
    """Give the accuracy of trivial baselines: the longer, the richer, the better."""
    rows: list[list[Cell]] = []
    for name, feature in _TRIVIAL.items():
        values = pairs.features[:, FEATURE_NAMES.index(feature)]
        right = correct_pairs(values[None, :, None], pairs)
        ahead = estimate_mean(right, pairs.items, resamples=material.resamples)
        rows.append([f"baseline: {name}", ahead, None, len(pairs), len(set(pairs.items))])
    return rows
