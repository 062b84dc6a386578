"""RUBER's network: does this story answer that prompt?  And the folder that holds its weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fabula.core.errors import InputError, PackageMissing
from fabula.core.files import write_json
from fabula.core.model import Embedder, TokenStates
from fabula.core.plain import from_plain, read_json

Array = np.ndarray[Any, np.dtype[Any]]
Pooling = Literal["max", "mean"]
Weights = Mapping[str, Any]

FILE = "ruber.json"
WEIGHTS_FILE = "model.safetensors"
FORMAT = 1
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


def cosine(one: Array, other: Array) -> float:
    """Cosine of two vectors; NaN where one of them is, 0 where one has no direction."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.clip(one @ other / lengths, -1.0, 1.0)) if lengths != 0 else 0.0


def read_ruber_config(folder: Path) -> RuberConfig:
    """Read `ruber.json` of a folder; a field that will not do is named."""
    file = folder / FILE
    if not file.exists():
        raise InputError(f"{folder} holds no RUBER: it has no {FILE}", _REMEDY)
    return from_plain(RuberConfig, read_json(file), str(file), error=InputError, remedy=_REMEDY)


def write_ruber_config(folder: Path, config: RuberConfig) -> None:
    """Write `ruber.json`, whole or not at all."""
    write_json(folder / FILE, asdict(config))


def read_weights(folder: Path) -> dict[str, Array]:
    """Read the network's weights, in full precision from here on."""
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError:
        raise PackageMissing("safetensors", "models") from None
    try:
        tensors = load_file(folder / WEIGHTS_FILE)
    except (OSError, SafetensorError) as error:
        problem = f"{folder / WEIGHTS_FILE} cannot be read ({error})"
        raise InputError(problem, _REMEDY) from None
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
