"""TIGEr's arithmetic: do a text and its references speak of the same regions of a picture?

Jiang, Huang, Zhang, Wang, Zhang, Gan, Diesner and Gao (2019), TIGEr: Text-to-image grounding for
image caption evaluation, EMNLP-IJCNLP, 2141–2152. A text gives every region of a picture a
relevance; two such rows are compared by the order of the regions and by how much weight each has.
Any model that says how alike regions and words are will do. TIGEr itself asks SCAN, whose features
are not at hand: the values that its authors print (.691916 for their example) cannot be had again
from here, only the arithmetic that makes them of relevances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fabula.core.score import Missing, Status

if TYPE_CHECKING:
    from fabula.core.model import Array

# How sharply a region looks at the word most like it: SCAN's, from picture to text.
SHARPNESS = 9.0
# What a difference of weights is multiplied by before it becomes a similarity.
_STEEPNESS = 1.5


class TigerScore(NamedTuple):
    """`ranking` says whether regions come in the same order, `weights` whether each has as much;
    both from 0 to 1, and their mean."""

    ranking: float
    weights: float

    @property
    def mean(self) -> float:
        """Half of each: the score."""
        return (self.ranking + self.weights) / 2


def weigh_regions(similarities: Array, sharpness: float = SHARPNESS) -> Array:
    """Give each region its relevance to a text from its similarity to each word.

    `similarities` are (regions, words). A region attends to words by softmax(sharpness ·
    similarity), and its relevance is the mean similarity by that attention. SCAN takes the cosine
    of region and attended words, which needs the vectors; this needs the similarities alone.
    """
    table = np.asarray(similarities, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise Missing(Status.UNDEFINED, "there is no region or no word to compare")
    attention = np.exp(log_softmax(sharpness * table))  # (regions, words)
    weighted: Array = (attention * table).sum(axis=1)
    return weighted


def compare_grounding(references: Array, candidate: Array) -> TigerScore:
    """Compare the relevances of a text with the mean of its references': (references, regions)."""
    mean = np.atleast_2d(np.asarray(references, dtype=np.float64)).mean(axis=0)
    row = np.asarray(candidate, dtype=np.float64)
    if mean.shape != row.shape or not row.size:
        raise ValueError(f"relevances of {mean.shape} and {row.shape} regions")
    return TigerScore(compare_ranking(mean, row), compare_weights(mean, row))


def compare_ranking(reference: Array, candidate: Array) -> float:
    """RRS: the NDCG of the candidate's order of regions, from 0 to 1.

    A region's gain is its reference relevance, brought between 0 and 1; the i-th region counts
    1 / log2(i + 2), i from 0. Regions of the same relevance share their places' gains, so that
    their order in the list does not matter. Where all regions are alike there is no order.
    """
    for row, which in ((reference, "references"), (candidate, "text")):
        if row.min() == row.max():
            note = f"all regions are equally relevant to the {which}: there is no order"
            raise Missing(Status.UNDEFINED, note)
    gains = (reference - reference.min()) / (reference.max() - reference.min())
    discounts = 1 / np.log2(np.arange(len(gains)) + 2)
    _, group = np.unique(-candidate, return_inverse=True)
    shared = np.bincount(group, weights=gains) / np.bincount(group)
    found = shared[np.sort(group)] @ discounts
    return float(found / (np.sort(gains)[::-1] @ discounts))


def compare_weights(reference: Array, candidate: Array) -> float:
    """WDS: 1 − σ(1.5 x) of x = KL(softmax reference ‖ softmax candidate) + log of the norms' ratio.

    Equal rows give x = 0 and a half, not 1: what is above a half comes of a candidate with the
    larger relevances.
    """
    norms = [float(np.linalg.norm(row)) for row in (reference, candidate)]
    if not all(norms):
        which = "references" if not norms[0] else "text"
        raise Missing(Status.UNDEFINED, f"no region is relevant to the {which}")
    p, q = log_softmax(reference), log_softmax(candidate)
    x = float((np.exp(p) * (p - q)).sum()) + np.log(norms[0] / norms[1])
    # 1 − σ(y) = (1 − tanh(y / 2)) / 2, which overflows for no y.
    return float((1 - np.tanh(_STEEPNESS * x / 2)) / 2)


def log_softmax(values: Array) -> Array:
    """Logarithms of shares that add up to 1 over the last axis."""
    shifted = values - values.max(axis=-1, keepdims=True)
    logs: Array = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return logs
