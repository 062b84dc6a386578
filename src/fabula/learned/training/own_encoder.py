"""Encoders that are no assets: a folder of the user's, or any encoder that transformers reads.

What was learned on one is kept whole, in half precision, with its configuration and its tokeniser,
in the folder `encoder` beside `reader.json`: the reader needs neither the hub nor the folder that
it began with.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.files import write_text
from fabula.core.plain import read_json
from fabula.learned.reader.config import ENCODER, REMEDY, Pin
from fabula.learned.training.bert import BertBody, Shape, config_of
from fabula.learned.training.folder import MODEL, write_tensors
from fabula.learned.training.stories import Cut
from fabula.models.huggingface import find_checkpoint
from fabula.models.networks.checkpoint import VOCABULARIES, Checkpoint, CheckpointError
from fabula.models.networks.encoder import load_tokenizer
from fabula.models.networks.hf_pooled import open_hub_encoder
from fabula.models.reading.windows import Frame

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from fabula.learned.training.reader_model import ReaderModel

    Tensors = Mapping[str, Tensor]

_PREFIX = "body."
_NUMBER = re.compile(r"(?:^|\.)(\d+)\.")
_KEPT = (*VOCABULARIES, "tokenizer_config", "special_tokens_map", "added_tokens", "config.json")
_LARGEST = 65_504  # in half precision
_FEW_WINDOWS = 8  # are read at once, whatever their lengths


def find_encoder(place: Path | str) -> tuple[Path, str, str]:
    """Find an encoder in a folder, or by its name in the hub: give folder, name and digest."""
    if isinstance(place, Path):
        checkpoint = Checkpoint(place, place.resolve().name)
    else:
        try:
            checkpoint = find_checkpoint(place)
        except CheckpointError as error:
            remedy = error.remedy.replace(
                "name it here: huggingface('FOLDER')", "say --start FOLDER"
            )
            raise CheckpointError(error.problem, remedy) from error
    checkpoint.refuse_pickles()
    return checkpoint.folder, checkpoint.name, checkpoint.digest


def open_hub_cut(folder: Path, name: str) -> Cut:
    """Give what cuts texts into tokens, as transformers does for an encoder."""
    return open_hub_encoder(folder, name).ids


def find_frame(folder: Path, shape: Shape) -> Frame:
    """Give what a BERT of the user's puts around texts: its tokeniser says it."""
    _, edges = load_tokenizer(folder, shape.vocab_size)
    first, last = edges.ids
    return Frame((first,), (last,), (last,), shape.max_position_embeddings)


class HubBody:
    """An encoder of transformers in training: all of it learns, but a pooler that nothing reads.

    Weights of no layer, such as embeddings, learn with the lowest; where it `keeps_words` the
    embeddings stay as they are. Layers that share their weights, as ALBERT's do, are one.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        *,
        device: torch.device,
        dropout: float,
        keeps_words: bool = False,
    ) -> None:
        import torch

        self._encoder = open_hub_encoder(folder, name, str(device))
        self._net, self._keeps_words = self._encoder.net, keeps_words
        for module in self._net.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = dropout
        parameters = self._net.named_parameters()
        self.weights = {f"{_PREFIX}{name}": one.detach() for name, one in parameters}
        numbers = [self.find_layer(name) for name in self.weights]
        self.layers = 1 + max(number or 0 for number in numbers)

    @property
    def frame(self) -> Frame:
        """What it puts around texts, and how much it reads at once."""
        return self._encoder.frame

    @property
    def width(self) -> int:
        """Numbers in a token's state."""
        return self._encoder.width

    @property
    def reads_forward(self) -> bool:
        """Whether a token sees those before it alone: the last one then stands for all."""
        return self._encoder.reads_forward

    def find_layer(self, name: str) -> int | None:
        """Give the layer with which a weight learns; None of one that never does."""
        if not name.startswith(_PREFIX) or name.startswith(f"{_PREFIX}pooler."):
            return None
        if self._keeps_words and "embed" in name:
            return None
        match = _NUMBER.search(name.removeprefix(_PREFIX))
        return int(match[1]) if match else 0

    def encode(self, weights: Tensors, tokens: Tensors, *, dropout: float) -> Tensor:
        """Give a vector for every token; windows that share a row are read each for itself."""
        from torch.func import functional_call

        self._net.train(dropout > 0)
        own = {
            name.removeprefix(_PREFIX): one
            for name, one in weights.items()
            if name.startswith(_PREFIX)
        }
        ids = tokens["ids"]
        packed: Tensor | None = None
        for there, at, shape in _part_by_length(tokens):
            rows = ids.new_full(shape, self._encoder.filler)
            mask, kinds = ids.new_zeros(shape), ids.new_zeros(shape)
            rows[at], mask[at], kinds[at] = ids[there], 1, tokens["kinds"][there]
            given = self._encoder.inputs(rows, mask, kinds)
            states = functional_call(self._net, own, (), given).last_hidden_state  # (W, L, H)
            if packed is None:
                packed = states.new_zeros(*ids.shape, states.shape[-1])
            packed[there] = states[at]
        assert packed is not None
        return packed

    def name_tensors(self, weights: Tensors) -> dict[str, Tensor]:
        """Give all that the module loads, with weights that have learned."""
        learned = {name.removeprefix(_PREFIX): one for name, one in weights.items()}
        stored: dict[str, Tensor] = self._net.state_dict()
        return {name: learned.get(name, value) for name, value in stored.items()}


def _part_by_length(tokens: Tensors) -> Iterator[tuple[Tensor, tuple[Tensor, Tensor], list[int]]]:
    """Part the windows of a batch into long and short ones, so that few rows are filled up.

    Give where a part's tokens stand in the batch, their window and position, and the part's shape.
    """
    import torch

    there = tokens["segments"] > 0
    windows, positions = tokens["windows"][there], tokens["positions"][there]  # (tokens,) each
    lengths = torch.bincount(windows)
    longest = int(lengths.max())
    bounds = [0, longest // 4, longest] if len(lengths) > _FEW_WINDOWS else [0, longest]
    for low, high in pairwise(bounds):
        chosen = (lengths > low) & (lengths <= high)  # (windows,)
        if not chosen.any():
            continue
        mine = there.clone()
        mine[there] = chosen[windows]
        number = chosen.cumsum(0) - 1
        of_part = chosen[windows]
        at = number[windows[of_part]], positions[of_part]
        yield mine, at, [int(chosen.sum()), int(lengths[chosen].max())]


def keep_encoder(out: Path, start: Path, name: str, model: ReaderModel) -> Pin:
    """Write a trained encoder into a reader's folder; give the pin that names it."""
    place, body, weights = out / ENCODER, model.body, model.weights
    place.mkdir(exist_ok=True)
    for file in sorted(start.iterdir()):
        if file.is_file() and file.name.startswith(_KEPT):
            shutil.copyfile(file, place / file.name)
    if isinstance(body, HubBody):
        tensors = body.name_tensors(weights)
    else:
        tensors = {key: one for key, one in weights.items() if key.startswith("bert.")}
    if isinstance(body, BertBody):
        config: dict[str, Any] = read_json(start / "config.json", remedy=REMEDY)
        config |= config_of(body.shape, architectures=["BertModel"])
        write_text(place / "config.json", json.dumps(config, indent=1) + "\n")
    write_tensors(place / MODEL, {key: _halve(one) for key, one in tensors.items()}, {})
    return Pin(name, Checkpoint(place, name).digest, own=True)


def _halve(tensor: Tensor) -> Tensor:
    """Give numbers in half precision, unless they are too large for it, or whole ones."""
    if not tensor.is_floating_point() or float(tensor.detach().abs().max()) > _LARGEST:
        return tensor
    return tensor.half()
