"""A BERT encoder with its masked-language head, as plain functions of named weights.

The names are those of `BertForMaskedLM` in transformers, so that both read the same file. The
head's last layer is the table of word embeddings itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import InputError
from fabula.core.plain import from_plain, read_json, read_tensors
from fabula.models.reading.windows import Frame

if TYPE_CHECKING:
    from torch import Tensor

    Weights = Mapping[str, Tensor]

WORD_EMBEDDINGS = "bert.embeddings.word_embeddings.weight"
_HEAD = "cls.predictions"
_REMEDY = "name MiniLM's folder, or get it again"
_MOST_LAYERS = 1000
_UNUSED = ("position_ids", "pooler.", "seq_relationship", "predictions.decoder")
_LAYER = re.compile(r"bert\.encoder\.layer\.(\d+)\.")


@dataclass(frozen=True)
class Shape:
    """Sizes of an encoder, under their names in config.json."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12


def read_shape(folder: Path) -> Shape:
    """Read config.json of a folder."""
    file = folder / "config.json"
    settings = read_json(file, remedy=_REMEDY)
    known = settings if isinstance(settings, dict) else {}
    plain = {name: known[name] for name in Shape.__dataclass_fields__ if name in known}
    shape = from_plain(Shape, plain, str(file), error=InputError, remedy=_REMEDY)
    sizes = [value for value in asdict(shape).values() if isinstance(value, int)]
    if min(sizes) < 1 or shape.num_hidden_layers > _MOST_LAYERS:
        raise InputError(f"{file}: sizes of no encoder", _REMEDY)
    if shape.hidden_size % shape.num_attention_heads:
        raise InputError(f"{file}: num_attention_heads must divide hidden_size", _REMEDY)
    return shape


def new_weights(shape: Shape, seed: int) -> dict[str, Tensor]:
    """Draw weights at random: normal with deviation .02; norms do nothing, biases are 0."""
    import torch

    draw = torch.Generator().manual_seed(seed)
    shapes = {}
    for name, size in weight_sizes(shape).items():
        if name.endswith("LayerNorm.weight"):
            shapes[name] = torch.ones(size)
        elif name.endswith("bias"):
            shapes[name] = torch.zeros(size)
        else:
            shapes[name] = torch.randn(size, generator=draw) * 0.02
    return shapes


def weight_sizes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Names and sizes of all weights."""
    wide, inner = shape.hidden_size, shape.intermediate_size
    tables = {
        WORD_EMBEDDINGS: shape.vocab_size,
        "bert.embeddings.position_embeddings.weight": shape.max_position_embeddings,
        "bert.embeddings.token_type_embeddings.weight": shape.type_vocab_size,
    }
    sizes: dict[str, tuple[int, ...]] = {name: (rows, wide) for name, rows in tables.items()}
    norms, maps = ["bert.embeddings.LayerNorm"], {f"{_HEAD}.transform.dense": (wide, wide)}
    for number in range(shape.num_hidden_layers):
        layer = f"bert.encoder.layer.{number}"
        maps |= {
            f"{layer}.attention.self.{part}": (wide, wide) for part in ("query", "key", "value")
        }
        maps[f"{layer}.attention.output.dense"] = (wide, wide)
        maps[f"{layer}.intermediate.dense"] = (inner, wide)
        maps[f"{layer}.output.dense"] = (wide, inner)
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name, size in maps.items():
        sizes |= {f"{name}.weight": size, f"{name}.bias": size[:1]}
    for name in [*norms, f"{_HEAD}.transform.LayerNorm"]:
        sizes |= {f"{name}.weight": (wide,), f"{name}.bias": (wide,)}
    return sizes | {f"{_HEAD}.bias": (shape.vocab_size,)}


def load_weights(folder: Path, shape: Shape, *, seed: int) -> dict[str, Tensor]:
    """Read an encoder's weights in single precision; a head that is not there is drawn."""
    file = folder / "model.safetensors"
    if not file.is_file():
        raise InputError(f"{file} is not there", "run: fabula models pull minilm")
    sizes, found = weight_sizes(shape), {}
    for name, value in read_tensors(file, remedy=_REMEDY).items():
        if not any(part in name for part in _UNUSED):
            found[name if name.startswith(("bert.", "cls.")) else f"bert.{name}"] = value.float()
    missing = sorted(name for name in sizes.keys() - found.keys() if _HEAD not in name)
    wrong = sorted(name for name, w in found.items() if tuple(w.shape) != sizes.get(name))
    if missing or wrong:
        raise InputError(f"{file} is another kind of model: {(missing + wrong)[0]}", "name a BERT")
    # Drawn last: only now is it known that the sizes are those of the file.
    return new_weights(shape, seed) | found


def encode(
    weights: Weights,
    ids: Tensor,
    positions: Tensor,
    segments: Tensor,
    *,
    shape: Shape,
    dropout: float = 0.0,
    kinds: Tensor | None = None,
) -> Tensor:
    """Give a vector for every token; a token sees those of its own segment alone.

    All tokens are of the first kind, unless `kinds` says otherwise.
    """
    import torch
    from torch.nn import functional

    table = "bert.embeddings"
    x = functional.embedding(ids, weights[WORD_EMBEDDINGS])  # (B, T, H)
    x = x + functional.embedding(positions, weights[f"{table}.position_embeddings.weight"])
    types = weights[f"{table}.token_type_embeddings.weight"]
    x = x + (types[0] if kinds is None else functional.embedding(kinds, types))
    x = _norm(weights, f"{table}.LayerNorm", x, shape)
    x = functional.dropout(x, dropout, dropout > 0)
    same = segments[:, None, :, None] == segments[:, None, None, :]
    sees = torch.zeros_like(same, dtype=x.dtype).masked_fill(~same, -torch.inf)  # (B, 1, T, T)
    for number in range(shape.num_hidden_layers):
        layer = f"bert.encoder.layer.{number}"
        seen = _attend(weights, f"{layer}.attention", x, sees=sees, shape=shape, dropout=dropout)
        x = _norm(weights, f"{layer}.attention.output.LayerNorm", x + seen, shape)
        inner = functional.gelu(_map(weights, f"{layer}.intermediate.dense", x))
        new = functional.dropout(
            _map(weights, f"{layer}.output.dense", inner), dropout, dropout > 0
        )
        x = _norm(weights, f"{layer}.output.LayerNorm", x + new, shape)
    return x


@dataclass(frozen=True)
class BertBody:
    """A BERT as readers are trained on it: its embeddings stay, its layers learn."""

    shape: Shape
    frame: Frame

    @property
    def width(self) -> int:
        """Numbers in a token's state."""
        return self.shape.hidden_size

    @property
    def layers(self) -> int:
        """How many layers may learn."""
        return self.shape.num_hidden_layers

    @property
    def reads_forward(self) -> bool:
        """A token sees all others."""
        return False

    def find_layer(self, name: str) -> int | None:
        """Give the number of the layer that a weight is of, if it is of one."""
        match = _LAYER.match(name)
        return int(match[1]) if match else None

    def encode(self, weights: Weights, tokens: Mapping[str, Tensor], *, dropout: float) -> Tensor:
        """Give a vector for every token of rows in which windows stand side by side."""
        return encode(
            weights, tokens["ids"], tokens["positions"], tokens["segments"],
            shape=self.shape, dropout=dropout, kinds=tokens["kinds"],
        )  # fmt: skip


def guess(weights: Weights, states: Tensor, shape: Shape) -> Tensor:
    """Give a logit for every word piece at every state."""
    from torch.nn import functional

    x = functional.gelu(_map(weights, f"{_HEAD}.transform.dense", states))
    x = _norm(weights, f"{_HEAD}.transform.LayerNorm", x, shape)
    return functional.linear(x, weights[WORD_EMBEDDINGS], weights[f"{_HEAD}.bias"])


def _attend(
    weights: Weights, name: str, x: Tensor, *, sees: Tensor, shape: Shape, dropout: float
) -> Tensor:
    from torch.nn import functional

    def heads(one: str) -> Tensor:  # (B, A, T, H / A)
        y = _map(weights, f"{name}.self.{one}", x)
        return y.view(*y.shape[:2], shape.num_attention_heads, -1).transpose(1, 2)

    y = functional.scaled_dot_product_attention(
        heads("query"), heads("key"), heads("value"), attn_mask=sees, dropout_p=dropout
    )
    y = _map(weights, f"{name}.output.dense", y.transpose(1, 2).flatten(-2))
    return functional.dropout(y, dropout, dropout > 0)


def _map(weights: Weights, name: str, x: Tensor) -> Tensor:
    from torch.nn import functional

    return functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _norm(weights: Weights, name: str, x: Tensor, shape: Shape) -> Tensor:
    from torch.nn import functional

    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return functional.layer_norm(x, weight.shape, weight, bias, shape.layer_norm_eps)


def config_of(shape: Shape, **others: Any) -> dict[str, Any]:
    """Give config.json of the trained model."""
    return {
        "architectures": ["BertForMaskedLM"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "pad_token_id": 0,
        "position_embedding_type": "absolute",
        "tie_word_embeddings": True,
        **vars(shape),
        **others,
    }
