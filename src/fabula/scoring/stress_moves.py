"""How far a perturbation moves a metric: story by story, against the metric's own spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fabula.core.card import Direction
from fabula.core.protocols import Progress, track
from fabula.meta.arrays import Values
from fabula.meta.compare import Procedure, cohen_dz, win_rate
from fabula.meta.resampling import NO_ESTIMATE, Estimate, bootstrap_mean
from fabula.meta.significance.sign_flips import CORRECTIONS, least_p, sign_flip_p
from fabula.text.perturb import Expected, Perturbation

NOTICES, BLIND, PREFERS = "notices", "does not notice", "prefers the broken text"
UP, DOWN, STILL = "moves up", "moves down", "does not move"
UNMOVED, TOO_FEW = "not moved", "too few stories"

# Values that differ by rounding alone, for their parts were added in another order.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Move:
    """What one perturbation does to one metric on one aspect.

    `move` and what follows from it are turned so that negative is worse; those of a descriptive
    metric are as they are. `standardised` is in standard deviations of the metric over the
    original stories, `effect` is Cohen's d_z. `worse` is the share of the stories that got worse
    (lower, by a descriptive metric); a tie counts half. Intervals are not corrected.
    """

    scorer: str
    aspect: str
    direction: Direction
    perturbation: str
    expected: Expected
    stories: int
    left_out: int
    not_applicable: int
    mean_before: float = math.nan
    mean_after: float = math.nan
    move: Estimate = NO_ESTIMATE
    standardised: float = math.nan
    effect: float = math.nan
    worse: Estimate = NO_ESTIMATE
    p: float = math.nan
    adjusted_p: float = math.nan
    least_p: float = math.nan
    verdict: str = TOO_FEW

    @property
    def label(self) -> str:
        """Scorer and aspect."""
        return f"{self.scorer} {self.aspect}".strip()

    @property
    def alarming(self) -> bool:
        """Whether a reader should know: broken text is preferred, or a control moves it."""
        return self.verdict == PREFERS or self.verdict == moved_alone(self.perturbation)

    def row(self) -> dict[str, Any]:
        """Give it flat; what is missing is None."""
        row = asdict(self)
        row |= {"move": self.move.value, "low": self.move.low, "high": self.move.high}
        del row["worse"]
        row["worse_rate"], row["worse_low"], row["worse_high"] = (
            self.worse.value,
            self.worse.low,
            self.worse.high,
        )
        row["verdict"] = row.pop("verdict")
        return {key: None if value != value else value for key, value in row.items()}


@dataclass(frozen=True)
class Trial:
    """Values of a metric before and after a perturbation, by the stories it applies to."""

    scorer: str
    aspect: str
    direction: Direction
    perturbation: Perturbation
    originals: Values  # (all stories,)
    before: Values  # (applicable stories,)
    after: Values  # (applicable stories,)

    @property
    def moves(self) -> Values:
        """Moves story by story, negative where it got worse; NaN where a value is missing."""
        moves = self.after - self.before
        largest = np.maximum(np.abs(self.after), np.abs(self.before))
        moves[np.abs(moves) <= _ROUNDING * largest] = 0.0
        return -moves if self.direction == "lower" else moves


def moved_alone(perturbation: str) -> str:
    """Verdict on a metric that a harmless change moves."""
    return f"moved by {perturbation} alone"


def measure_moves(
    trials: Sequence[Trial], how: Procedure, progress: Progress | None = None
) -> list[Move]:
    """Measure every trial; p-values are corrected together, and verdicts go by them."""
    moves = [_measure(trial, how) for trial in track(trials, progress)]
    adjusted = CORRECTIONS[how.correction](np.array([move.p for move in moves], dtype=np.float64))
    return [
        _judge(replace(move, adjusted_p=float(p)), how.alpha)
        for move, p in zip(moves, adjusted, strict=True)
    ]


def _measure(trial: Trial, how: Procedure) -> Move:
    moves = trial.moves
    ready = np.isfinite(moves)
    moves = moves[ready] + 0.0
    unmeasured = Move(
        trial.scorer,
        trial.aspect,
        trial.direction,
        trial.perturbation.name,
        trial.perturbation.expected,
        stories=len(moves),
        left_out=int((~ready).sum()),
        not_applicable=len(trial.originals) - len(ready),
    )
    if len(moves) < 2:
        return unmeasured
    return replace(
        unmeasured,
        mean_before=float(trial.before[ready].mean()),
        mean_after=float(trial.after[ready].mean()),
        standardised=_standardise(moves, trial.originals),
        effect=cohen_dz(moves),
        worse=win_rate(-moves, how.alpha),
        **_resample(moves, how),
    )


def _resample(moves: Values, how: Procedure) -> dict[str, Any]:
    """Give the mean move and its p; where nothing moved there is nothing to resample."""
    least = least_p(np.ones(len(moves)), resamples=how.resamples)
    if not moves.any():
        return {"move": Estimate(0.0, 0.0, 0.0, len(moves)), "p": 1.0, "least_p": least}
    draws = {"resamples": how.resamples, "seed": how.seed}
    move = bootstrap_mean(moves, **draws, alpha=how.alpha)
    return {"move": move, "p": sign_flip_p(moves, **draws), "least_p": least}


def _standardise(moves: Values, originals: Values) -> float:
    """Mean move over the spread of the original stories; NaN where they do not differ."""
    known = originals[np.isfinite(originals)]
    spread = known.std(ddof=1) if len(known) > 1 else 0.0
    if spread <= _ROUNDING * np.abs(known).max(initial=0.0):
        return math.nan
    return float(moves.mean() / spread)


def _judge(move: Move, alpha: float) -> Move:
    """Say in words what was found."""
    if math.isnan(move.p):
        return move
    moved = move.adjusted_p <= alpha
    if move.expected == "same":
        return replace(move, verdict=moved_alone(move.perturbation) if moved else UNMOVED)
    words = (DOWN, STILL, UP) if move.direction == "descriptive" else (NOTICES, BLIND, PREFERS)
    if not moved:
        return replace(move, verdict=words[1])
    return replace(move, verdict=words[0] if move.move.value < 0 else words[2])
