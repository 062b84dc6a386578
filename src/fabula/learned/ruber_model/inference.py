"""RUBER at hand: the network of a training and the frozen encoder it sits on, loaded once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from fabula.core.errors import InputError
from fabula.core.model import Embedder, Truncating
from fabula.learned.reader.inference import find_folder
from fabula.learned.ruber_model.network import (
    FILE,
    WEIGHTS_FILE,
    Array,
    Bounds,
    RuberConfig,
    Weights,
    pool_texts,
    probabilities,
    read_ruber_config,
    read_weights,
)
from fabula.models import load_model, need
from fabula.models.reading.state_cache import LruCache, text_key

FAKE = "fake"
# The release reads so many tokens of a text, those that the model adds counted.
COMPAT_TOKENS = 500
_CACHED_TEXTS = 4096
_FAKE_HIDDEN = 8


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
        remedy = "run: fabula train ruber --data FOLDER --out DIR"
        raise InputError(f"{folder} holds no RUBER: it has no {FILE}", remedy)
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
