"""A BERT encoder read without padding: the tokens of a batch are the rows of one matrix.

Devlin et al. (2019), as `BertModel` of transformers computes it for inference; only the layers
asked for are kept. Attention runs over runs of texts of equal length, so nothing is padded.

In 8 bits a row is whole numbers from -127 to 127 times a step of its own, and so is every column of
a matrix; the products are summed exactly. As each row has its own step, what a text gives does not
depend on the texts that are read beside it, as it would with one step for a whole batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from fabula.core.errors import InputError, SettingError
from fabula.core.plain import read_json, read_tensors
from fabula.models._runtime import own_device, package, require_precision

if TYPE_CHECKING:
    from torch import Tensor


Dtype = Literal["fp32", "bf16", "int8"]
_GELUS = {"gelu": "none", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh"}
_SELVES = tuple(f"attention.self.{part}" for part in ("query", "key", "value"))
_JOINED = "attention.output"
_MATRICES = ("attention", "joined", "inner", "outer")
_MOST = 10_000  # layers, or heads
# A GPU is not filled by what fits into the cache of a core.
_GPU_TIMES = 32
_REMEDY = "get it again: the file may have been cut off"
_LARGEST = 127
_LEAST_STEP = 1e-12  # of a row of zeros


class LinearMap(Protocol):
    """A matrix and a bias, however they are kept."""

    def __call__(self, rows: Tensor) -> Tensor:
        """Multiply, and add the bias."""

    def onto(self, rows: Tensor, inputs: Tensor) -> Tensor:
        """Add the result for `inputs` to rows that are not needed afterwards."""


@dataclass(frozen=True)
class Linear:
    """A matrix (inputs × outputs) and a bias."""

    weight: Tensor
    bias: Tensor

    def __call__(self, rows: Tensor) -> Tensor:
        """Multiply, and add the bias."""
        import torch

        return torch.addmm(self.bias, rows, self.weight)

    def onto(self, rows: Tensor, inputs: Tensor) -> Tensor:
        """Add the result for `inputs` to rows that are not needed afterwards."""
        return rows.add_(self.bias).addmm_(inputs, self.weight)


@dataclass(frozen=True)
class Int8Linear:
    """A matrix (inputs × outputs) in 8 bits, the step of each of its columns, and a bias."""

    weight: Tensor
    steps: Tensor
    bias: Tensor

    def __call__(self, rows: Tensor) -> Tensor:
        """Multiply, and add the bias."""
        import torch

        # A norm of torch takes ten times as long.
        largest = rows.abs().amax(1, keepdim=True)  # (T, 1)
        steps = largest.div_(_LARGEST).clamp_min_(_LEAST_STEP)
        sums = torch._int_mm((rows / steps).round_().char(), self.weight)  # (T, O), 32 bits
        return torch.addcmul(self.bias, sums * steps, self.steps)

    def onto(self, rows: Tensor, inputs: Tensor) -> Tensor:
        """Add the result for `inputs` to rows that are not needed afterwards."""
        return rows.add_(self(inputs))


@dataclass(frozen=True)
class Norm:
    """Scale and shift after a layer's rows are given mean 0 and variance 1."""

    weight: Tensor
    bias: Tensor
    eps: float

    def __call__(self, rows: Tensor) -> Tensor:
        """Normalise every row."""
        from torch.nn.functional import layer_norm

        return layer_norm(rows, self.weight.shape, self.weight, self.bias, self.eps)


@dataclass(frozen=True)
class Layer:
    """One layer: attention, then two matrices with a GELU between them."""

    attention: LinearMap  # (H, 3H): queries, keys and values in one product
    joined: LinearMap  # (H, H)
    norm: Norm
    inner: LinearMap  # (H, I)
    outer: LinearMap  # (I, H)
    last_norm: Norm
    heads: int
    gelu: str

    def __call__(self, rows: Tensor, lengths: Sequence[int]) -> Tensor:
        """Give the layer's rows; those handed in are used up."""
        import torch

        mixed = self._attend(self.attention(rows), lengths)  # (T, H)
        rows = self.norm(self.joined.onto(rows, mixed))
        inner = torch.ops.aten.gelu_(self.inner(rows), approximate=self.gelu)  # (T, I)
        return self.last_norm(self.outer.onto(rows, inner))

    def _attend(self, rows: Tensor, lengths: Sequence[int]) -> Tensor:
        """Mix the values of each text by its queries and keys, texts of equal length at once."""
        from torch.nn.functional import scaled_dot_product_attention

        width = rows.shape[1] // 3
        mixed = rows.new_empty(len(rows), width)
        shape = (self.heads, width // self.heads)
        start = 0
        for length, run in groupby(lengths):
            stop = start + length * len(list(run))
            part = rows[start:stop].view(-1, length, 3, *shape).permute(2, 0, 3, 1, 4)
            queries, keys, values = part.unbind()  # (B, heads, L, H / heads) each
            attended = scaled_dot_product_attention(queries, keys, values)
            mixed[start:stop].view(-1, length, *shape).copy_(attended.transpose(1, 2))
            start = stop
        return mixed


@dataclass(frozen=True)
class Bert:
    """The encoder: tables of words, of places and of kinds of tokens, and layers."""

    words: Tensor
    places: Tensor  # with the vector of the first kind added
    kinds: Tensor  # as differences from the first kind
    norm: Norm
    stack: tuple[Layer, ...]

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.words.shape[1])

    @property
    def longest(self) -> int:
        """Tokens it reads at once, those it adds included."""
        return len(self.places)

    def __call__(
        self,
        texts: Sequence[Sequence[int]],
        layers: Sequence[int],
        *,
        kinds: Sequence[Sequence[int]] | None = None,
    ) -> list[Tensor]:
        """Give the rows of all tokens, text after text, at each of the layers.

        Layer 0 is the embedding of the words. Texts of equal length should be neighbours. Tokens
        are of the first kind unless `kinds` has another for each.
        """
        import torch

        lengths, there = [len(ids) for ids in texts], self.placed
        device = there.words.device
        with torch.inference_mode():
            ids = torch.tensor([number for ids in texts for number in ids], device=device)
            spots = torch.cat([torch.arange(length) for length in lengths]).to(device)
            rows = there.words[ids].add_(there.places[spots])  # (T, H)
            if kinds is not None:
                second = torch.tensor([kind for row in kinds for kind in row], device=device)
                rows.add_(there.kinds[second])
            rows = there.norm(rows)
            states = {0: rows.clone()} if 0 in layers else {}
            for number, layer in enumerate(there.stack[: max(layers)], 1):
                rows = layer(rows, lengths)
                if number in layers:
                    states[number] = rows.clone() if number < max(layers) else rows
            return [states[number].cpu() for number in layers]

    @cached_property
    def placed(self) -> Bert:
        """Itself on the device that `FABULA_DEVICE` names; on the processor it stays as it is."""
        device = own_device()
        return self if device == "cpu" else _move(self, device)

    def fit_batch(self, tokens: int) -> int:
        """Give the tokens to read at once: so many, or as many more as a GPU wants."""
        return tokens if self.placed is self else tokens * _GPU_TIMES

    def layer_tensors(self) -> dict[str, Tensor]:
        """Give the weights of all layers by their names in transformers, without copying any."""
        tensors: dict[str, Tensor] = {}
        for number, layer in enumerate(self.stack):
            tensors |= {f"encoder.layer.{number}.{k}": v for k, v in _parts(layer).items()}
        return tensors

    def with_layers(self, tensors: Mapping[str, Tensor]) -> Bert:
        """Give an encoder with other layers of the same sizes on the very same embeddings."""
        stack = tuple(
            _layer(
                tensors,
                f"encoder.layer.{number}",
                heads=layer.heads,
                gelu=layer.gelu,
                eps=layer.norm.eps,
            )
            for number, layer in enumerate(self.stack)
        )
        return replace(self, stack=stack)

    def to_int8(self) -> Bert:
        """Give one whose layers multiply in 8 bits; tables, attention and norms stay."""
        require_int8()
        stack = []
        for layer in self.stack:
            matrices: dict[str, Any] = {name: quantise(getattr(layer, name)) for name in _MATRICES}
            stack.append(replace(layer, **matrices))
        return replace(self, stack=tuple(stack))


def _move(part: Any, device: str) -> Any:
    """Give a part of an encoder with all its tensors on a device."""
    if isinstance(part, tuple):
        return tuple(_move(inner, device) for inner in part)
    if is_dataclass(part) and not isinstance(part, type):
        moved = {one.name: _move(getattr(part, one.name), device) for one in fields(part)}
        return type(part)(**moved)
    return part.to(device) if hasattr(part, "to") else part


def load_bert(folder: Path, *, dtype: Dtype = "fp32") -> Bert:
    """Read `config.json` and `model.safetensors` of a folder."""
    torch, _ = package("torch"), package("safetensors")
    if dtype == "int8":
        require_int8()
    else:
        require_precision(dtype)
    config = _read_config(folder)
    stored = read_tensors(folder / "model.safetensors", remedy=_REMEDY)
    kind = torch.bfloat16 if dtype == "bf16" else torch.float32
    tensors = {name.removeprefix("bert."): tensor.to(kind) for name, tensor in stored.items()}
    try:
        bert = _assemble(tensors, config)
        # A reading of one token: matrices that do not go together are found here.
        bert([[0]], [len(bert.stack)], kinds=[[0]])
    except KeyError as error:
        raise InputError(f"{folder} is no BERT encoder: it has no {error}", _REMEDY) from error
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        problem = f"{folder} is no BERT encoder: its weights do not go together ({error})"
        raise InputError(problem[:400], _REMEDY) from error
    return bert.to_int8() if dtype == "int8" else bert


def _read_config(folder: Path) -> dict[str, Any]:
    file = folder / "config.json"
    config: dict[str, Any] = read_json(file, remedy=_REMEDY)
    wanted = {
        "model_type": ("bert",),
        "hidden_act": tuple(_GELUS),
        "position_embedding_type": ("absolute",),
    }
    if not isinstance(config, dict):
        raise InputError(f"{file} is no object", _REMEDY)
    for name, known in wanted.items():
        if config.get(name, known[0]) not in known:
            raise InputError(
                f"{folder} is no BERT encoder that can be read: {name} is {config[name]!r}",
                "load it with huggingface(…)",
            )
    for name in ("num_attention_heads", "num_hidden_layers", "layer_norm_eps"):
        value = config.get(name)
        if not isinstance(value, int | float) or not 0 < value < _MOST:
            raise InputError(f"{file}: {name} will not do ({value!r})", _REMEDY)
    return config


def _assemble(tensors: dict[str, Tensor], config: dict[str, Any]) -> Bert:
    eps = float(config["layer_norm_eps"])
    heads, gelu = int(config["num_attention_heads"]), _GELUS[config.get("hidden_act", "gelu")]
    # Most tokens are of the first kind, so its vector is added to the places once and for all.
    kinds = tensors["embeddings.token_type_embeddings.weight"]
    return Bert(
        words=tensors["embeddings.word_embeddings.weight"],
        places=tensors["embeddings.position_embeddings.weight"] + kinds[0],
        kinds=kinds - kinds[0],
        norm=_norm(tensors, "embeddings.LayerNorm", eps),
        stack=tuple(
            _layer(tensors, f"encoder.layer.{number}", heads=heads, gelu=gelu, eps=eps)
            for number in range(int(config["num_hidden_layers"]))
        ),
    )


def _layer(tensors: Mapping[str, Tensor], name: str, *, heads: int, gelu: str, eps: float) -> Layer:
    return Layer(
        attention=_linear(tensors, *(f"{name}.{part}" for part in _SELVES)),
        joined=_linear(tensors, f"{name}.{_JOINED}.dense"),
        norm=_norm(tensors, f"{name}.{_JOINED}.LayerNorm", eps),
        inner=_linear(tensors, f"{name}.intermediate.dense"),
        outer=_linear(tensors, f"{name}.output.dense"),
        last_norm=_norm(tensors, f"{name}.output.LayerNorm", eps),
        heads=heads,
        gelu=gelu,
    )


def _parts(layer: Layer) -> dict[str, Tensor]:
    """Weights of one layer by name: what `_layer` was given; in 8 bits they are gone."""
    whole, joined, inner, outer = (getattr(layer, name) for name in _MATRICES)
    maps = {f"{_JOINED}.dense": joined, "intermediate.dense": inner, "output.dense": outer}
    named: dict[str, Linear | Norm] = {
        name: Linear(linear.weight.t(), linear.bias) for name, linear in maps.items()
    }
    queries = whole.weight.t().chunk(3), whole.bias.chunk(3)
    named |= {name: Linear(*both) for name, *both in zip(_SELVES, *queries, strict=True)}
    named |= {f"{_JOINED}.LayerNorm": layer.norm, "output.LayerNorm": layer.last_norm}
    weights = {f"{name}.weight": part.weight for name, part in named.items()}
    return weights | {f"{name}.bias": part.bias for name, part in named.items()}


def _linear(tensors: Mapping[str, Tensor], *names: str) -> Linear:
    """One matrix of several that are applied to the same rows."""
    import torch

    weight = torch.cat([tensors[f"{name}.weight"] for name in names])  # (outputs, inputs)
    return Linear(weight.t(), torch.cat([tensors[f"{name}.bias"] for name in names]))


def _norm(tensors: Mapping[str, Tensor], name: str, eps: float) -> Norm:
    return Norm(tensors[f"{name}.weight"], tensors[f"{name}.bias"], eps)


def quantise(linear: Linear) -> Int8Linear:
    """Give a matrix in 8 bits: each column by its largest number."""
    weight = linear.weight.float()
    steps = (weight.abs().amax(0) / _LARGEST).clamp_min(_LEAST_STEP)  # (outputs,)
    packed = (weight / steps).round_().char().contiguous()
    return Int8Linear(packed, steps, linear.bias.float())


def require_int8() -> None:
    """Refuse 8 bits on a GPU, and on a processor that cannot multiply in them."""
    if own_device() != "cpu":
        problem = f"dtype='int8' is for processors, and FABULA_DEVICE is {own_device()}"
        raise SettingError(problem, "leave one of the two out")
    require_precision("int8")
