"""TIGEr's ranking and weights, beside plain loops over the paper's formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.core.score import Missing, Status
from fabula.learned.grounding.tiger import (
    compare_grounding,
    compare_ranking,
    compare_weights,
    weigh_regions,
)


def rank_by_loops(reference: list[float], candidate: list[float]) -> float:
    low, high = min(reference), max(reference)
    gains = [(value - low) / (high - low) for value in reference]
    order = sorted(range(len(candidate)), key=lambda region: -candidate[region])
    found = sum(gains[region] / math.log2(i + 2) for i, region in enumerate(order))
    best = sum(gain / math.log2(i + 2) for i, gain in enumerate(sorted(gains, reverse=True)))
    return found / best


def weigh_by_loops(reference: list[float], candidate: list[float]) -> float:
    p = [math.exp(value) for value in reference]
    q = [math.exp(value) for value in candidate]
    divergence = sum(
        a / sum(p) * math.log((a / sum(p)) / (b / sum(q))) for a, b in zip(p, q, strict=True)
    )
    norms = [math.sqrt(sum(v * v for v in row)) for row in (reference, candidate)]
    x = divergence + math.log(norms[0] / norms[1])
    return 1 - 1 / (1 + math.exp(-1.5 * x))


def test_values_by_hand():
    # Gains 1, ½, 0 in the order 2nd, 1st, 3rd: (½ + 1 / log2 3) / (1 + ½ / log2 3).
    ranking = compare_ranking(np.array([0.9, 0.5, 0.1]), np.array([0.4, 0.6, 0.2]))
    log = math.log2(3)
    assert ranking == pytest.approx((0.5 + 1 / log) / (1 + 0.5 / log))
    # Twice the row: softmaxes of (ln 3, 0) and (ln 9, 0) are ¾, ¼ and 9/10, 1/10.
    x = 0.75 * math.log(0.75 / 0.9) + 0.25 * math.log(0.25 / 0.1) + math.log(1 / 2)
    weights = compare_weights(np.array([math.log(3), 0.0]), np.array([math.log(9), 0.0]))
    assert weights == pytest.approx(1 - 1 / (1 + math.exp(-1.5 * x)))


def test_any_rows_give_what_plain_loops_give():
    rng = np.random.default_rng(7)
    for regions in (2, 5, 36):
        references = rng.uniform(-0.3, 0.9, (3, regions))
        candidate = rng.uniform(-0.3, 0.9, regions)
        mean = [sum(column) / 3 for column in references.T.tolist()]
        score = compare_grounding(references, candidate)
        assert score.ranking == pytest.approx(rank_by_loops(mean, candidate.tolist()))
        assert score.weights == pytest.approx(weigh_by_loops(mean, candidate.tolist()))
        assert score.mean == pytest.approx(0.5 * score.ranking + 0.5 * score.weights)
        assert 0 <= score.ranking <= 1
        assert 0 <= score.weights <= 1


def test_a_text_beside_itself_ranks_alike_and_has_half_of_the_weights():
    row = np.array([0.1, 0.7, 0.3])
    assert compare_grounding(row, row) == pytest.approx((1.0, 0.5))
    assert compare_grounding(row, row).mean == pytest.approx(0.75)


def test_the_order_of_the_regions_does_not_matter_even_where_they_tie():
    reference, candidate = np.array([0.9, 0.1, 0.5, 0.2]), np.array([0.3, 0.3, 0.3, 0.8])
    score = compare_grounding(reference, candidate)
    for order in ([3, 2, 1, 0], [1, 0, 3, 2]):
        assert compare_grounding(reference[order], candidate[order]) == pytest.approx(score)


@pytest.mark.parametrize(
    ("reference", "candidate", "words"),
    [
        ([0.5, 0.5], [0.1, 0.2], "equally relevant to the references"),
        ([0.1, 0.2], [0.5, 0.5], "equally relevant to the text"),
        ([0.4], [0.4], "equally relevant to the references"),
    ],
)
def test_constant_relevances_are_undefined_and_not_a_division_by_zero(reference, candidate, words):
    with pytest.raises(Missing, match=words) as missing:
        compare_grounding(np.array(reference), np.array(candidate))
    assert missing.value.status is Status.UNDEFINED


def test_a_row_of_zeros_has_no_weights():
    with pytest.raises(Missing, match="no region is relevant to the text"):
        compare_weights(np.array([0.1, 0.2]), np.zeros(2))


def test_extreme_relevances_stay_between_0_and_1():
    row = np.array([1.0, 600.0, -600.0])
    assert compare_weights(row, -row) == 0.0
    assert compare_weights(row * 1e-12, row * 1e-3) == pytest.approx(1.0)


def test_rows_of_different_regions_are_a_mistake():
    with pytest.raises(ValueError, match="regions"):
        compare_grounding(np.array([0.1, 0.2]), np.array([0.1, 0.2, 0.3]))


def test_a_region_looks_most_at_the_word_most_like_it():
    table = np.array([[0.8, 0.2], [0.1, 0.1]])
    attention = math.exp(9 * 0.8) / (math.exp(9 * 0.8) + math.exp(9 * 0.2))
    expected = attention * 0.8 + (1 - attention) * 0.2
    assert weigh_regions(table) == pytest.approx([expected, 0.1])
    # Without sharpness it is the mean over the words.
    assert weigh_regions(table, sharpness=0.0) == pytest.approx([0.5, 0.1])
    with pytest.raises(Missing, match="no word"):
        weigh_regions(np.zeros((3, 0)))
