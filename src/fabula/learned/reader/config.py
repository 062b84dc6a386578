"""The content of `reader.json`: what a reader sits on, its heads and its scales."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError
from fabula.core.files import write_text
from fabula.core.plain import from_plain, read_json
from fabula.learned.reader.scales import PERCENTILE_POINTS, Scale, Surface
from fabula.text.features import FEATURE_NAMES, FEATURES_VERSION

FILE = "reader.json"
FORMAT = 1
# HANNA's, in the order of its paper.
CRITERIA = ("relevance", "coherence", "empathy", "surprise", "engagement", "complexity")
REMEDY = "train it again, or take another folder"


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
class ReaderConfig:
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


def read_config(folder: Path) -> ReaderConfig:
    """Read `reader.json` of a folder; a field that will not do is named."""
    file = folder / FILE
    if not file.exists():
        raise InputError(f"{folder} holds no reader: it has no {FILE}", REMEDY)
    plain = read_json(file)
    if isinstance(plain, dict) and plain.get("format") != FORMAT:
        problem = f"{file}: format is {plain.get('format')!r}, and this Fabula reads {FORMAT}"
        raise InputError(problem, "take the Fabula that it was made for, or train it again")
    return _make_config(plain, file, REMEDY)


def write_config(folder: Path, config: ReaderConfig) -> None:
    """Write `reader.json`, whole or not at all; what could not be read again is refused."""
    file = folder / FILE
    try:
        text = json.dumps(asdict(config), indent=1, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise InputError(f"{file}: {error}", "mend what was to be written") from None
    _make_config(json.loads(text), file, "mend what was to be written")
    write_text(file, f"{text}\n")


def _make_config(plain: Any, file: Path, remedy: str) -> ReaderConfig:
    config = from_plain(ReaderConfig, plain, str(file), error=InputError, remedy=remedy)
    try:
        _check(config)
    except ValueError as error:
        raise InputError(f"{file}: {error}", remedy) from None
    return config


def _check(config: ReaderConfig) -> None:
    """Refuse what the kinds of the fields do not tell: names, sizes, order."""
    _need(config.format == FORMAT, f"format must be {FORMAT}")
    _need(config.window >= 1, "window must be at least 1")
    for name, head in config.heads.items():
        _need(head.outputs, f"heads.{name}.outputs must not be empty")
        _need(head.hidden >= 0, f"heads.{name}.hidden must be at least 0")
    for name, scale in config.scales.items():
        _check_scale(f"scales.{name}", scale, config.heads)


def _check_scale(at: str, scale: Scale, heads: Mapping[str, Head]) -> None:
    for number, term in enumerate(scale.terms):
        here = f"{at}.terms[{number}]"
        _need(term.head in heads, f"{here}.head is {term.head!r}, which is no head")
        count = len(heads[term.head].outputs)
        _need(0 <= term.output < count, f"{here}.output must be from 0 to {count - 1}")
        _need(term.deviation > 0, f"{here}.deviation must be above 0")
    _need(scale.terms or scale.surface, f"{at}.terms must not be empty")
    _need(scale.low <= scale.high, f"{at}.low must not be above high")
    _need(scale.error is None or scale.error >= 0, f"{at}.error must be at least 0")
    if (points := scale.percentiles) is not None:
        _need(
            len(points) == PERCENTILE_POINTS,
            f"{at}.percentiles must be {PERCENTILE_POINTS} numbers",
        )
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
