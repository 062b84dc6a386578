"""Layers and heads on top of an encoder: texts, or pairs of them, in; outputs of heads out.

The weights are one small file, which says how the layers differ from the encoder's, in 8 bits. A
matrix of the layers is `<name>.delta` (int8, outputs × inputs) and `<name>.step` (a number a row):
the encoder's matrix + delta · step. Over a large encoder a difference is of low rank: `<name>.left`
(outputs × rank) and `<name>.right` (rank × inputs), in half precision, as is all else that the
encoder has not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fabula.core.errors import InputError
from fabula.core.files import write_bytes
from fabula.core.model import TokenCount
from fabula.core.plain import read_json, read_tensors
from fabula.learned.reader.config import FILE as CONFIG
from fabula.learned.reader.config import REMEDY, Head, Pin, ReaderConfig
from fabula.models import get_asset
from fabula.models.networks.adapter import CONFIG as ADAPTER_CONFIG
from fabula.models.reading.windows import cut_evenly

if TYPE_CHECKING:
    from torch import Tensor

    from fabula.core.model import Array

    Outputs = Mapping[str, Array]
    Tensors = Mapping[str, Tensor]
    Ids = Sequence[int]

FILE = "model.safetensors"
PAIR_TOKENS = 120
# What is cut into tokens at once: enough to find windows of about one length.
CHUNK_TOKENS = 65_536
CHUNK_PAIRS = 1024
_MOST = 127  # the largest difference in 8 bits
_PLAIN = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}


class PooledEncoder(Protocol):
    """What readers sit on: a vector for a window of tokens, or for a pair of texts."""

    @property
    def width(self) -> int:
        """Numbers in a vector."""

    @property
    def room(self) -> int:
        """Tokens of a text that are read at once."""

    @property
    def pair_room(self) -> int:
        """Tokens that are read of either text of a pair."""

    @property
    def unknown(self) -> int | None:
        """The number of the sign for what is not in the vocabulary."""

    def ids(self, text: str) -> list[int]:
        """Give the numbers of a text's tokens."""

    def pool(self, texts: Sequence[Ids]) -> Tensor:
        """Give a vector for every window: (windows, width)."""

    def pool_pairs(self, pairs: Sequence[tuple[Ids, Ids]]) -> Tensor:
        """Give a vector for every pair: (pairs, width)."""

    def layer_tensors(self) -> dict[str, Tensor]:
        """Give the weights that a training's differences are added to, by name."""

    def with_layers(self, tensors: Tensors) -> PooledEncoder:
        """Give one with other weights of the same names."""


@dataclass(frozen=True)
class HeadLayers:
    """The matrices of a head, with a tanh between two."""

    maps: tuple[tuple[Tensor, Tensor], ...]

    def __call__(self, vectors: Tensor) -> Tensor:
        """Give the outputs for every vector: (windows, outputs)."""
        from torch.nn.functional import linear

        *inner, outer = self.maps
        for weight, bias in inner:
            vectors = linear(vectors, weight, bias).tanh()
        return linear(vectors, *outer)


@dataclass(frozen=True)
class ReaderNetwork:
    """An encoder with the layers of a training, and the heads on it."""

    encoder: PooledEncoder = field(repr=False)
    heads: Mapping[str, HeadLayers] = field(repr=False)
    window: int
    overlap: bool = False

    @property
    def pair_room(self) -> int:
        """Tokens that are read of either text of a pair."""
        return min(PAIR_TOKENS, self.encoder.pair_room)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of every text."""
        return [len(self.encoder.ids(text)) for text in texts]

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and those that are not in the vocabulary."""
        return count_unknown(self.encoder, texts)

    def window_outputs(self, texts: Sequence[str]) -> Iterator[Outputs]:
        """Give for every text, in order, what each head says of its windows: (windows, outputs)."""
        chunk: list[list[int]] = []
        size = 0
        for text in texts:
            ids = self.encoder.ids(text)
            if chunk and size + len(ids) > CHUNK_TOKENS:
                yield from self.piece_outputs(chunk)
                chunk, size = [], 0
            chunk.append(ids)
            size += len(ids)
        yield from self.piece_outputs(chunk)

    def pair_outputs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Outputs]:
        """Give for every pair, in order, what each head says of it: (outputs,)."""
        room = self.pair_room
        for start in range(0, len(pairs), CHUNK_PAIRS):
            cut = [
                (self.encoder.ids(first)[:room], self.encoder.ids(second)[:room])
                for first, second in pairs[start : start + CHUNK_PAIRS]
            ]
            outputs = self._ask_heads(self.encoder.pool_pairs(cut))
            for at in range(len(cut)):
                yield {name: rows[at] for name, rows in outputs.items()}

    def piece_outputs(self, texts: Sequence[Sequence[int]]) -> Iterator[Outputs]:
        """Give for every text of tokens what each head says of its windows: (windows, outputs)."""
        places = [cut_evenly(len(ids), self.window, overlap=self.overlap) for ids in texts]
        cut = [
            ids[window.start : window.stop]
            for ids, windows in zip(texts, places, strict=True)
            for window in windows
        ]
        outputs = self._ask_heads(self.encoder.pool(cut))
        ends = accumulate(map(len, places), initial=0)
        for start, stop in pairwise(ends):
            yield {name: rows[start:stop] for name, rows in outputs.items()}

    def _ask_heads(self, vectors: Tensor) -> dict[str, Array]:
        import torch

        with torch.inference_mode():
            return {name: head(vectors).double().numpy() for name, head in self.heads.items()}


def count_unknown(encoder: PooledEncoder, texts: Sequence[str]) -> list[TokenCount]:
    """Count the tokens of every text and those that are not in an encoder's vocabulary."""
    rows = [encoder.ids(text) for text in texts]
    return [TokenCount(len(ids), sum(one == encoder.unknown for one in ids)) for ids in rows]


def open_network(folder: Path, config: ReaderConfig, encoder: PooledEncoder) -> ReaderNetwork:
    """Read the weights of a reader's folder and put them on its encoder."""
    if config.window > encoder.room:
        problem = f"{folder}: its windows of {config.window} tokens are too long for the encoder"
        raise InputError(problem, f"the longest are {encoder.room}")
    file, own = folder / FILE, encoder.layer_tensors()
    tensors = load_packed(file, own)
    heads = {
        name: read_head(file, name, head, tensors, encoder.width)
        for name, head in config.heads.items()
    }
    known = own.keys() | {name for name in tensors if name.startswith("head.")}
    if unknown := sorted(tensors.keys() - known):
        raise InputError(f"{file} holds {unknown[0]}, which the encoder has not", REMEDY)
    return ReaderNetwork(encoder.with_layers(tensors), heads, config.window, config.overlap)


def check_encoder(folder: Path, pin: Pin) -> None:
    """Refuse weights that were trained on another version of the encoder than is pinned here."""
    pinned = get_asset(pin.name).tree_sha256
    if pin.tree_sha256 != pinned:
        raise InputError(
            f"{folder} was trained on another {pin.name} "
            f"({pin.tree_sha256[:12]}) than this Fabula has ({pinned[:12]})",
            "train it again, or take the Fabula that it was made for",
        )


def holds_reader(folder: Path) -> bool:
    """Whether a folder holds a reader, and no encoder by itself."""
    return (folder / CONFIG).is_file()


def is_plain_bert(folder: Path) -> bool:
    """Whether our own network reads a folder's encoder; others are read by transformers."""
    if (folder / ADAPTER_CONFIG).is_file() or holds_reader(folder):
        return False
    if not (folder / "config.json").is_file():
        return True  # what is amiss is said where it is read
    config = read_json(folder / "config.json", remedy=REMEDY)
    said = config if isinstance(config, dict) else {}
    is_alike = all(said.get(name, usual) == usual for name, usual in _PLAIN.items())
    # Weights in several files, or pickled ones, are transformers' to read or to refuse.
    others = any(any(folder.glob(name)) for name in ("*.safetensors.index.json", "*.bin"))
    return is_alike and ((folder / "model.safetensors").is_file() or not others)


def read_head(
    file: Path, name: str, head: Head, tensors: Mapping[str, Tensor], width: int
) -> HeadLayers:
    """Give the matrices of a head on vectors of that width; those that are not there are named."""
    count, inside = len(head.outputs), head.hidden
    sizes = (
        {"": (count, width)}
        if not inside
        else {".inner": (inside, width), ".outer": (count, inside)}
    )
    maps = []
    for part, size in sizes.items():
        both = [f"head.{name}{part}.weight", f"head.{name}{part}.bias"]
        for tensor, shape in zip(both, (size, size[:1]), strict=True):
            if tensor not in tensors or tensors[tensor].shape != shape:
                problem = f"{file} holds no {tensor} of {' × '.join(map(str, shape))}"
                raise InputError(problem, REMEDY)
        maps.append((tensors[both[0]], tensors[both[1]]))
    return HeadLayers(tuple(maps))


def save_packed(path: Path, weights: Tensors, encoder_weights: Tensors, *, rank: int = 0) -> None:
    """Write weights, whole or not at all; what is as the encoder has it is left out.

    Names are those of transformers, with or without `bert.` or `body.`; heads begin with `head.`.
    With a rank, matrices keep as much of their difference as that many columns hold.
    """
    from safetensors.torch import save

    own = _strip_prefix(encoder_weights)
    tensors: dict[str, Tensor] = {}
    for name, weight in _strip_prefix(weights).items():
        tensors |= _pack(name, weight.detach().cpu().float(), own.get(name), rank)
    # Not by save_file, which lets nobody else read the file.
    write_bytes(path, save(tensors, metadata={"format": "pt"}))


def load_packed(path: Path, encoder_weights: Tensors) -> dict[str, Tensor]:
    """Read weights in single precision: the encoder's own, where the file has no others."""
    own = _strip_prefix(encoder_weights)
    weights = {name: weight.float() for name, weight in own.items()}
    stored = read_tensors(path, remedy=REMEDY)
    for name, tensor in stored.items():
        if name.endswith(".delta"):
            plain = name.removesuffix(".delta")
            weights[plain] = _unpack(path, plain, stored, own)
        elif name.endswith(".left"):
            plain = name.removesuffix(".left")
            weights[plain] = _multiply(path, plain, stored, own)
        elif not name.endswith((".step", ".right")):
            _check_size(path, name, tensor, own.get(name, tensor))
            weights[name] = tensor.float()
    return weights


def _pack(name: str, weight: Tensor, own: Tensor | None, rank: int) -> dict[str, Tensor]:
    if not weight.isfinite().all():
        raise InputError(f"the weights {name} are not all numbers", "train with a lower rate")
    if own is None:
        return {name: weight.half().contiguous()}
    start = own.detach().cpu().float()
    if weight.equal(start):
        return {}
    if rank and weight.ndim == 2 and min(weight.shape) > 2 * rank:
        left, right = factorise(weight - start, rank)
        return {f"{name}.left": left.half(), f"{name}.right": right.half()}
    # The encoder is on disk in half precision, and what is read there is what is added to.
    difference = weight - start.half().float()
    if not difference.any():
        return {}
    if weight.ndim < 2 or not name.startswith("encoder.layer."):
        return {name: weight.half().contiguous()}
    step = difference.abs().amax(1) / _MOST  # (outputs,)
    scaled = difference / step.where(step > 0, step.new_ones(()))[:, None]
    delta = scaled.round().clamp(-_MOST, _MOST).char()
    return {f"{name}.delta": delta.contiguous(), f"{name}.step": step}


def factorise(difference: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """Give two thin matrices whose product is the nearest of that rank: (out, rank), (rank, in)."""
    import torch

    left, sizes, right = torch.linalg.svd(difference, full_matrices=False)
    roots = sizes[:rank].sqrt()
    return (left[:, :rank] * roots).contiguous(), (roots[:, None] * right[:rank]).contiguous()


def _multiply(path: Path, name: str, stored: Tensors, own: Tensors) -> Tensor:
    left, right = stored[f"{name}.left"].float(), stored.get(f"{name}.right")
    if name not in own or right is None or left.shape[1:] != right.shape[:1]:
        why = "which the encoder has not" if right is not None else "and not both sides"
        raise InputError(f"{path} holds differences of {name}, {why}", REMEDY)
    difference = left @ right.float()
    _check_size(path, name, difference, own[name])
    return own[name].float() + difference.to(own[name].device)


def _unpack(path: Path, name: str, stored: Tensors, own: Tensors) -> Tensor:
    delta, step = stored[f"{name}.delta"], stored.get(f"{name}.step")
    if name not in own or step is None or step.shape != delta.shape[:1]:
        why = "which the encoder has not" if step is not None else "and not their steps"
        raise InputError(f"{path} holds differences of {name}, {why}", REMEDY)
    _check_size(path, name, delta, own[name])
    return own[name].half().float().addcmul(delta.float(), step.float()[:, None])


def _check_size(path: Path, name: str, tensor: Tensor, wanted: Tensor) -> None:
    if tensor.shape != wanted.shape:
        sizes = " and ".join(" × ".join(map(str, side.shape)) for side in (tensor, wanted))
        raise InputError(f"{path}: {name} and the encoder's are of two sizes ({sizes})", REMEDY)


def _strip_prefix(weights: Tensors) -> dict[str, Tensor]:
    return {
        name.removeprefix("bert.").removeprefix("body."): weight for name, weight in weights.items()
    }
