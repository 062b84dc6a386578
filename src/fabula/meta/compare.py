"""Two systems compared on the items they share, metric by metric, and how large differences are."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np

from fabula.core.card import Direction
from fabula.core.errors import InputError, SettingError, UnknownName, closest
from fabula.core.protocols import Progress, track
from fabula.core.score import Score
from fabula.core.story import count_text
from fabula.core.table import ScoreTable
from fabula.meta.arrays import Values, average_ranks
from fabula.meta.distributions import wilson_interval
from fabula.meta.resampling import NO_ESTIMATE, Estimate, bootstrap_mean
from fabula.meta.significance.sign_flips import CORRECTIONS, least_p, sign_flip_p

Side = Literal["A", "B", ""]
# A descriptive metric knows no better way: its difference stays as it is.
_SIGNS: Mapping[Direction, float] = {"higher": 1.0, "lower": -1.0, "descriptive": 1.0}
# Differences that are equal but for rounding have no spread to divide by.
_ROUNDING = 1e-12
# Squares of values beyond this and its inverse may be more or less than a number can hold.
_TINY = 1e-100


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
    metric it only says that A is the higher one. Its interval and that of `wins`, the share of the
    items that A wins, are not corrected.
    """

    scorer: str
    aspect: str
    direction: Direction
    items: int
    left_out: int
    mean_a: float = math.nan
    mean_b: float = math.nan
    difference: Estimate = NO_ESTIMATE
    p: float = math.nan
    adjusted_p: float = math.nan
    least_p: float = math.nan
    wins: Estimate = NO_ESTIMATE
    effect: float = math.nan
    rank_biserial: float = math.nan
    favours: Side = ""
    verdict: str = ""

    def row(self) -> dict[str, Any]:
        """Give a flat row in which what is missing is None."""
        row = {
            "scorer": self.scorer,
            "aspect": self.aspect,
            "direction": self.direction,
            "items": self.items,
            "left_out": self.left_out,
            "mean_a": self.mean_a,
            "mean_b": self.mean_b,
            "difference": self.difference.value,
            "p": self.p,
            "adjusted_p": self.adjusted_p,
            "least_p": self.least_p,
            "low": self.difference.low,
            "high": self.difference.high,
            "win_rate": self.wins.value,
            "win_low": self.wins.low,
            "win_high": self.wins.high,
            "effect": self.effect,
            "rank_biserial": self.rank_biserial,
            "favours": self.favours,
            "verdict": self.verdict,
        }
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in row.items()
        }


@dataclass(frozen=True)
class Comparison:
    """Two systems on the items they share, by every scorer and aspect of a table."""

    a: str
    b: str
    shared: int
    procedure: Procedure
    lines: tuple[Compared, ...] = field(default=())
    tests: int = 0
    """How many comparisons the p-values are corrected for, those with other systems as well."""

    @property
    def blind(self) -> bool:
        """Whether no difference could have been found, for want of items or of resamples."""
        times = self.tests if self.procedure.correction == "holm" else 1
        least = [line.least_p for line in self.lines if not math.isnan(line.p)]
        return not least or min(least) * times > self.procedure.alpha

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per scorer and aspect; what is missing is None."""
        return [line.row() for line in self.lines]


class PairSource(Protocol):
    """Scores whose systems can be paired, wherever they lie."""

    def count_shared(self, a: str, b: str) -> int:
        """Count the items for which both systems have a story; fewer than two will not do."""
        ...

    def list_pairs(
        self, a: str, b: str, directions: Mapping[str, Direction]
    ) -> Sequence[Callable[[], SystemPairs]]:
        """Give a function for every scorer and aspect that gives the pairs of two systems."""
        ...


@dataclass(frozen=True)
class TablePairs:
    """The pairs of a table that is held in memory."""

    table: ScoreTable

    def count_shared(self, a: str, b: str) -> int:
        """Count the items for which both systems have a story."""
        return count_shared_items(self.table, a, b)

    def list_pairs(
        self, a: str, b: str, directions: Mapping[str, Direction]
    ) -> Sequence[Callable[[], SystemPairs]]:
        """Give the pairs of two systems, by every scorer and aspect."""
        pairs = pair_systems(self.table, a, b, directions=directions)
        return [partial(replace, pair) for pair in pairs]


def compare(
    table: ScoreTable | PairSource,
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
    [comparison] = compare_several(
        table, a, [b], directions=directions, procedure=procedure, progress=progress
    )
    return comparison


def compare_several(
    table: ScoreTable | PairSource,
    a: str,
    others: Sequence[str],
    *,
    directions: Mapping[str, Direction],
    procedure: Procedure | None = None,
    progress: Progress | None = None,
) -> list[Comparison]:
    """Compare a system with each of the others; the p-values of all are corrected together."""
    how = procedure or Procedure()
    source = TablePairs(table) if isinstance(table, ScoreTable) else table
    shared = [source.count_shared(a, b) for b in others]
    pairs = [(b, give) for b in others for give in source.list_pairs(a, b, directions)]
    lines = [_compare_pairs(give(), how) for _, give in track(pairs, progress)]
    adjusted = CORRECTIONS[how.correction](np.array([line.p for line in lines], dtype=np.float64))
    judged: dict[str, list[Compared]] = {b: [] for b in others}
    for (b, _), line, p in zip(pairs, lines, adjusted, strict=True):
        judged[b].append(_judge(replace(line, adjusted_p=float(p)), (a, b), how.alpha))
    tests = sum(not math.isnan(line.p) for line in lines)
    return [
        Comparison(a, b, count, how, tuple(judged[b]), tests)
        for b, count in zip(others, shared, strict=True)
    ]


def _compare_pairs(pairs: SystemPairs, how: Procedure) -> Compared:
    """Compare by one scorer. Each begins at the same seed: none depends on the others."""
    line = Compared(pairs.scorer, pairs.aspect, pairs.direction, len(pairs.a), pairs.left_out)
    if line.items < 2:
        return line
    unit = _unit_of(pairs)
    pairs = replace(pairs, a=pairs.a / unit, b=pairs.b / unit)
    differences = pairs.differences
    again = {"resamples": how.resamples, "seed": how.seed}
    difference = bootstrap_mean(differences, **again, alpha=how.alpha)
    value, low, high = (unit * end for end in (difference.value, *difference.interval))
    return replace(
        line,
        mean_a=unit * float(pairs.a.mean()),
        mean_b=unit * float(pairs.b.mean()),
        difference=replace(difference, value=value, low=low, high=high),
        p=sign_flip_p(differences, **again),
        least_p=least_p(differences, resamples=how.resamples),
        wins=win_rate(differences, how.alpha),
        effect=cohen_dz(differences),
        rank_biserial=rank_biserial(differences),
    )


def _unit_of(pairs: SystemPairs) -> float:
    """Give the unit to compute in: 1, or a power of two where squares of values would overflow.

    Values whose very difference is more than a number can hold are refused.
    """
    reach = float(max(np.abs(pairs.a).max(), np.abs(pairs.b).max()))
    if reach > sys.float_info.max / 2:
        name = f"{pairs.scorer} {pairs.aspect}".strip()
        problem = f"{name}: with values up to {reach:.3g}, differences are more than a number holds"
        raise InputError(problem, "divide the values by a number, or leave the metric out")
    usual = reach == 0 or _TINY < reach < 1 / _TINY
    return 1.0 if usual else math.ldexp(1.0, math.frexp(reach)[1])


def _judge(line: Compared, systems: tuple[str, str], alpha: float) -> Compared:
    """Say in words what was found."""
    if math.isnan(line.p):
        return replace(line, verdict="too few items have values of both")
    if line.adjusted_p > alpha:
        return replace(line, verdict="no difference found")
    side: Side = "A" if line.difference.value > 0 else "B"
    more = "higher" if line.direction == "descriptive" else "better"
    name = systems[0] if side == "A" else systems[1]
    return replace(line, favours=side, verdict=f"{name or 'the nameless one'} is {more}")


@dataclass(frozen=True)
class SystemPairs:
    """Values of two systems on the items where both have one, by one scorer on one aspect.

    Items of either system that lack a value of the other's or of their own are left out.
    """

    scorer: str
    aspect: str
    direction: Direction
    a: Values  # (items,)
    b: Values  # (items,)
    left_out: int

    @property
    def differences(self) -> Values:
        """Differences item by item; positive ones favour A, or say that it is the higher one."""
        return _SIGNS[self.direction] * (self.a - self.b)


def pair_systems(
    table: ScoreTable, a: str, b: str, *, directions: Mapping[str, Direction]
) -> list[SystemPairs]:
    """Give the pairs of two systems for every scorer and aspect of a table, in its order.

    A scorer without a direction is taken for descriptive, which claims least.
    """
    stories = [story for story in table.stories if (story.system or "") in (a, b)]
    pairs = []
    for (scorer, aspect), scores in _group_scores(table, {story.id for story in stories}).items():
        _, systems, values = ScoreTable(stories, scores).pivot(scorer, aspect)
        of_a, of_b = values[:, systems.index(a)], values[:, systems.index(b)]
        ready = np.isfinite(of_a) & np.isfinite(of_b)
        direction = directions.get(scorer, "descriptive")
        left_out = int((~ready).sum())
        pairs.append(SystemPairs(scorer, aspect, direction, of_a[ready], of_b[ready], left_out))
    return pairs


def count_shared_items(table: ScoreTable, a: str, b: str) -> int:
    """Count the items for which both systems have a story; fewer than two will not do."""
    items: dict[str, set[str]] = {}
    for story in table.stories:
        items.setdefault(story.system or "", set()).add(story.item or "")
    for name in (a, b):
        if name not in items:
            raise UnknownName(f"no system is called {name!r} here", closest(name, items))
    shared = len(items[a] & items[b])
    refuse_few(shared, (a, b), items)
    return shared


def refuse_few(shared: int, pair: tuple[str, str], systems: Iterable[str]) -> None:
    """Refuse two systems that share fewer than two items."""
    if shared < 2:
        a, b = pair
        items_word = count_text(shared, "item")
        raise InputError(
            f"{a!r} and {b!r} share {items_word}, and it takes at least 2 to compare them",
            f"give stories for one task the same item; systems known: {', '.join(sorted(systems))}",
        )


def _group_scores(table: ScoreTable, wanted: set[str]) -> dict[tuple[str, str], list[Score]]:
    """Group the scores of some stories by scorer and aspect, in one pass."""
    groups: dict[tuple[str, str], list[Score]] = {}
    for score in table:
        if score.story in wanted:
            groups.setdefault((score.scorer, score.aspect), []).append(score)
    return groups


def win_rate(differences: Values, alpha: float = 0.05) -> Estimate:
    """Give the share of the items that A wins; a tie counts half. The interval is Wilson's."""
    count = len(differences)
    if not count:
        return NO_ESTIMATE
    wins = np.count_nonzero(differences > 0) + np.count_nonzero(differences == 0) / 2
    return Estimate(float(wins / count), *wilson_interval(wins, count, alpha), count)


def cohen_dz(differences: Values) -> float:
    """Mean difference over its standard deviation (Cohen, 1988); NaN where nothing spreads."""
    if len(differences) < 2:
        return math.nan
    spread = differences.std(ddof=1)
    if spread <= _ROUNDING * np.abs(differences).max():
        return math.nan
    return float(differences.mean() / spread)


def rank_biserial(differences: Values) -> float:
    """Share of the ranks that favour A less that of the others (Kerby, 2014), from -1 to 1.

    The ranks are those of Wilcoxon's test: ties share theirs, differences of 0 have none. NaN
    where all are 0.
    """
    moving = differences[differences != 0]
    if not len(moving):
        return math.nan
    ranks = average_ranks(np.abs(moving))
    return float((ranks * np.sign(moving)).sum() / ranks.sum())
