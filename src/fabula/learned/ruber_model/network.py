"""RUBER's network: does this story answer that prompt?  Its folder, and the encoder it sits on."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fabula.core.errors import InputError
from fabula.core.files import write_json
from fabula.core.model import Embedder, TokenStates, Truncating
from fabula.core.plain import from_plain, read_json, read_tensors
from fabula.learned.reader.config import check_domain
from fabula.learned.reader.inference import find_folder
from fabula.models import load_model, need
from fabula.models.reading.state_cache import LruCache, text_key

Array = np.ndarray[Any, np.dtype[Any]]
Pooling = Literal["max", "mean"]
Weights = Mapping[str, Any]

FILE = "ruber.json"
WEIGHTS_FILE = "model.safetensors"
FORMAT = 1
FAKE = "fake"
# The release reads so many tokens of a text, those that the model adds counted.
COMPAT_TOKENS = 500
_CACHED_TEXTS = 4096
_FAKE_HIDDEN = 8
_REMEDY = "train it again (fabula train ruber), or take another folder"


@dataclass(frozen=True)
class Bounds:
    """The lowest and the highest value that a part had in training."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Give where a value lies between them, 0 to 1."""
        share = (value - self.low) / max(self.high - self.low, 1e-9)
        return share if math.isnan(share) else min(max(share, 0.0), 1.0)


@dataclass(frozen=True)
class RuberConfig:
    """The content of `ruber.json`: the frozen encoder, how its states are pooled, the bounds."""

    model: str
    layer: int
    pooling: Pooling
    unreferenced: Bounds
    referenced: Bounds
    domain: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT


def logits(
    weights: Weights, prompts: Any, stories: Any, *, tanh: Callable[[Any], Any] = np.tanh
) -> Any:
    """Give the two logits of each pair of pooled vectors: does not answer, answers.

    The features [q; qᵀMr; r] go through a layer with tanh to two logits. Arrays and tensors will
    do alike, with the `tanh` of their library. M is one matrix, or the product of two thin ones;
    qᵀMr is divided by the root of the width, so that it is of the size of the other features.
    """
    q = (prompts - weights["prompt.mean"]) / weights["prompt.deviation"]  # (B, H)
    r = (stories - weights["story.mean"]) / weights["story.deviation"]  # (B, H)
    if "between" in weights:
        between = ((q @ weights["between"]) * r).sum(-1)  # (B,)
    else:
        between = ((q @ weights["between.prompt"]) * (r @ weights["between.story"])).sum(-1)
    inner = q @ weights["inner.prompt"] + r @ weights["inner.story"]  # (B, hidden)
    between = between[:, None] / q.shape[1] ** 0.5
    inner = inner + between * weights["inner.between"] + weights["inner.bias"]
    return tanh(inner) @ weights["outer.weight"] + weights["outer.bias"]  # (B, 2)


def probabilities(weights: Weights, prompts: Array, stories: Array) -> Array:
    """Give the probability that each story answers its prompt."""
    scores = logits(weights, prompts, stories)  # (B, 2)
    # The softmax of two logits, written by tanh, which does not overflow.
    share: Array = 0.5 + 0.5 * np.tanh((scores[:, 1] - scores[:, 0]) / 2)  # (B,)
    return share


def pool_texts(
    encoder: Embedder, texts: Sequence[str], *, layer: int, pooling: Pooling
) -> Iterator[tuple[Array, float]]:
    """Give one vector a text, with the share of it that was read; NaN for one without a token.

    Long texts are read by windows; the pool is over the tokens of all of them.
    """
    for states in encoder.states(list(texts), [layer]):
        yield pool(states, pooling, width=encoder.width), states.coverage


def pool(tokens: TokenStates, pooling: Pooling, *, width: int) -> Array:
    """Take the largest value, or the mean, of each number over a text's own tokens."""
    own = [number for number, (start, end) in enumerate(tokens.spans) if end > start]
    if not own:
        return np.full(width, np.nan, dtype=np.float32)
    states = tokens.states[0][own]  # (own tokens, H)
    vector: Array = states.max(axis=0) if pooling == "max" else states.mean(axis=0)
    return vector.astype(np.float32)


def cosine(first: Array, second: Array) -> float:
    """Cosine of two vectors; NaN where one of them is, 0 where one has no direction."""
    lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(np.clip(first @ second / lengths, -1.0, 1.0)) if lengths != 0 else 0.0


def read_ruber_config(folder: Path) -> RuberConfig:
    """Read `ruber.json` of a folder; a field that will not do is named."""
    file = folder / FILE
    if not file.exists():
        raise InputError(f"{folder} holds no RUBER: it has no {FILE}", _REMEDY)
    plain = read_json(file, remedy=_REMEDY)
    config = from_plain(RuberConfig, plain, str(file), error=InputError, remedy=_REMEDY)
    check_domain(config.domain, file)
    return config


def write_ruber_config(folder: Path, config: RuberConfig) -> None:
    """Write `ruber.json`, whole or not at all."""
    write_json(folder / FILE, asdict(config))


def read_weights(folder: Path) -> dict[str, Array]:
    """Read the network's weights, in full precision from here on; sizes must go together."""
    file = folder / WEIGHTS_FILE
    tensors = read_tensors(file, "numpy", remedy=_REMEDY)
    weights = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    for name, shape in _expect_shapes(weights).items():
        if name not in weights or weights[name].shape != shape:
            size = " × ".join(map(str, shape))
            raise InputError(f"{file} holds no {name} of {size}", _REMEDY)
        if name.endswith("deviation") and weights[name].min() <= 0:
            raise InputError(f"{file}: {name} must be above 0", _REMEDY)
    return weights


def _expect_shapes(weights: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
    """Sizes of all weights, by those of a text's vector and of the layer between."""
    sizes = (np.size(weights.get(name, 0)) for name in ("story.mean", "inner.bias"))
    width, hidden = (max(size, 1) for size in sizes)
    thin = np.shape(weights.get("between.prompt", 0))[-1:] or (1,)
    sides = ("prompt", "story")
    between = (
        {f"between.{side}": (width, *thin) for side in sides}
        if "between" not in weights
        else {"between": (width, width)}
    )
    return between | {
        **{f"{side}.{part}": (width,) for side in sides for part in ("mean", "deviation")},
        **{f"inner.{side}": (width, hidden) for side in sides},
        **{f"inner.{part}": (hidden,) for part in ("between", "bias")},
        "outer.weight": (hidden, 2),
        "outer.bias": (2,),
    }


@dataclass(frozen=True)
class Pooled:
    """A text as one vector, and the share of it that was read; NaN where no token was seen."""

    vector: Array
    coverage: float


@dataclass(frozen=True, eq=False)
class RuberModel:
    """Pools texts and says how likely a story answers a prompt."""

    config: RuberConfig
    weights: Weights = field(repr=False)
    encoder: Embedder = field(repr=False)
    digest: str
    _cache: LruCache[Pooled] = field(default_factory=lambda: LruCache(_CACHED_TEXTS), repr=False)

    @property
    def signature(self) -> str:
        """Digest of the network's files, how it pools, and the encoder's own signature."""
        config = self.config
        return f"ruber@{self.digest},{config.pooling},layer={config.layer},{self.encoder.signature}"

    def pool(self, texts: Sequence[str], *, cut: bool = False) -> list[Pooled]:
        """Give every text as a vector; `cut` reads as much of it as the release does."""

        def make(places: list[int]) -> Iterable[Pooled]:
            return self._pool_texts([texts[place] for place in places], cut=cut)

        return self._cache.get([text_key(text, "cut" if cut else "") for text in texts], make)

    def chance(self, prompt: Pooled, story: Pooled) -> float:
        """Give the probability that a story answers a prompt."""
        [probability] = probabilities(self.weights, prompt.vector[None], story.vector[None])
        return float(probability)

    def _pool_texts(self, texts: Sequence[str], *, cut: bool) -> Iterable[Pooled]:
        heads = need(self.encoder, Truncating).truncate(texts, COMPAT_TOKENS) if cut else texts
        pooled = pool_texts(
            self.encoder, heads, layer=self.config.layer, pooling=self.config.pooling
        )
        for text, head, (vector, coverage) in zip(texts, heads, pooled, strict=True):
            yield Pooled(vector, coverage * len(head) / max(1, len(text)))


def load_ruber(name: str) -> RuberModel:
    """Load the network of an asset or of a training's folder; `fake` needs no weights."""
    if name == FAKE:
        return _fake()
    folder = find_folder(name)
    if not (folder / FILE).is_file():
        remedy = "run: fabula train ruber --data FOLDER -o FOLDER"
        raise InputError(f"{folder} holds no RUBER: it has no {FILE}", remedy)
    if not (folder / WEIGHTS_FILE).is_file():
        raise InputError(f"{folder} holds no {WEIGHTS_FILE}", _REMEDY)
    stamps = tuple((folder / file).stat().st_mtime_ns for file in (FILE, WEIGHTS_FILE))
    return _open_folder(folder, stamps)


@cache
def _open_folder(folder: Path, stamps: tuple[int, ...]) -> RuberModel:
    config, weights = read_ruber_config(folder), read_weights(folder)
    encoder = need(load_model(config.model), Embedder)
    if encoder.width != (width := len(weights["story.mean"])):
        problem = f"{folder} was trained on vectors of {width} numbers, not {encoder.width}"
        raise InputError(problem, "train it again with fabula train ruber")
    digest = hashlib.sha256((folder / FILE).read_bytes() + (folder / WEIGHTS_FILE).read_bytes())
    return RuberModel(config, weights, encoder, digest.hexdigest()[:12])


@cache
def _fake() -> RuberModel:
    encoder = need(load_model("fake()"), Embedder)
    width, rng = encoder.width, np.random.default_rng(0)
    weights = {
        **{f"{side}.mean": np.zeros(width) for side in ("prompt", "story")},
        **{f"{side}.deviation": np.ones(width) for side in ("prompt", "story")},
        "between": rng.normal(size=(width, width)),
        "inner.prompt": rng.normal(size=(width, _FAKE_HIDDEN)),
        "inner.story": rng.normal(size=(width, _FAKE_HIDDEN)),
        "inner.between": rng.normal(size=_FAKE_HIDDEN),
        "inner.bias": np.zeros(_FAKE_HIDDEN),
        "outer.weight": rng.normal(size=(_FAKE_HIDDEN, 2)),
        "outer.bias": np.zeros(2),
    }
    config = RuberConfig("fake()", 1, "max", Bounds(0.0, 1.0), Bounds(-1.0, 1.0))
    return RuberModel(config, weights, encoder, FAKE)
