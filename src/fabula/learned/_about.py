"""What a reader says of itself: its heads, and how values are made of what they give."""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fabula.core.errors import InputError
from fabula.learned._plain import read_plain
from fabula.learned._surface import standing
from fabula.text.features import FEATURE_NAMES, FEATURES_VERSION

if TYPE_CHECKING:
    from fabula.core.model import Array

FILE = "reader.json"
FORMAT = 1
Link = Literal["identity", "logistic", "clipped"]

_CONFIDENCE = 1.96  # standard errors to either end of a 95 % interval
_POINTS = 101
_REMEDY = "train it again, or take another folder"


@dataclass(frozen=True)
class Pin:
    """The asset whose embeddings and layers a reader sits on."""

    name: str
    tree_sha256: str


@dataclass(frozen=True)
class Head:
    """What a head is asked for, and how wide it is inside (0: one matrix alone)."""

    outputs: tuple[str, ...]
    hidden: int = 0


@dataclass(frozen=True)
class Term:
    """One output of a head, as it counts for a value."""

    head: str
    output: int = 0
    weight: float = 1.0
    mean: float = 0.0
    deviation: float = 1.0


@dataclass(frozen=True)
class Surface:
    """A linear reading of the surface features, as it counts for a value."""

    version: int
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    weights: tuple[float, ...]
    clip: float = 3.0
    bias: float = 0.0
    weight: float = 1.0
    mean: float = 0.0
    deviation: float = 1.0


@dataclass(frozen=True)
class Scale:
    """How a value is made of heads and surface features, and where it stands among people's.

    `percentiles` are the raw values of human stories at 0, 1, … 100 %; `error` is the standard
    error of a raw value between trainings.
    """

    terms: tuple[Term, ...]
    surface: Surface | None = None
    link: Link = "identity"
    slope: float = 1.0
    shift: float = 0.0
    low: float = 1.0
    high: float = 5.0
    percentiles: tuple[float, ...] | None = None
    error: float | None = None


@dataclass(frozen=True)
class About:
    """The content of `reader.json`; `domain` is what the stories it learned from look like."""

    kind: str
    encoder: Pin
    window: int
    heads: Mapping[str, Head]
    scales: Mapping[str, Scale]
    domain: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    overlap: bool = False  # windows are as long as can be


def read_about(folder: Path) -> About:
    """Read `reader.json` of a folder; a field that will not do is named."""
    file = folder / FILE
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder} holds no reader: it has no {FILE}", _REMEDY) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read ({error})", _REMEDY) from None
    if isinstance(found, dict) and found.get("format") != FORMAT:
        problem = f"{file}: format is {found.get('format')!r}, and this Fabula reads {FORMAT}"
        raise InputError(problem, "take the Fabula that it was made for, or train it again")
    try:
        about = read_plain(About, found)
        _check(about)
    except ValueError as error:
        raise InputError(f"{file}: {error}", _REMEDY) from None
    return about


def write_about(folder: Path, about: About) -> None:
    """Write `reader.json`, whole or not at all; what could not be read again is refused."""
    try:
        text = json.dumps(asdict(about), indent=1, ensure_ascii=False, allow_nan=False)
        _check(read_plain(About, json.loads(text)))
    except ValueError as error:
        raise InputError(f"{folder / FILE}: {error}", "mend what was to be written") from None
    partial = folder / f".{FILE}.part"
    partial.write_text(f"{text}\n", encoding="utf-8")
    partial.replace(folder / FILE)


def raw_value(
    scale: Scale, outputs: Mapping[str, Array], features: Sequence[float] | None = None
) -> float:
    """Add up the terms of a scale: (head − mean) / deviation by weight, and the surface's part.

    `outputs` are a story's by head, `features` its row of surface features.
    """
    raw = math.fsum(
        one.weight * (float(outputs[one.head][one.output]) - one.mean) / one.deviation
        for one in scale.terms
    )
    if scale.surface is None:
        return raw
    if features is None:
        raise ValueError("the scale reads surface features, and there are none")
    part = scale.surface
    return raw + part.weight * (_surface_value(part, features) - part.mean) / part.deviation


def value_of(scale: Scale, raw: float) -> float:
    """Turn a raw value into the scale's own units."""
    value = raw * scale.slope + scale.shift
    if scale.link == "logistic":
        # Written by tanh, which does not overflow.
        return 0.5 + 0.5 * math.tanh(value / 2)
    if scale.link == "clipped" and not math.isnan(value):
        return min(max(value, scale.low), scale.high)
    return value


def percentile_of(scale: Scale, raw: float) -> float:
    """Give the share of human stories below a raw value, 0 to 100; NaN where it is not known.

    Between two points it is linear; where several points are equal, it is their middle.
    """
    points = scale.percentiles
    if points is None or math.isnan(raw):
        return math.nan
    left, right = bisect_left(points, raw), bisect_right(points, raw)
    if left < right:
        return (left + right - 1) / 2
    if left in (0, len(points)):
        return 0.0 if left == 0 else float(len(points) - 1)
    below, above = points[left - 1], points[left]
    return left - 1 + (raw - below) / (above - below)


def interval_of(scale: Scale, raw: float) -> tuple[float, float]:
    """Give the percentiles between which another training would put it, 95 times of 100."""
    if scale.error is None:
        return math.nan, math.nan
    reach = _CONFIDENCE * scale.error
    return percentile_of(scale, raw - reach), percentile_of(scale, raw + reach)


def _surface_value(part: Surface, features: Sequence[float]) -> float:
    row, means, deviations = map(np.array, ([features], part.means, part.deviations))
    [found] = standing(row, means, deviations, part.clip)
    return part.bias + math.fsum(found * np.array(part.weights))


def _check(about: About) -> None:
    """Refuse what the kinds of the fields do not tell: names, sizes, order."""
    _need(about.format == FORMAT, f"format must be {FORMAT}")
    _need(about.window >= 1, "window must be at least 1")
    for name, head in about.heads.items():
        _need(head.outputs, f"heads.{name}.outputs must not be empty")
        _need(head.hidden >= 0, f"heads.{name}.hidden must be at least 0")
    for name, scale in about.scales.items():
        _check_scale(f"scales.{name}", scale, about.heads)


def _check_scale(at: str, scale: Scale, heads: Mapping[str, Head]) -> None:
    for number, one in enumerate(scale.terms):
        here = f"{at}.terms[{number}]"
        _need(one.head in heads, f"{here}.head is {one.head!r}, which is no head")
        count = len(heads[one.head].outputs)
        _need(0 <= one.output < count, f"{here}.output must be from 0 to {count - 1}")
        _need(one.deviation > 0, f"{here}.deviation must be above 0")
    _need(scale.terms or scale.surface, f"{at}.terms must not be empty")
    _need(scale.low <= scale.high, f"{at}.low must not be above high")
    _need(scale.error is None or scale.error >= 0, f"{at}.error must be at least 0")
    if (points := scale.percentiles) is not None:
        _need(len(points) == _POINTS, f"{at}.percentiles must be {_POINTS} numbers")
        _need(list(points) == sorted(points), f"{at}.percentiles must ascend")
    if scale.surface is not None:
        _check_surface(f"{at}.surface", scale.surface)


def _check_surface(at: str, part: Surface) -> None:
    version = f"{at}.version is {part.version}, and this Fabula's features are {FEATURES_VERSION}"
    _need(part.version == FEATURES_VERSION, version)
    for name in ("means", "deviations", "weights"):
        count = len(FEATURE_NAMES)
        _need(len(getattr(part, name)) == count, f"{at}.{name} must be {count} numbers")
    _need(min(part.deviations) > 0, f"{at}.deviations must be above 0")
    _need(part.deviation > 0, f"{at}.deviation must be above 0")
    _need(part.clip > 0, f"{at}.clip must be above 0")


def _need(holds: object, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
