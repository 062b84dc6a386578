"""What a check found, and the page of all that was found: claims, and what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fabula._version import __version__

_SIGNS = {
    "verified": "✓",
    "short": "✗ short",
    "reported": "reported",
    "not checked here": "not checked here",
}


@dataclass(frozen=True)
class CheckResult:
    """A figure we claim, and what came out here.

    `wanted` and `found` are words for people; `outcome` is for machines. What is `reported` has
    no bar.
    """

    part: str
    claim: str
    wanted: str
    found: str
    outcome: Literal["verified", "short", "reported", "not checked here"]


def compare_values(
    part: str, claim: str, values: Sequence[tuple[float, float]], *, tolerance: float, share: float
) -> CheckResult:
    """Count how many pairs of values (ours, published) are equal within a tolerance.

    The tolerance is absolute below 1 and relative above.
    """
    equal = sum(abs(ours - theirs) <= tolerance * max(1, abs(theirs)) for ours, theirs in values)
    largest = max((abs(ours - theirs) for ours, theirs in values), default=0.0)
    good = bool(values) and equal >= share * len(values)
    return CheckResult(
        part,
        claim,
        f"≥ {share:.1%} equal within {tolerance:g}",
        f"{equal:,} of {len(values):,} equal, largest difference {largest:.2g}",
        "verified" if good else "short",
    )


def correlate_values(
    part: str,
    claim: str,
    values: Sequence[tuple[float, float]],
    harder: Sequence[tuple[float, float]],
    *,
    least: float,
) -> CheckResult:
    """Correlate pairs of values (ours, published), all of them and those that are harder."""
    r, hard = _pearson(values), _pearson(harder)
    return CheckResult(
        part,
        claim,
        f"r ≥ {least:g}",
        f"r = {r:.4f} on {len(values):,} stories, {hard:.4f} on {len(harder):,} by machines",
        "verified" if r >= least else "short",
    )


def _pearson(values: Sequence[tuple[float, float]]) -> float:
    import numpy as np

    ours, theirs = zip(*values, strict=True)
    return float(np.corrcoef(ours, theirs)[0, 1])


def judge(part: str, claim: str, *, wanted: str, found: str, good: bool) -> CheckResult:
    """Give a result that has a bar."""
    return CheckResult(part, claim, wanted, found, "verified" if good else "short")


def report(part: str, claim: str, found: str) -> CheckResult:
    """Give a result without a bar."""
    return CheckResult(part, claim, "–", found, "reported")


def skip(part: str, claim: str, why: str) -> CheckResult:
    """Say that a claim could not be checked here, and why."""
    return CheckResult(part, claim, "–", why, "not checked here")


def verified_page(results: Sequence[CheckResult]) -> str:
    """Write the page in Markdown, part by part."""
    counts = Counter(result.outcome for result in results)
    words = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    lines = [
        "# Verified figures",
        "",
        f"Written by `fabula verify` with Fabula {__version__}: {words}.",
    ]
    for part in dict.fromkeys(result.part for result in results):
        lines += ["", f"## {part}", "", "| claim | wanted | found | |", "|---|---|---|---|"]
        lines += [_row(result) for result in results if result.part == part]
    return "\n".join(lines) + "\n"


def _row(result: CheckResult) -> str:
    sign = _SIGNS[result.outcome]
    return f"| {result.claim} | {result.wanted} | {result.found} | {sign} |"
