"""A judge's certificate: how far it agrees with people, beside what costs nothing.

A judge is any scorer that claims to rate as people do: a language model above all. Its certificate
says, criterion by criterion, how far it agrees with a gold, what trivial baselines, other metrics
and the raters' own noise reach on the same stories, and which biases a probe found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from fabula.meta.levels import Level
from fabula.meta.resampling import Estimate

Verdict = Literal["beyond baselines", "no better", "worse", "unknown"]
RivalKind = Literal["baseline", "column", "reader"]
Finding = Literal["found", "not found", "not measured"]
KINDS: tuple[RivalKind, ...] = get_args(RivalKind)
VERSION = 1
NO_CERTIFICATE = "no certificate"


@dataclass(frozen=True)
class Figure:
    """A figure with the ends of its interval; None where it, or they, are undefined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, estimate: Estimate) -> Figure:
        """Take it from an estimate."""
        return cls(**estimate.plain())

    @property
    def is_known(self) -> bool:
        """Whether there is a figure with an interval."""
        return None not in (self.value, self.low, self.high)


def weigh_gain(low: float | None, high: float | None) -> Verdict:
    """Give the verdict on a gain over the baselines by the ends of its interval."""
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return "unknown"
    return "beyond baselines" if low > 0 else "worse" if high < 0 else "no better"


@dataclass(frozen=True)
class Rival:
    """Something else that was asked about the same stories, and what the judge gains over it.

    Of the trivial baselines and of the columns that came with a data set it is the strongest one,
    chosen on the same stories, which flatters it. A reader is one of our own learned metrics.
    """

    kind: RivalKind
    name: str
    agreement: Figure
    gain: Figure


@dataclass(frozen=True)
class Agreement:
    """How far a judge agrees with people on a criterion, at one level, by one coefficient.

    `n` counts the items, systems or stories that it rests on, `undefined` those left out; `ceiling`
    is what a perfect judge could reach, given the raters' noise.
    """

    aspect: str
    level: Level
    coefficient: str
    agreement: Figure
    n: int
    undefined: int = 0
    ceiling: float | None = None
    rivals: tuple[Rival, ...] = ()

    def rival(self, kind: RivalKind) -> Rival | None:
        """Give the rival of that kind, if there is one."""
        return next((rival for rival in self.rivals if rival.kind == kind), None)

    @property
    def verdict(self) -> Verdict:
        """Say whether the judge is better than the strongest trivial baseline.

        It is where the whole interval of the gain lies above 0, worse where it lies below.
        """
        rival = self.rival("baseline")
        return weigh_gain(rival.gain.low, rival.gain.high) if rival else "unknown"

    def row(self) -> dict[str, Any]:
        """Give a flat row; what is missing is None."""
        row: dict[str, Any] = {
            "aspect": self.aspect,
            "level": self.level,
            "coefficient": self.coefficient,
            **asdict(self.agreement),
            "n": self.n,
            "undefined": self.undefined,
            "ceiling": self.ceiling,
        }
        for kind in KINDS:
            rival = self.rival(kind)
            row[kind] = rival.name if rival else None
            row[f"{kind}_value"] = rival.agreement.value if rival else None
            gain = rival.gain if rival else Figure()
            row |= {
                f"gain_over_{kind}": gain.value,
                f"gain_over_{kind}_low": gain.low,
                f"gain_over_{kind}_high": gain.high,
            }
        return row | {"verdict": self.verdict}


@dataclass(frozen=True)
class Bias:
    """What a probe found: its figure, on how many stories or pairs, and what that means in words.

    `finding` is "found" where the interval leaves out what an unbiased judge would give.
    """

    name: str
    measure: str
    figure: Figure
    n: int
    finding: Finding
    words: str
    aspect: str = ""

    def row(self) -> dict[str, Any]:
        """Give a flat row; what is missing is None."""
        row = asdict(self)
        figure = row.pop("figure")
        return {"probe": row.pop("name"), "aspect": row.pop("aspect"), **row, **figure}


@dataclass(frozen=True)
class Certificate:
    """What was found of a judge on one gold, with all that the figures depend on.

    `signature` is the identity of the judge: spec, prompt, model, decoding and seed; another
    signature is another judge. `answered` says of how many of the `stories` it has a value,
    `missing` why it has none of the others. The verdicts go by `coefficient`.
    """

    judge: str
    signature: str
    gold: str
    made: str
    fabula: str
    stories: int
    items: int
    systems: int
    answered: int
    coefficient: str
    resamples: int
    seed: int
    alpha: float
    agreements: tuple[Agreement, ...]
    biases: tuple[Bias, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()
    version: int = VERSION

    @property
    def aspects(self) -> list[str]:
        """Criteria that it speaks of, in the order of the gold."""
        return list(dict.fromkeys(one.aspect for one in self.agreements))

    def of(self, level: Level, coefficient: str = "") -> list[Agreement]:
        """Give what was found at a level, by the coefficient of the verdicts or by another."""
        wanted = level, coefficient or self.coefficient
        return [one for one in self.agreements if (one.level, one.coefficient) == wanted]

    @property
    def levels(self) -> list[Level]:
        """Levels at which anything was measured."""
        return list(dict.fromkeys(one.level for one in self.agreements))

    @property
    def deciding_level(self) -> Level:
        """The level that verdicts go by: stories of an item, or all where there are no systems."""
        return "item" if "item" in self.levels else "pooled"

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on every criterion."""
        return {one.aspect: one.verdict for one in self.of(self.deciding_level)}

    def verdict(self, aspect: str) -> Verdict:
        """Say whether it is better than the baselines on a criterion; one value stands for all."""
        verdicts = self.verdicts
        if aspect in verdicts:
            return verdicts[aspect]
        different = set(verdicts.values())
        return different.pop() if not aspect and len(different) == 1 else "unknown"

    def plain(self) -> dict[str, Any]:
        """Give it as JSON holds it, verdicts first for those who read the file."""
        return {"verdicts": self.verdicts, **asdict(self)}


def figure_of(value: float, low: float = math.nan, high: float = math.nan) -> Figure:
    """Make a figure of numbers that may be NaN."""
    return Figure.of(Estimate(value, low, high))
