"""Two systems compared on the items they share, metric by metric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from fabula.core.card import Direction
from fabula.core.errors import SettingError, closest
from fabula.core.protocols import Progress, track
from fabula.core.table import ScoreTable
from fabula.meta.effects import NO_SHARE, Share, cohen_dz, rank_biserial, win_rate
from fabula.meta.paired import Pairs, count_shared_items, paired
from fabula.meta.resampling import bootstrap_interval
from fabula.meta.significance.sign_flips import CORRECTIONS, least_p, sign_flip_p

Side = Literal["A", "B", ""]


@dataclass(frozen=True)
class Procedure:
    """How to compare: how many resamples, from which seed, corrected how, at which level."""

    resamples: int = 10_000
    seed: int = 0
    correction: str = "holm"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        if self.resamples < 1:
            raise SettingError(f"resamples={self.resamples} will not do", "give 1 or more")
        if self.seed < 0:
            raise SettingError(f"seed={self.seed} will not do", "give 0 or more")
        if not 0 < self.alpha < 1:
            raise SettingError(f"alpha={self.alpha} will not do", "give a number between 0 and 1")
        if self.correction not in CORRECTIONS:
            raise SettingError(
                f"no correction is called {self.correction!r}",
                closest(self.correction, CORRECTIONS),
            )


@dataclass(frozen=True)
class Compared:
    """Two systems by one scorer on one aspect.

    `difference` and what follows from it are oriented: positive favours A. By a descriptive
    metric it only says that A is the higher one. `interval` and the win rate's are not corrected.
    """

    scorer: str
    aspect: str
    direction: Direction
    items: int
    left_out: int
    mean_a: float = math.nan
    mean_b: float = math.nan
    difference: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    p: float = math.nan
    adjusted_p: float = math.nan
    least_p: float = math.nan
    wins: Share = NO_SHARE
    effect: float = math.nan
    rank_biserial: float = math.nan
    favours: Side = ""
    verdict: str = ""


@dataclass(frozen=True)
class Comparison:
    """Two systems on the items they share, by every scorer and aspect of a table."""

    a: str
    b: str
    shared: int
    procedure: Procedure
    lines: tuple[Compared, ...] = field(default=())

    @property
    def tests(self) -> int:
        """How many comparisons the p-values are corrected for."""
        return sum(not math.isnan(line.p) for line in self.lines)

    @property
    def blind(self) -> bool:
        """Whether no difference could have been found, for want of items or of resamples."""
        times = self.tests if self.procedure.correction == "holm" else 1
        least = [line.least_p for line in self.lines if not math.isnan(line.p)]
        return not least or min(least) * times > self.procedure.alpha

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per scorer and aspect; what is missing is None."""
        return [{key: _plain(value) for key, value in _flat(line)} for line in self.lines]


def compare(
    table: ScoreTable,
    a: str,
    b: str,
    *,
    directions: Mapping[str, Direction],
    procedure: Procedure | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare two systems by every scorer of a table; p-values are corrected together.

    An item is what is paired, so each system has one story for it. `directions` say by scorer
    which way is better; one that is not named there is taken for descriptive.
    """
    how = procedure or Procedure()
    shared = count_shared_items(table, a, b)
    pairs = list(paired(table, a, b, directions=directions))
    lines = list(_compared(pairs, how, progress))
    adjusted = CORRECTIONS[how.correction](np.array([line.p for line in lines], dtype=np.float64))
    judged = [
        _judge(replace(line, adjusted_p=float(p)), (a, b), how.alpha)
        for line, p in zip(lines, adjusted, strict=True)
    ]
    return Comparison(a, b, shared, how, tuple(judged))


def _compared(
    pairs: Sequence[Pairs], how: Procedure, progress: Progress | None
) -> Iterator[Compared]:
    for one in track(pairs, progress):
        yield _compare_one(one, how)


def _compare_one(pairs: Pairs, how: Procedure) -> Compared:
    """Compare by one scorer. Each begins at the same seed: none depends on the others."""
    line = Compared(pairs.scorer, pairs.aspect, pairs.direction, len(pairs.a), pairs.left_out)
    if line.items < 2:
        return line
    differences = pairs.differences
    again = {"resamples": how.resamples, "seed": how.seed}
    return replace(
        line,
        mean_a=float(pairs.a.mean()),
        mean_b=float(pairs.b.mean()),
        difference=float(differences.mean()),
        interval=bootstrap_interval(differences, **again, alpha=how.alpha),
        p=sign_flip_p(differences, **again),
        least_p=least_p(differences, resamples=how.resamples),
        wins=win_rate(differences, how.alpha),
        effect=cohen_dz(differences),
        rank_biserial=rank_biserial(differences),
    )


def _judge(line: Compared, systems: tuple[str, str], alpha: float) -> Compared:
    """Say in words what was found."""
    if math.isnan(line.p):
        return replace(line, verdict="too few items have values of both")
    if line.adjusted_p > alpha:
        return replace(line, verdict="no difference found")
    side: Side = "A" if line.difference > 0 else "B"
    more = "higher" if line.direction == "descriptive" else "better"
    name = systems[0] if side == "A" else systems[1]
    return replace(line, favours=side, verdict=f"{name or 'the nameless one'} is {more}")


def _flat(line: Compared) -> Iterator[tuple[str, Any]]:
    found = asdict(line)
    found["low"], found["high"] = found.pop("interval")
    wins = found.pop("wins")
    found |= {"win_rate": wins["rate"], "win_low": wins["low"], "win_high": wins["high"]}
    found |= {key: found.pop(key) for key in ("effect", "rank_biserial", "favours", "verdict")}
    yield from found.items()


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
