"""Layers and heads on top of an encoder: texts, or pairs of them, in; outputs of heads out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.core.errors import InputError
from fabula.learned._about import About, Head
from fabula.learned._packed import load_packed
from fabula.learned._windows import windows
from fabula.models import PooledBert

if TYPE_CHECKING:
    from torch import Tensor

    from fabula.core.model import Array

    Outputs = Mapping[str, Array]

FILE = "model.safetensors"
PAIR_TOKENS = 120
# What is cut into tokens at once: enough to find windows of about one length.
CHUNK_TOKENS = 65_536
CHUNK_PAIRS = 1024


@dataclass(frozen=True)
class HeadMaps:
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
class Stack:
    """An encoder with the layers of a training, and the heads on it."""

    encoder: PooledBert = field(repr=False)
    heads: Mapping[str, HeadMaps] = field(repr=False)
    window: int
    overlap: bool = False

    @property
    def pair_room(self) -> int:
        """Tokens that are read of either text of a pair."""
        return min(PAIR_TOKENS, (self.encoder.longest - 3) // 2)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of every text."""
        return [len(self.encoder.ids(text)) for text in texts]

    def window_outputs(self, texts: Sequence[str]) -> Iterator[Outputs]:
        """Give for every text, in order, what each head says of its windows: (windows, outputs)."""
        chunk: list[list[int]] = []
        size = 0
        for text in texts:
            ids = self.encoder.ids(text)
            if chunk and size + len(ids) > CHUNK_TOKENS:
                yield from self._chunk_outputs(chunk)
                chunk, size = [], 0
            chunk.append(ids)
            size += len(ids)
        yield from self._chunk_outputs(chunk)

    def pair_outputs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Outputs]:
        """Give for every pair, in order, what each head says of it: (outputs,)."""
        room = self.pair_room
        for start in range(0, len(pairs), CHUNK_PAIRS):
            cut = [
                (self.encoder.ids(one)[:room], self.encoder.ids(other)[:room])
                for one, other in pairs[start : start + CHUNK_PAIRS]
            ]
            found = self._ask_heads(self.encoder.pool_pairs(cut))
            yield from ({name: rows[at] for name, rows in found.items()} for at in range(len(cut)))

    def _chunk_outputs(self, texts: list[list[int]]) -> Iterator[Outputs]:
        places = [windows(len(ids), self.window, overlap=self.overlap) for ids in texts]
        cut = [
            ids[one.start : one.stop]
            for ids, some in zip(texts, places, strict=True)
            for one in some
        ]
        found = self._ask_heads(self.encoder.pool(cut))
        ends = accumulate(map(len, places), initial=0)
        for start, stop in pairwise(ends):
            yield {name: rows[start:stop] for name, rows in found.items()}

    def _ask_heads(self, vectors: Tensor) -> dict[str, Array]:
        import torch

        with torch.inference_mode():
            return {name: head(vectors).double().numpy() for name, head in self.heads.items()}


def open_stack(folder: Path, about: About, encoder: PooledBert) -> Stack:
    """Read the weights of a reader's folder and put them on its encoder."""
    if about.window + 2 > encoder.longest:
        problem = f"{folder}: its windows of {about.window} tokens are too long for the encoder"
        raise InputError(problem, f"the longest are {encoder.longest - 2}")
    file, own = folder / FILE, encoder.layer_tensors()
    tensors = load_packed(file, own)
    heads = {
        name: _read_head(file, name, head, tensors, encoder.width)
        for name, head in about.heads.items()
    }
    known = own.keys() | {name for name in tensors if name.startswith("head.")}
    if unknown := sorted(tensors.keys() - known):
        raise InputError(f"{file} holds {unknown[0]}, which the encoder has not", _REMEDY)
    return Stack(encoder.with_layers(tensors), heads, about.window, about.overlap)


_REMEDY = "train it again, or take another folder"


def _read_head(
    file: Path, name: str, head: Head, tensors: Mapping[str, Tensor], width: int
) -> HeadMaps:
    count, inside = len(head.outputs), head.hidden
    sizes = (
        {"": (count, width)}
        if not inside
        else {".inner": (inside, width), ".outer": (count, inside)}
    )
    maps = []
    for part, size in sizes.items():
        both = [f"head.{name}{part}.weight", f"head.{name}{part}.bias"]
        for one, wanted in zip(both, (size, size[:1]), strict=True):
            if one not in tensors or tensors[one].shape != wanted:
                raise InputError(
                    f"{file} holds no {one} of {' × '.join(map(str, wanted))}", _REMEDY
                )
        maps.append((tensors[both[0]], tensors[both[1]]))
    return HeadMaps(tuple(maps))
