"""The coefficients of one aspect: value, interval, what it rests on, and why it is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fabula.core.score import Status
from fabula.meta.arrays import Values
from fabula.meta.raters.alpha import Level, krippendorff
from fabula.meta.raters.concordance import kendall_w
from fabula.meta.raters.gwet import gwet
from fabula.meta.raters.icc import Icc, one_way, two_way
from fabula.meta.raters.kappa import cohen_pairs, fleiss, light, sharing_pairs
from fabula.meta.raters.ratings import MANY, Ratings, complete_rows
from fabula.meta.resampling import (
    WeightedStatistic,
    always_undefined,
    estimate,
    resample_weighted,
    value_of,
)

NEEDS_IDS = "needs rater ids"
# Cohen's kappa of more pairs would take long and say little: few of them share many stories.
_MOST_PAIRS = 300


@dataclass(frozen=True)
class AgreementLine:
    """One coefficient of one aspect; NaN with a status and a note where it is undefined.

    `n` counts the stories it uses, `left_out` those it cannot use.
    """

    aspect: str
    statistic: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    raters: int = 0
    ratings: int = 0
    left_out: int = 0
    status: Status = Status.OK
    note: str = ""


@dataclass(frozen=True)
class Asked:
    """What is asked of an aspect's ratings, and what is known of them."""

    level: Level
    raters_known: bool
    resamples: int
    seed: int
    scale: tuple[float, float] | None


def agreement_lines(ratings: Ratings, asked: Asked) -> Iterator[AgreementLine]:
    """Give every coefficient of an aspect that the level has, defined or not."""
    packed = ratings.packed
    blank = AgreementLine(
        ratings.aspect,
        "",
        n=int((ratings.per_story >= 2).sum()),
        raters=len(ratings.raters) if asked.raters_known else packed.shape[1],
        ratings=len(ratings.value),
    )
    blank = replace(blank, left_out=len(ratings.stories) - blank.n)
    matrix = ratings.matrix if asked.raters_known else None
    if asked.level != "nominal":
        yield from _icc_lines(packed, matrix, blank)
    statistics = _by_story(packed, asked)
    aligned = _by_rater(matrix, asked) if matrix is not None else {}
    draws = resample_weighted(
        statistics | aligned, len(packed), resamples=asked.resamples, seed=asked.seed
    )
    for name, statistic in statistics.items():
        yield _measured(replace(blank, statistic=name), statistic, draws[name])
    for name in _ALIGNED if asked.level != "nominal" else _ALIGNED[:1]:
        line = replace(blank, statistic=name)
        if matrix is None:
            yield replace(line, n=0, status=Status.UNDEFINED, note=NEEDS_IDS)
        elif name in aligned:
            found = _measured(line, aligned[name], draws[name])
            yield _kendall(found, matrix) if name == "Kendall W" else _light(found, matrix)
        else:
            note = "too many pairs of raters; see alpha"
            yield replace(line, n=0, status=Status.UNDEFINED, note=note)


def _icc_lines(
    packed: Values, matrix: Values | None, blank: AgreementLine
) -> Iterator[AgreementLine]:
    for icc in one_way(packed):
        yield _of_icc(icc, blank)
    if matrix is not None:
        for icc in two_way(matrix):
            yield _of_icc(icc, blank)
        return
    for kind in ("ICC(2,1)", "ICC(3,1)", "ICC(2,k)", "ICC(3,k)"):
        yield replace(blank, statistic=kind, n=0, status=Status.UNDEFINED, note=NEEDS_IDS)


def _of_icc(icc: Icc, blank: AgreementLine) -> AgreementLine:
    return replace(
        blank,
        statistic=icc.kind,
        value=icc.value,
        low=icc.low,
        high=icc.high,
        n=icc.stories,
        left_out=icc.left_out,
        status=Status.UNDEFINED if math.isnan(icc.value) else Status.OK,
        note=icc.note or ("no variance between stories" if math.isnan(icc.value) else ""),
    )


_ALIGNED = ("Light kappa", "Light kappa linear", "Light kappa quadratic", "Kendall W")


def _by_story(packed: Values, asked: Asked) -> dict[str, WeightedStatistic]:
    """Coefficients that go by a story's ratings alone, whoever gave them."""
    found = {
        "alpha": krippendorff(packed, level=asked.level),
        "Fleiss kappa": fleiss(packed),
        "AC1": gwet(packed, scale=asked.scale),
    }
    if asked.level != "nominal":
        found["AC2 linear"] = gwet(packed, weighting="linear", scale=asked.scale)
        found["AC2 quadratic"] = gwet(packed, weighting="quadratic", scale=asked.scale)
    return found


def _by_rater(matrix: Values, asked: Asked) -> dict[str, WeightedStatistic]:
    """Coefficients that need to know who gave a rating."""
    found: dict[str, WeightedStatistic] = {}
    if len(sharing_pairs(matrix)) <= _MOST_PAIRS:
        found["Light kappa"] = light(matrix)
        if asked.level != "nominal":
            found["Light kappa linear"] = light(matrix, weighting="linear")
            found["Light kappa quadratic"] = light(matrix, weighting="quadratic")
    if asked.level != "nominal":
        found["Kendall W"] = kendall_w(matrix) if matrix.shape[1] > 1 else always_undefined
    return found


def _measured(line: AgreementLine, statistic: WeightedStatistic, draws: Values) -> AgreementLine:
    value = value_of(statistic, line.n + line.left_out)
    if math.isnan(value):
        note = "undefined: chance alone would agree" if line.n else "no story has two ratings"
        if statistic is always_undefined:
            note = f"more than {MANY} distinct values are no categories"
        return replace(line, status=Status.UNDEFINED, note=note)
    found = estimate(value, draws)
    note = f"undefined in {found.undefined:,} resamples" if found.undefined else ""
    return replace(line, value=value, low=found.low, high=found.high, note=note)


def _kendall(line: AgreementLine, matrix: Values) -> AgreementLine:
    complete = len(complete_rows(matrix))
    line = replace(line, n=complete, left_out=len(matrix) - complete)
    if not math.isnan(line.value):
        return line
    note = "no rater tells two stories apart" if complete > 1 else "no two stories all raters rated"
    note = note if matrix.shape[1] > 1 else "needs two raters"
    return replace(line, note=note)


def _light(line: AgreementLine, matrix: Values) -> AgreementLine:
    pairs = cohen_pairs(matrix)
    if not pairs:
        return replace(line, note="no two raters share two stories")
    without = sum(map(math.isnan, pairs))
    note = f"{len(pairs)} pairs of raters" + (f", {without} undefined" if without else "")
    return replace(line, note="; ".join(filter(None, [note, line.note])))
