"""How large a study has to be: power and precision of designs, by simulation.

Ratings are simulated as normal and independent given their story. The tests are those that the
rest of the system uses, so that what is planned is what will be done.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from fabula.core.errors import SettingError

Question = Literal["difference", "correlation", "two correlations"]
# More than any study has, and than figures of it would be worth.
_MOST = {"items": 1_000_000_000, "raters": 1_000_000, "systems": 10_000, "studies": 1_000_000}


@dataclass(frozen=True)
class Design:
    """How studies are laid out and judged.

    With more than two systems, `difference` tests every pair: alpha is parted over the pairs.
    `correlation` goes over the stories of all systems, pooled.
    """

    items: tuple[int, ...]
    raters: tuple[int, ...]
    systems: int = 2
    alpha: float = 0.05
    studies: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be done."""
        _check_least("items", self.items, 2)
        _check_least("raters", self.raters, 1)
        _check_least("systems", [self.systems], 1)
        _check_least("studies", [self.studies], 100)
        _check_least("seed", [self.seed], 0)
        for name, most in _MOST.items():
            given = getattr(self, name)
            if (value := max(given) if isinstance(given, tuple) else given) > most:
                raise SettingError(f"{name}={value:,} will not do", f"give at most {most:,}")
        if not 0 < self.alpha < 1:
            raise SettingError(f"alpha={self.alpha} will not do", "give a number between 0 and 1")


@dataclass(frozen=True)
class Wish:
    """What a study is to reach: a power, and an interval of plus or minus `half_width`."""

    power: float = 0.8
    half_width: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be reached."""
        if not 0 < self.power < 1:
            raise SettingError(f"power={self.power} will not do", "give a number between 0 and 1")
        if self.half_width is not None and not self.half_width > 0:
            raise SettingError(f"half_width={self.half_width} will not do", "give more than 0")


@dataclass(frozen=True)
class Planned:
    """One design: its power with the 95 % interval of the simulation, and the half-width.

    The half-width is that of the interval of the estimate, at the level 1 - alpha.
    """

    items: int
    raters: int
    stories: int
    power: float
    low: float
    high: float
    half_width: float


@dataclass(frozen=True)
class Need:
    """How many items, or raters for given items, a wish takes; None where no number will do."""

    wish: str
    raters: int | None
    items: int | None


@dataclass(frozen=True)
class Plan:
    """Designs side by side, what a wish takes, and what was assumed."""

    question: Question
    effect: float
    assumed: dict[str, Any]
    design: Design
    cells: tuple[Planned, ...]
    needs: tuple[Need, ...]

    def cell(self, items: int, raters: int) -> Planned:
        """Find one design."""
        return next(c for c in self.cells if (c.items, c.raters) == (items, raters))

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per design; what is missing is None."""
        return [
            {key: None if _is_missing(value) else value for key, value in asdict(cell).items()}
            for cell in self.cells
        ]


def _is_missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _check_least(name: str, values: Iterable[int], least: int) -> None:
    given = list(values)
    if not given:
        raise SettingError(f"no {name} given", f"give {name}, such as {least + 1}")
    for value in given:
        if value < least:
            raise SettingError(f"{name}={value} will not do", f"give {least} or more")
