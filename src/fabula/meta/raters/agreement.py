"""How far raters agree: every coefficient that the ratings allow, aspect by aspect."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.errors import SettingError, UnknownName, closest
from fabula.core.protocols import Progress, track
from fabula.core.score import Status
from fabula.core.story import count_text
from fabula.core.table import ScoreTable
from fabula.meta.arrays import Values
from fabula.meta.raters.alpha import MEASUREMENT_LEVELS, MeasurementLevel, kendall_w, krippendorff
from fabula.meta.raters.chosen import ChosenAgreement, agree_on_chosen
from fabula.meta.raters.icc import Icc, one_way, two_way
from fabula.meta.raters.kappa import cohen_pairs, fleiss, gwet, light, sharing_pairs
from fabula.meta.raters.rater_lines import RaterLine, rater_lines
from fabula.meta.raters.ratings import MANY, Ratings, complete_rows, ratings_of
from fabula.meta.raters.reliability import find_reliability
from fabula.meta.resampling import (
    NO_ESTIMATE,
    Estimate,
    WeightedStatistic,
    always_undefined,
    estimate,
    resample_weighted,
    value_of,
)

NEEDS_IDS = "needs rater ids"
# Cohen's kappa of more pairs would take long and say little: few of them share many stories.
_MOST_PAIRS = 300
# Coefficients that need to know who gave a rating; the first one alone is for nominal values.
_ALIGNED = ("Light kappa", "Light kappa linear", "Light kappa quadratic", "Kendall W")


@dataclass(frozen=True)
class AgreementLine:
    """One coefficient of one aspect; NaN with a status and a note where it is undefined.

    The estimate rests on `n` stories; `left_out` counts those that it cannot use.
    """

    aspect: str
    statistic: str
    estimate: Estimate = NO_ESTIMATE
    raters: int = 0
    ratings: int = 0
    left_out: int = 0
    status: Status = Status.OK
    note: str = ""

    def row(self) -> dict[str, Any]:
        """Give a flat row in which what is missing is None."""
        counts = {"raters": self.raters, "ratings": self.ratings, "left_out": self.left_out}
        return {
            "aspect": self.aspect,
            "statistic": self.statistic,
            **self.estimate.plain(),
            "n": self.estimate.n,
            **counts,
            "status": str(self.status),
            "note": self.note,
        }


@dataclass(frozen=True)
class Agreement:
    """Coefficients by aspect and figures by rater, with how they were found.

    Where it is not known who rated, there are no figures by rater. `chosen` is there where raters
    chose what to speak of.
    """

    level: MeasurementLevel
    resamples: int
    seed: int
    raters_known: bool
    lines: tuple[AgreementLine, ...]
    raters: tuple[RaterLine, ...] = ()
    chosen: ChosenAgreement | None = None

    @property
    def aspects(self) -> list[str]:
        """Aspects, in the order they came."""
        return list(dict.fromkeys(line.aspect for line in self.lines))

    def line(self, aspect: str, statistic: str) -> AgreementLine | None:
        """Find a coefficient of an aspect, if the level has it."""
        wanted = aspect, statistic
        return next((line for line in self.lines if (line.aspect, line.statistic) == wanted), None)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per aspect and coefficient; what is missing is None."""
        return [line.row() for line in self.lines]

    def rater_rows(self) -> list[dict[str, Any]]:
        """One flat row per rater and aspect; what is missing is None."""
        return [
            {
                key: None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in asdict(line).items()
            }
            for line in self.raters
        ]


def agree(
    source: Dataset | ScoreTable,
    *,
    level: MeasurementLevel = "ordinal",
    aspects: Sequence[str] = (),
    slots: int | Sequence[str] = 0,
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Agreement:
    """Measure how far the raters of a data set, or of a table of ratings, agree.

    The level says what the values are; nominal ones have neither means nor an order, and so only
    the coefficients that need none. Intervals hold 95 %: by F for the ICC, else by bootstrap over
    stories.

    With `slots`, ICC(2) and ICC(3) are of so many columns: the raters named, or as many of the
    busiest, have one each, and all others fill the free places (HANNA's Table 3).
    """
    if level not in MEASUREMENT_LEVELS:
        raise SettingError(f"no level is called {level!r}", closest(level, MEASUREMENT_LEVELS))
    if resamples < 1:
        raise SettingError(f"resamples={resamples} will not do", "give 1 or more")
    known = source.card.raters_known if isinstance(source, Dataset) else True
    table = source.ratings if isinstance(source, Dataset) else source
    parts = _choose_aspects(ratings_of(table), aspects)
    lines: list[AgreementLine] = []
    for rated in track(parts, progress):
        scale = source.card.scale(rated.aspect) if isinstance(source, Dataset) else None
        columns = _choose_slots(rated, slots) if known else ()
        asked = AgreementOptions(level, known, resamples, seed, scale, columns)
        lines += agreement_lines(rated, asked)
    by_rater = [line for rated in parts for line in _describe_raters(rated, level)] if known else []
    chosen = agree_on_chosen(table, resamples=resamples, seed=seed) if known else None
    return Agreement(level, resamples, seed, known, tuple(lines), tuple(by_rater), chosen)


def _describe_raters(ratings: Ratings, level: MeasurementLevel) -> list[RaterLine]:
    """Describe raters; of categories, how reliable each of them is."""
    lines = rater_lines(ratings)
    found = find_reliability(ratings) if level == "nominal" else None
    if found is None:
        return lines
    shares = found.informedness
    return [replace(line, reliability=float(shares[i])) for i, line in enumerate(lines)]


def _choose_aspects(parts: list[Ratings], aspects: Sequence[str]) -> list[Ratings]:
    known = {rated.aspect: rated for rated in parts}
    for aspect in aspects:
        if aspect not in known:
            raise UnknownName(f"no aspect is called {aspect!r} here", closest(aspect, known))
    return [known[aspect] for aspect in aspects] if aspects else parts


def _choose_slots(ratings: Ratings, slots: int | Sequence[str]) -> tuple[str, ...]:
    """Name the raters with columns of their own; nobody without slots."""
    if isinstance(slots, int):
        return ratings.list_busiest(slots)
    for name in slots:
        if name not in ratings.raters:
            raise UnknownName(f"no rater is called {name!r} here", closest(name, ratings.raters))
    return tuple(slots)


@dataclass(frozen=True)
class AgreementOptions:
    """What is asked of an aspect's ratings, and what is known of them.

    `slots` are raters with columns of their own in ICC(2) and ICC(3).
    """

    level: MeasurementLevel
    raters_known: bool
    resamples: int
    seed: int
    scale: tuple[float, float] | None
    slots: tuple[str, ...] = ()


def agreement_lines(ratings: Ratings, asked: AgreementOptions) -> Iterator[AgreementLine]:
    """Give every coefficient of an aspect that the level has, defined or not."""
    packed = ratings.packed
    usable = int((ratings.per_story >= 2).sum())
    blank = AgreementLine(
        ratings.aspect,
        "",
        Estimate(n=usable),
        raters=len(ratings.raters) if asked.raters_known else packed.shape[1],
        ratings=len(ratings.value),
        left_out=len(ratings.stories) - usable,
    )
    matrix = ratings.matrix if asked.raters_known else None
    if asked.level != "nominal":
        aligned_matrix = ratings.align(asked.slots) if asked.slots else matrix
        yield from _icc_lines(packed, aligned_matrix, blank, asked.slots)
    statistics = _by_story(packed, asked)
    aligned = _by_rater(matrix, asked) if matrix is not None else {}
    draws = resample_weighted(
        statistics | aligned, len(packed), resamples=asked.resamples, seed=asked.seed
    )
    for name, statistic in statistics.items():
        yield _measure(replace(blank, statistic=name), statistic, draws[name])
    for name in _ALIGNED if asked.level != "nominal" else _ALIGNED[:1]:
        line = replace(blank, statistic=name)
        if matrix is None:
            yield _without(line, NEEDS_IDS)
        elif name in aligned:
            measured = _measure(line, aligned[name], draws[name])
            yield _kendall(measured, matrix) if name == "Kendall W" else _light(measured, matrix)
        else:
            yield _without(line, "too many pairs of raters; see alpha")


def _without(line: AgreementLine, note: str) -> AgreementLine:
    """Give a line that has no value, with the reason."""
    return replace(line, estimate=NO_ESTIMATE, status=Status.UNDEFINED, note=note)


def _icc_lines(
    packed: Values, matrix: Values | None, blank: AgreementLine, slots: tuple[str, ...]
) -> Iterator[AgreementLine]:
    for icc in one_way(packed):
        yield _icc_line(icc, blank)
    if matrix is not None:
        note = f"in {len(slots)} slots: {', '.join(slots)}; others in free places" if slots else ""
        for icc in two_way(matrix):
            line = _icc_line(icc, blank)
            yield replace(line, note="; ".join(filter(None, [line.note, note])))
        return
    for kind in ("ICC(2,1)", "ICC(3,1)", "ICC(2,k)", "ICC(3,k)"):
        yield _without(replace(blank, statistic=kind), NEEDS_IDS)


def _icc_line(icc: Icc, blank: AgreementLine) -> AgreementLine:
    return replace(
        blank,
        statistic=icc.kind,
        estimate=Estimate(icc.value, icc.low, icc.high, icc.stories),
        left_out=icc.left_out,
        status=Status.UNDEFINED if math.isnan(icc.value) else Status.OK,
        note=icc.note or ("no variance between stories" if math.isnan(icc.value) else ""),
    )


def _by_story(packed: Values, asked: AgreementOptions) -> dict[str, WeightedStatistic]:
    """Coefficients that go by a story's ratings alone, whoever gave them."""
    statistics = {
        "alpha": krippendorff(packed, level=asked.level),
        "Fleiss kappa": fleiss(packed),
        "AC1": gwet(packed, scale=asked.scale),
    }
    if asked.level != "nominal":
        statistics["AC2 linear"] = gwet(packed, weighting="linear", scale=asked.scale)
        statistics["AC2 quadratic"] = gwet(packed, weighting="quadratic", scale=asked.scale)
    return statistics


def _by_rater(matrix: Values, asked: AgreementOptions) -> dict[str, WeightedStatistic]:
    """Coefficients that need to know who gave a rating."""
    statistics: dict[str, WeightedStatistic] = {}
    if len(sharing_pairs(matrix)) <= _MOST_PAIRS:
        statistics["Light kappa"] = light(matrix)
        if asked.level != "nominal":
            statistics["Light kappa linear"] = light(matrix, weighting="linear")
            statistics["Light kappa quadratic"] = light(matrix, weighting="quadratic")
    if asked.level != "nominal":
        statistics["Kendall W"] = kendall_w(matrix) if matrix.shape[1] > 1 else always_undefined
    return statistics


def _measure(line: AgreementLine, statistic: WeightedStatistic, draws: Values) -> AgreementLine:
    count = line.estimate.n
    value = value_of(statistic, count + line.left_out)
    if math.isnan(value):
        note = "undefined: chance alone would agree" if count else "no story has two ratings"
        if statistic is always_undefined:
            note = f"more than {MANY} distinct values are no categories"
        return replace(line, status=Status.UNDEFINED, note=note)
    found = estimate(value, draws, n=count)
    note = f"undefined in {count_text(found.undefined, 'resample')}" if found.undefined else ""
    return replace(line, estimate=found, note=note)


def _kendall(line: AgreementLine, matrix: Values) -> AgreementLine:
    complete = len(complete_rows(matrix))
    found = replace(line.estimate, n=complete)
    line = replace(line, estimate=found, left_out=len(matrix) - complete)
    if not math.isnan(found.value):
        return line
    note = "no rater tells two stories apart" if complete > 1 else "no two stories all raters rated"
    note = note if matrix.shape[1] > 1 else "needs two raters"
    return replace(line, note=note)


def _light(line: AgreementLine, matrix: Values) -> AgreementLine:
    pairs = cohen_pairs(matrix)
    if not pairs:
        return replace(line, note="no two raters share two stories")
    without = sum(map(math.isnan, pairs))
    note = f"{count_text(len(pairs), 'pair')} of raters" + (
        f", {without} undefined" if without else ""
    )
    return replace(line, note="; ".join(filter(None, [note, line.note])))
