"""The content of `reader.json`: what a reader sits on, its heads and its scales."""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fabula.core.errors import InputError
from fabula.core.files import write_text
from fabula.core.plain import from_plain, read_json
from fabula.learned.reader.domain import SURFACE_FEATURES
from fabula.learned.reader.relation import RELATION_NAMES, RELATION_VERSION, Relation
from fabula.text.features import FEATURE_NAMES, FEATURES_VERSION, PARAGRAPH_FEATURES
from fabula.text.layout import Layout

if TYPE_CHECKING:
    from fabula.core.model import Array

FILE = "reader.json"
ENCODER = "encoder"  # folder beside it, of an encoder that is no asset
FORMAT = 1
# HANNA's, in the order of its paper.
CRITERIA = ("relevance", "coherence", "empathy", "surprise", "engagement", "complexity")
REMEDY = "train it again, or take another folder"


@dataclass(frozen=True)
class Pin:
    """The asset whose embeddings and layers a reader sits on, or an encoder of its own.

    One of its own lies in the reader's folder, with all that was learned.
    """

    name: str
    tree_sha256: str
    own: bool = False


@dataclass(frozen=True)
class Head:
    """What a head is asked for, and how wide it is inside (0: one matrix alone)."""

    outputs: tuple[str, ...]
    hidden: int = 0


@dataclass(frozen=True)
class ReaderConfig:
    """The content of `reader.json`; `domain` is what the stories it learned from look like.

    A reader may stand `beside` it, whose heads count in its scales: those are `borrowed`.
    """

    kind: str
    encoder: Pin
    window: int
    heads: Mapping[str, Head]
    scales: Mapping[str, Scale]
    domain: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    overlap: bool = False  # windows are as long as can be
    layout: Layout = "plain"  # how texts are laid out before they are read
    layer: int = 0  # of a model of transformers, after which its states are taken; 0: the last
    surprisal: bool = False  # how likely the model found a window stands beside its states
    sequence: bool = False  # it tells how sentences follow one another, with the judge of order
    beside: Pin | None = None
    borrowed: Mapping[str, Head] = field(default_factory=dict)


def borrowed_name(reader: str, head: str) -> str:
    """Give the name that another reader's head has in scales."""
    return f"{reader}.{head}"


def read_config(folder: Path) -> ReaderConfig:
    """Read `reader.json` of a folder; a field that will not do is named."""
    file = folder / FILE
    if not file.exists():
        raise InputError(f"{folder} holds no reader: it has no {FILE}", REMEDY)
    plain = read_json(file, remedy=REMEDY)
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
    _need(config.layer >= 0, "layer must be at least 0")
    for name, head in config.heads.items():
        _need(head.outputs, f"heads.{name}.outputs must not be empty")
        _need(head.hidden >= 0, f"heads.{name}.hidden must be at least 0")
    for name, scale in config.scales.items():
        _check_scale(f"scales.{name}", scale, {**config.heads, **config.borrowed})
    _need(bool(config.beside) == bool(config.borrowed), "beside and borrowed go together")
    _need(config.beside or not config.sequence, "a sequence needs a judge of order beside")
    _check_domain(config.domain)


def check_domain(domain: Mapping[str, Any], file: Path) -> None:
    """Refuse a file whose bounds of what was learned from are none."""
    try:
        _check_domain(domain)
    except ValueError as error:
        raise InputError(f"{file}: {error}", REMEDY) from None


def _check_domain(domain: Mapping[str, Any]) -> None:
    """Refuse bounds that are none: three of the words, and numbers; there may be no bounds."""
    if not domain:
        return
    words = domain.get("words")
    _need(isinstance(words, list | tuple) and len(words) == 3, "domain.words must be 3 numbers")
    numbers = {name: domain.get(name) for name in ("latin", "common", "numbers", "signs")}
    numbers |= {f"words[{place}]": number for place, number in enumerate(words or ())}
    surface = domain.get("surface")
    if surface is not None:
        _need(isinstance(surface, dict), "domain.surface must be an object")
        numbers |= {f"surface.{name}": surface.get(name) for name in ("share", "distance")}
        sides = {name: surface.get(name) for name in ("low", "middle", "high")}
        _need("features_version" in surface, "domain.surface.features_version is missing")
        for name, side in sides.items():
            is_whole = isinstance(side, list | tuple) and len(side) == SURFACE_FEATURES
            _need(is_whole, f"domain.surface.{name} must be {SURFACE_FEATURES} numbers")
            numbers |= {f"surface.{name}[{at}]": value for at, value in enumerate(side or ())}
    for name, number in numbers.items():
        is_number = type(number) in (int, float) and math.isfinite(number or 0)
        _need(is_number, f"domain.{name} must be a number")


def _check_scale(at: str, scale: Scale, heads: Mapping[str, Head]) -> None:
    for number, term in enumerate(scale.terms):
        here = f"{at}.terms[{number}]"
        _need(term.head in heads, f"{here}.head is {term.head!r}, which is no head")
        count = len(heads[term.head].outputs)
        _need(0 <= term.output < count, f"{here}.output must be from 0 to {count - 1}")
        _need(term.deviation > 0, f"{here}.deviation must be above 0")
    _need(scale.terms or scale.surface or scale.relation, f"{at}.terms must not be empty")
    _need(scale.low <= scale.high, f"{at}.low must not be above high")
    _need(scale.error is None or scale.error >= 0, f"{at}.error must be at least 0")
    if (points := scale.percentiles) is not None:
        _need(
            len(points) == PERCENTILE_POINTS,
            f"{at}.percentiles must be {PERCENTILE_POINTS} numbers",
        )
        _need(list(points) == sorted(points), f"{at}.percentiles must ascend")
    if scale.surface is not None:
        _check_part(f"{at}.surface", scale.surface, FEATURES_VERSION, len(FEATURE_NAMES))
        _need(scale.surface.clip > 0, f"{at}.surface.clip must be above 0")
    if scale.relation is not None:
        _check_part(f"{at}.relation", scale.relation, RELATION_VERSION, len(RELATION_NAMES))


def _check_part(at: str, part: Surface | Relation, version: int, count: int) -> None:
    problem = f"{at}.version is {part.version}, and this Fabula's features are {version}"
    _need(part.version == version, problem)
    for name in ("means", "deviations", "weights"):
        _need(len(getattr(part, name)) == count, f"{at}.{name} must be {count} numbers")
    _need(min(part.deviations) > 0, f"{at}.deviations must be above 0")
    _need(part.deviation > 0, f"{at}.deviation must be above 0")


def _need(holds: object, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def describe_doubt(config: ReaderConfig, name: str, *, among: int = 1) -> str:
    """Say why a value on a scale tells nothing of a story; "" where it may.

    It hardly moves, or its recorded agreement with people, on stories that it had not seen, may be
    chance: zero lies within Fisher's 95 % interval of the correlation, made wider for as many
    scales as are looked at together (`among`, Bonferroni). Where nothing is recorded, nothing
    speaks against it.
    """
    if abs(config.scales[name].slope) < _LEAST_SLOPE:
        return "it is the same for nearly every story"
    record: Any = config.training
    for key in ("validation", "scales", name, name):
        record = record.get(key) if isinstance(record, Mapping) else None
    if not isinstance(record, Mapping) or record.get("figure") != "spearman":
        return ""
    value, count = record.get("value"), record.get("n")
    if not isinstance(value, int | float) or not isinstance(count, int):
        return ""
    reach = NormalDist().inv_cdf(1 - _CHANCE / 2 / among) / math.sqrt(max(count - 3, 1e-9))
    if math.atanh(min(max(value, -0.999), 0.999)) > reach:
        return ""
    sign = "−" if value < 0 else ""
    return (
        f"its agreement with readers may be chance ({sign}{abs(value):.2f} on {count} stories that "
        "it had not seen)"
    )


Link = Literal["identity", "logistic", "clipped"]

PERCENTILE_POINTS = 101
_CHANCE = 0.05
_LEAST_SLOPE = 0.1  # points from 1 to 5 that a story one standard deviation above the mean gains
_CONFIDENCE = 1.96  # standard errors to either end of a 95 % interval
_WORDS = FEATURE_NAMES.index("log_words")
_PARAGRAPHS = [FEATURE_NAMES.index(name) for name in PARAGRAPH_FEATURES]
_SAME = 1e-6  # deviation of a feature that does not differ
_COUNTS = [FEATURE_NAMES.index(name) for name in ("log_words", "log_unique_words")]


@dataclass(frozen=True)
class Term:
    """One output of a head, as it counts for a value.

    Where an `optional` one says nothing of a text, it counts as the mean does.
    """

    head: str
    output: int = 0
    weight: float = 1.0
    mean: float = 0.0
    deviation: float = 1.0
    optional: bool = False

    def value(self, outputs: Mapping[str, Array]) -> float:
        """Give what it adds to a raw value."""
        added = self.weight * (float(outputs[self.head][self.output]) - self.mean) / self.deviation
        return 0.0 if self.optional and math.isnan(added) else added


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

    def read(self, features: Sequence[float], layout: Layout) -> Sequence[float]:
        """Give features of a text in a layout as they count.

        A plain text is one paragraph. So was every text where paragraphs did not differ in what
        was learned from; where they did, they are taken as usual.
        """
        if layout != "plain" or self.deviations[_PARAGRAPHS[0]] <= _SAME:
            return features
        usual = {place: self.means[place] for place in _PARAGRAPHS}
        return [usual.get(place, value) for place, value in enumerate(features)]

    def value(self, features: Sequence[float]) -> float:
        """Give bias + Σ weight · standardised feature."""
        row, means, deviations = map(np.array, ([features], self.means, self.deviations))
        [standardised] = standardise_features(row, means, deviations, self.clip)
        return self.bias + math.fsum(standardised * np.array(self.weights))


@dataclass(frozen=True)
class Scale:
    """How a value is made of heads and surface features, and where it stands among people's.

    With a `relation`, what the prompt and the story have to do with each other counts too.
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
    relation: Relation | None = None

    def raw(
        self,
        outputs: Mapping[str, Array],
        features: Sequence[float] | None = None,
        layout: Layout = "given",
        related: Sequence[float] | Array | None = None,
    ) -> float:
        """Add up (head − mean) / deviation by weight over the terms, and the other parts.

        `outputs` are a story's by head, `features` its row of surface features in a layout,
        `related` its row of `relate`: a scale with a relation gives NaN where there is none.
        """
        raw = math.fsum(term.value(outputs) for term in self.terms)
        if self.relation is not None:
            if related is None:
                return math.nan
            [part_of_prompt] = self.relation.parts(np.array([related]))
            raw += float(part_of_prompt)
        if self.surface is None:
            return raw
        if features is None:
            raise ValueError("the scale reads surface features, and there are none")
        part = self.surface
        return (
            raw
            + part.weight * (part.value(part.read(features, layout)) - part.mean) / part.deviation
        )

    def value(self, raw: float) -> float:
        """Turn a raw value into the scale's own units."""
        value = raw * self.slope + self.shift
        if self.link == "logistic":
            # Written by tanh, which does not overflow.
            return 0.5 + 0.5 * math.tanh(value / 2)
        if self.link == "clipped" and not math.isnan(value):
            return min(max(value, self.low), self.high)
        return value

    def percentile(self, raw: float) -> float:
        """Give the share of human stories below a raw value, 0 to 100; NaN where it is not known.

        Between two points it is linear; where several points are equal, it is their middle.
        """
        points = self.percentiles
        if points is None or math.isnan(raw):
            return math.nan
        left, right = bisect_left(points, raw), bisect_right(points, raw)
        if left < right:
            return (left + right - 1) / 2
        if left in (0, len(points)):
            return 0.0 if left == 0 else float(len(points) - 1)
        below, above = points[left - 1], points[left]
        return left - 1 + (raw - below) / (above - below)

    def interval(self, raw: float) -> tuple[float, float]:
        """Give the percentiles between which another training would put it, 95 times of 100."""
        if self.error is None:
            return math.nan, math.nan
        reach = _CONFIDENCE * self.error
        return self.percentile(raw - reach), self.percentile(raw + reach)


def standardise_features(features: Array, means: Array, deviations: Array, clip: float) -> Array:
    """Give how far features lie from their means, in deviations, none beyond ±clip: (texts, 17).

    Shares and means over a few words jump. In a text shorter than `clip` deviations below the
    mean, all but the counts of words fade in proportion to its length.
    """
    bounded: Array = np.clip((features - means) / deviations, -clip, clip)  # (texts, 17)
    shortest = max(np.expm1(means[_WORDS] - clip * deviations[_WORDS]), 1.0)
    share = np.minimum(np.expm1(features[:, _WORDS]) / shortest, 1.0)  # (texts,)
    faded: Array = bounded * share[:, None]
    faded[:, _COUNTS] = bounded[:, _COUNTS]
    return faded
