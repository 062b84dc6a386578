"""What a check found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """A figure we claim, and what came out here.

    `wanted` and `found` are words for people; `outcome` is for machines. What is `reported` has
    no bar.
    """

    part: str
    claim: str
    wanted: str
    found: str
    outcome: Literal["verified", "short", "reported", "not checked here"]


def equality(
    part: str, claim: str, values: Sequence[tuple[float, float]], *, tolerance: float, share: float
) -> Finding:
    """Count how many pairs of values (ours, published) are equal within a tolerance.

    The tolerance is absolute below 1 and relative above.
    """
    equal = sum(abs(ours - theirs) <= tolerance * max(1, abs(theirs)) for ours, theirs in values)
    largest = max((abs(ours - theirs) for ours, theirs in values), default=0.0)
    good = bool(values) and equal >= share * len(values)
    return Finding(
        part,
        claim,
        f"≥ {share:.1%} equal within {tolerance:g}",
        f"{equal:,} of {len(values):,} equal, largest difference {largest:.2g}",
        "verified" if good else "short",
    )


def correlation(
    part: str,
    claim: str,
    values: Sequence[tuple[float, float]],
    harder: Sequence[tuple[float, float]],
    *,
    least: float,
) -> Finding:
    """Correlate pairs of values (ours, published), all of them and those that are harder."""
    found, hard = _pearson(values), _pearson(harder)
    return Finding(
        part,
        claim,
        f"r ≥ {least:g}",
        f"r = {found:.4f} on {len(values):,} stories, {hard:.4f} on {len(harder):,} by machines",
        "verified" if found >= least else "short",
    )


def _pearson(values: Sequence[tuple[float, float]]) -> float:
    import numpy as np

    ours, theirs = zip(*values, strict=True)
    return float(np.corrcoef(ours, theirs)[0, 1])


def barred(part: str, claim: str, *, wanted: str, found: str, good: bool) -> Finding:
    """Give a finding that has a bar."""
    return Finding(part, claim, wanted, found, "verified" if good else "short")


def reported(part: str, claim: str, found: str) -> Finding:
    """Give a finding without a bar."""
    return Finding(part, claim, "–", found, "reported")


def unchecked(part: str, claim: str, why: str) -> Finding:
    """Say that a claim could not be checked here, and why."""
    return Finding(part, claim, "–", why, "not checked here")
