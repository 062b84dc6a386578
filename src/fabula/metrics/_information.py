"""How far apart two distributions are: the measures of InfoLM (Colombo et al., 2022).

All are 0 for distributions that are equal and above 0 for others; infinite where one is 0 and the
measure divides by it. They are taken in logarithms and double precision, because most of a
vocabulary has next to no probability.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from fabula.core.model import Array

Measure = Literal[
    "fisher_rao", "kl", "alpha", "renyi", "beta", "ab", "l1", "l2", "l_infinity"
]  # fmt: skip


def distance(
    measure: Measure, left: Array, right: Array, *, alpha: float = 0.25, beta: float = 0.25
) -> float:
    """Give a measure of the right distribution seen from the left one; at least 0."""
    left, right = (np.asarray(side, dtype=np.float64) for side in (left, right))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        match measure:
            case "fisher_rao":
                found = fisher_rao(left, right)
            case "kl":
                found = kullback_leibler(left, right)
            case "alpha":
                found = np.expm1(_log_sum(left, alpha, right, 1 - alpha)) / (alpha * (alpha - 1))
            case "renyi":
                found = _log_sum(left, alpha, right, 1 - alpha) / (alpha - 1)
            case "beta":
                found = alpha_beta(left, right, 1.0, beta)
            case "ab":
                found = alpha_beta(left, right, alpha, beta)
            case _:
                order = {"l1": 1, "l2": 2, "l_infinity": np.inf}[measure]
                found = float(np.linalg.norm(left - right, order))
    return max(float(found), 0.0)


def fisher_rao(left: Array, right: Array) -> float:
    """2·arccos Σ√(pq), from 0 to π.

    Written as 4·arcsin(½‖√p − √q‖), which loses no digits where p and q are nearly equal.
    """
    apart = float(np.linalg.norm(np.sqrt(left) - np.sqrt(right)))
    return 4 * math.asin(min(apart / 2, math.sqrt(0.5)))


def kullback_leibler(left: Array, right: Array) -> float:
    """Σ p·log(p/q), in nats; where p is 0 nothing is added."""
    there = left > 0
    return float(np.sum(left[there] * (np.log(left[there]) - np.log(right[there]))))


def alpha_beta(left: Array, right: Array, alpha: float, beta: float) -> float:
    """log Σp^(α+β) / β(α+β) + log Σq^(α+β) / α(α+β) − log Σp^α·q^β / αβ."""
    both = alpha + beta
    return (
        _log_sum(left, both, right, 0.0) / (beta * both)
        + _log_sum(right, both, left, 0.0) / (alpha * both)
        - _log_sum(left, alpha, right, beta) / (alpha * beta)
    )


def impossible(measure: Measure, alpha: float, beta: float) -> str:
    """Say which settings the measure would divide by zero with, if they are among these."""
    if measure == "alpha" and alpha in (0.0, 1.0):
        return f"alpha={alpha:g} divides by zero; take another, or measure='kl', its limit"
    if measure == "renyi" and (alpha <= 0 or alpha == 1):
        return f"alpha={alpha:g} gives no divergence; take one above 0, or measure='kl' for 1"
    if measure == "beta" and beta in (0.0, -1.0):
        return f"beta={beta:g} divides by zero; take neither 0 nor -1"
    if measure == "ab" and 0.0 in (alpha, beta, alpha + beta):
        return (
            f"alpha={alpha:g} and beta={beta:g} divide by zero; neither they nor their sum may be 0"
        )
    return ""


def _log_sum(left: Array, alpha: float, right: Array, beta: float) -> float:
    """log Σ p^α·q^β; a power of 0 is 1, also of 0."""
    terms = _power(left, alpha) + _power(right, beta)
    # What neither text leads to adds nothing, though one side were divided by it.
    terms = np.where(np.isnan(terms), -np.inf, terms)
    most = float(terms.max())
    return most if math.isinf(most) else most + math.log(float(np.exp(terms - most).sum()))


def _power(side: Array, exponent: float) -> Any:
    """Logarithms of the powers of probabilities."""
    return exponent * np.log(side) if exponent else np.zeros_like(side)
