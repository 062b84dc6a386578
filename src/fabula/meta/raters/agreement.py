"""How far raters agree: every coefficient that the ratings allow, aspect by aspect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.errors import SettingError, UnknownName, closest
from fabula.core.protocols import Progress, track
from fabula.core.score import Status
from fabula.core.table import ScoreTable
from fabula.meta.raters.agreement_lines import AgreementLine, Asked, agreement_lines
from fabula.meta.raters.alpha import LEVELS, Level
from fabula.meta.raters.rater_lines import RaterLine, rater_lines
from fabula.meta.raters.ratings import Ratings, ratings_of


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
    for one in track(parts, progress):
        scale = source.card.scale(one.aspect) if isinstance(source, Dataset) else None
        asked = Asked(level, known, resamples, seed, scale)
        lines += agreement_lines(one, asked)
    by_rater = [line for one in parts for line in rater_lines(one)] if known else []
    return Agreement(level, resamples, seed, known, tuple(lines), tuple(by_rater))


def _chosen(parts: list[Ratings], aspects: Sequence[str]) -> list[Ratings]:
    known = {one.aspect: one for one in parts}
    for aspect in aspects:
        if aspect not in known:
            raise UnknownName(f"no aspect is called {aspect!r} here", closest(aspect, known))
    return [known[aspect] for aspect in aspects] if aspects else parts


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, Status):
            return str(value)
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return {key: plain(value) for key, value in row.items()}
