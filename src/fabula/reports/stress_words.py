"""What a stress test found, in words: the worst first."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from fabula.core.metric import needs_batch
from fabula.scoring.stress import StressResult
from fabula.scoring.stress_moves import NOTICES, PREFERS, TOO_FEW, Move

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg"}
_MOST = 8


def stress_words(result: StressResult) -> list[str]:
    """Say what was found, what was left out, and how."""
    found = [
        *_preferring(result),
        *_unnoticed(result),
        *_moved_alone(result),
        *_left_out(result),
        *_batches(result),
    ]
    return [*found, _method(result)]


def _preferring(result: StressResult) -> list[str]:
    broken = _largest([one for one in result.moves if one.verdict == PREFERS])
    if not broken:
        return ["No metric with a better way prefers a broken text."]
    scorers = {one.label for one in broken}
    lines = [
        f"{_metrics(scorers)} {'prefers' if len(scorers) == 1 else 'prefer'} broken text "
        f"in {len(broken)} {'cell' if len(broken) == 1 else 'cells'}; the worst:"
    ]
    lines += [
        f"  {one.label} likes {one.perturbation}: {_sd(one)}, better in "
        f"{100 * (1 - one.worse.rate):.0f} % of {one.stories:,} stories"
        for one in broken[:_MOST]
    ]
    return lines


def _unnoticed(result: StressResult) -> list[str]:
    """Name the perturbations that no metric with a better way notices."""
    judging = [one for one in result.moves if one.direction != "descriptive"]
    judging = [one for one in judging if one.expected == "worse" and one.verdict != TOO_FEW]
    tried = dict.fromkeys(one.perturbation for one in judging)
    seen = {one.perturbation for one in judging if one.verdict == NOTICES}
    unseen = [name for name in tried if name not in seen]
    return [f"Noticed by no metric with a better way: {', '.join(unseen)}."] if unseen else []


def _moved_alone(result: StressResult) -> list[str]:
    lines = []
    for kind in result.perturbations:
        moved = [one for one in result.moves if one.perturbation == kind.name and one.alarming]
        if kind.expected == "same" and moved:
            named = [f"{one.label} ({_sd(one)})" for one in _largest(moved)]
            rest = f" and {len(named) - _MOST} more" if len(named) > _MOST else ""
            lines.append(f"Moved by {kind.name} alone: {', '.join(named[:_MOST])}{rest}.")
    return lines


def _left_out(result: StressResult) -> list[str]:
    missing = {
        kind.name: result.stories - len(result.copies.of[kind.name])
        for kind in result.perturbations
    }
    words = []
    if any(missing.values()):
        named = [f"{name} to {count:,}" for name, count in missing.items() if count]
        words.append(f"Not applicable, of {result.stories:,} stories: {', '.join(named)}.")
    if most := max((one.left_out for one in result.moves), default=0):
        named = list(dict.fromkeys(one.scorer for one in result.moves if one.left_out))
        words.append(f"Up to {most:,} left out, for a value is missing (*): {', '.join(named)}.")
    if result.blind:
        words.append(
            "No move could have been found: take more stories, fewer metrics or more resamples."
        )
    return words


def _batches(result: StressResult) -> list[str]:
    named = [metric.spec for metric in result.metrics if needs_batch(metric)]
    if not named:
        return []
    return [
        f"{', '.join(named)}: defined on a batch; the perturbed stories are one of their own, with "
        "all of it perturbed at once."
    ]


def _method(result: StressResult) -> str:
    how = result.procedure
    shares = [
        f"{kind.name} {100 * (kind.share if result.share is None else result.share):g} % of the "
        f"{kind.unit}"
        for kind in result.perturbations
        if kind.unit
    ]
    touched = f"Touched: {', '.join(shares)}. " if shares else ""
    return (
        f"{touched}p is corrected for {result.tests} tests ({_CORRECTIONS[how.correction]}), level "
        f"{how.alpha:g}. Sign-flip test over stories, {how.resamples:,} resamples, "
        f"seed {result.seed}."
    )


def _largest(moves: Sequence[Move]) -> list[Move]:
    """Sort by size; what has no spread to be measured by comes first."""
    return sorted(moves, key=lambda one: -abs(_or_infinite(one.standardised)))


def _or_infinite(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _sd(move: Move) -> str:
    if math.isnan(move.standardised):
        return f"{move.move:+.3g}".replace("-", "−")
    return f"{move.standardised:+.2f} SD".replace("-", "−")


def _metrics(labels: Collection[str]) -> str:
    aspects = " (aspects counted apart)" if any(" " in label for label in labels) else ""
    return f"{len(labels)} {'metric' if len(labels) == 1 else 'metrics'}{aspects}"
