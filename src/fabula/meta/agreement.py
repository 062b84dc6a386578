"""How far raters agree: every coefficient that the ratings allow, aspect by aspect."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import SettingError, UnknownName, closest
from fabula.core.protocols import Progress
from fabula.core.score import Status
from fabula.core.table import ScoreTable
from fabula.meta.alpha import LEVELS, Level, krippendorff
from fabula.meta.concordance import kendall_w
from fabula.meta.gwet import gwet
from fabula.meta.icc import Icc, one_way, two_way
from fabula.meta.kappa import cohen_pairs, fleiss, light, sharing_pairs
from fabula.meta.raters import RaterLine, rater_lines
from fabula.meta.ratings import Ratings, complete_rows, ratings_of
from fabula.meta.weighting import Spread, Statistic, spreads_of, value_of

NEEDS_IDS = "needs rater ids"
# Cohen's kappa of more pairs would take long and say little: few of them share many stories.
_MOST_PAIRS = 300


@dataclass(frozen=True)
class AgreementLine:
    """One coefficient of one aspect; NaN with a status and a note where it is undefined.

    `stories` are those it uses, `left_out` those it cannot use.
    """

    aspect: str
    statistic: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    stories: int = 0
    raters: int = 0
    ratings: int = 0
    left_out: int = 0
    status: Status = Status.OK
    note: str = ""


@dataclass(frozen=True)
class Agreement:
    """Coefficients by aspect and figures by rater, with how they were found.

    Where it is not known who rated, there are no figures by rater.
    """

    level: Level
    resamples: int
    seed: int
    raters_known: bool
    lines: tuple[AgreementLine, ...]
    raters: tuple[RaterLine, ...] = ()

    @property
    def aspects(self) -> list[str]:
        """Aspects, in the order they came."""
        return list(dict.fromkeys(line.aspect for line in self.lines))

    def line(self, aspect: str, statistic: str) -> AgreementLine | None:
        """Find a coefficient of an aspect, if the level has it."""
        wanted = aspect, statistic
        return next((one for one in self.lines if (one.aspect, one.statistic) == wanted), None)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per aspect and coefficient; what is missing is None."""
        return [_plain(asdict(line)) for line in self.lines]

    def rater_rows(self) -> list[dict[str, Any]]:
        """One flat row per rater and aspect; what is missing is None."""
        return [_plain(asdict(line)) for line in self.raters]


def agree(
    source: Dataset | ScoreTable,
    *,
    level: Level = "ordinal",
    aspects: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Agreement:
    """Measure how far the raters of a data set, or of a table of ratings, agree.

    The level says what the values are; nominal ones have neither means nor an order, and so only
    the coefficients that need none. Intervals hold 95 %: by F for the ICC, else by bootstrap over
    stories.
    """
    if level not in LEVELS:
        raise SettingError(f"no level is called {level!r}", closest(level, LEVELS))
    if resamples < 1:
        raise SettingError(f"resamples={resamples} will not do", "give 1 or more")
    known = source.card.raters_known if isinstance(source, Dataset) else True
    parts = _chosen(ratings_of(source.ratings if isinstance(source, Dataset) else source), aspects)
    lines: list[AgreementLine] = []
    if progress:
        progress.start(len(parts))
    for one in parts:
        scale = source.card.scale(one.aspect) if isinstance(source, Dataset) else None
        asked = _Asked(level, known, resamples, seed, scale)
        lines += _lines(one, asked)
        if progress:
            progress.advance(1)
    if progress:
        progress.finish()
    by_rater = [line for one in parts for line in rater_lines(one)] if known else []
    return Agreement(level, resamples, seed, known, tuple(lines), tuple(by_rater))


@dataclass(frozen=True)
class _Asked:
    level: Level
    raters_known: bool
    resamples: int
    seed: int
    scale: tuple[float, float] | None


def _chosen(parts: list[Ratings], aspects: Sequence[str]) -> list[Ratings]:
    known = {one.aspect: one for one in parts}
    for aspect in aspects:
        if aspect not in known:
            raise UnknownName(f"no aspect is called {aspect!r} here", closest(aspect, known))
    return [known[aspect] for aspect in aspects] if aspects else parts


def _lines(ratings: Ratings, asked: _Asked) -> Iterator[AgreementLine]:
    packed = ratings.packed
    blank = AgreementLine(
        ratings.aspect,
        "",
        stories=int((ratings.per_story >= 2).sum()),
        raters=len(ratings.raters) if asked.raters_known else packed.shape[1],
        ratings=len(ratings.value),
    )
    blank = replace(blank, left_out=len(ratings.stories) - blank.stories)
    matrix = ratings.matrix if asked.raters_known else None
    if asked.level != "nominal":
        yield from _icc_lines(packed, matrix, blank)
    statistics = _by_story(packed, asked)
    aligned = _by_rater(matrix, asked) if matrix is not None else {}
    spreads = spreads_of(
        statistics | aligned, len(packed), resamples=asked.resamples, seed=asked.seed
    )
    for name, statistic in statistics.items():
        yield _measured(replace(blank, statistic=name), statistic, spreads[name])
    for name in _ALIGNED if asked.level != "nominal" else _ALIGNED[:1]:
        line = replace(blank, statistic=name)
        if matrix is None:
            yield replace(line, stories=0, status=Status.UNDEFINED, note=NEEDS_IDS)
        elif name in aligned:
            found = _measured(line, aligned[name], spreads[name])
            yield _kendall(found, matrix) if name == "Kendall W" else _light(found, matrix)
        else:
            note = "too many pairs of raters; see alpha"
            yield replace(line, stories=0, status=Status.UNDEFINED, note=note)


def _icc_lines(
    packed: np.ndarray[Any, Any], matrix: np.ndarray[Any, Any] | None, blank: AgreementLine
) -> Iterator[AgreementLine]:
    for icc in one_way(packed):
        yield _of_icc(icc, blank)
    if matrix is not None:
        for icc in two_way(matrix):
            yield _of_icc(icc, blank)
        return
    for kind in ("ICC(2,1)", "ICC(3,1)", "ICC(2,k)", "ICC(3,k)"):
        yield replace(blank, statistic=kind, stories=0, status=Status.UNDEFINED, note=NEEDS_IDS)


def _of_icc(icc: Icc, blank: AgreementLine) -> AgreementLine:
    return replace(
        blank,
        statistic=icc.kind,
        value=icc.value,
        low=icc.low,
        high=icc.high,
        stories=icc.stories,
        left_out=icc.left_out,
        status=Status.UNDEFINED if math.isnan(icc.value) else Status.OK,
        note=icc.note or ("no variance between stories" if math.isnan(icc.value) else ""),
    )


_ALIGNED = ("Light kappa", "Light kappa linear", "Light kappa quadratic", "Kendall W")


def _by_story(packed: np.ndarray[Any, Any], asked: _Asked) -> dict[str, Statistic]:
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


def _by_rater(matrix: np.ndarray[Any, Any], asked: _Asked) -> dict[str, Statistic]:
    """Coefficients that need to know who gave a rating."""
    found: dict[str, Statistic] = {}
    if len(sharing_pairs(matrix)) <= _MOST_PAIRS:
        found["Light kappa"] = light(matrix)
        if asked.level != "nominal":
            found["Light kappa linear"] = light(matrix, weighting="linear")
            found["Light kappa quadratic"] = light(matrix, weighting="quadratic")
    if asked.level != "nominal":
        found["Kendall W"] = kendall_w(matrix)
    return found


def _measured(line: AgreementLine, statistic: Statistic, spread: Spread) -> AgreementLine:
    value = value_of(statistic, line.stories + line.left_out)
    if math.isnan(value):
        note = "undefined: chance alone would agree" if line.stories else "no story has two ratings"
        return replace(line, status=Status.UNDEFINED, note=note)
    note = f"undefined in {spread.undefined:,} resamples" if spread.undefined else ""
    return replace(line, value=value, low=spread.low, high=spread.high, note=note)


def _kendall(line: AgreementLine, matrix: np.ndarray[Any, Any]) -> AgreementLine:
    complete = len(complete_rows(matrix))
    line = replace(line, stories=complete, left_out=len(matrix) - complete)
    if not math.isnan(line.value):
        return line
    note = "no rater tells two stories apart" if complete > 1 else "no two stories all raters rated"
    return replace(line, note=note)


def _light(line: AgreementLine, matrix: np.ndarray[Any, Any]) -> AgreementLine:
    pairs = cohen_pairs(matrix)
    undefined = sum(map(math.isnan, pairs))
    note = f"{len(pairs)} pairs of raters" + (f", {undefined} undefined" if undefined else "")
    return replace(line, note="; ".join(filter(None, [note, line.note])))


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, Status):
            return str(value)
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return {key: plain(value) for key, value in row.items()}
