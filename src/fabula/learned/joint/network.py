"""An encoder-decoder with its tokeniser, and linear heads on the encoder's first state."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import InputError
from fabula.learned.joint.config import HEADS_FILE, OUTPUTS
from fabula.models import MODELS

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_POSITIONS = ("max_encoder_position_embeddings", "max_position_embeddings")
_DECODER_POSITIONS = ("max_decoder_position_embeddings", "max_position_embeddings")


@dataclass(frozen=True)
class JointNetwork:
    """A backbone as transformers has it, and heads by name on the same device."""

    net: Any
    tokenizer: Any
    heads: Any  # torch's ModuleDict
    device: torch.device

    def tokenise(self, text: str) -> list[int]:
        """Cut a text into tokens, without those that the tokeniser adds."""
        return self._tokenise([text], add_special_tokens=False)[0]

    def tokenise_rows(self, texts: Iterable[str], most: int) -> list[list[int]]:
        """Cut texts into at most so many tokens, with the signs that the tokeniser adds."""
        return self._tokenise(list(texts), truncation=True, max_length=most)

    def first_states(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Give the encoder's state at the first token of every row: (rows, width)."""
        states: Tensor = self.net.get_encoder()(**self.encoder_inputs(rows)).last_hidden_state
        return states[:, 0]

    def encoder_inputs(self, rows: Sequence[Sequence[int]]) -> dict[str, Tensor]:
        """Give rows as the encoder takes them; in a Longformer the first token is seen from all."""
        ids, mask = self.pad_rows(rows, self._multiple)
        inputs = {"input_ids": ids, "attention_mask": mask}
        if self._is_longformer:
            seen = mask.new_zeros(mask.shape)
            seen[:, 0] = 1
            inputs["global_attention_mask"] = seen
        return inputs

    def pad_rows(self, rows: Sequence[Sequence[int]], multiple: int = 1) -> tuple[Tensor, Tensor]:
        """Give rows filled up on the right, and where they are not filler: (rows, tokens) each."""
        import torch

        size = -(-max(1, *map(len, rows)) // multiple) * multiple
        ids = torch.full((len(rows), size), self.pad, dtype=torch.long)
        mask = torch.zeros((len(rows), size), dtype=torch.long)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row, dtype=torch.long)
            # A row without a token is one filler that is seen.
            mask[number, : max(1, len(row))] = 1
        return ids.to(self.device), mask.to(self.device)

    def autocast(self) -> torch.autocast:
        """Compute in bfloat16 on a GPU, in full on a CPU."""
        import torch

        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")

    @cached_property
    def ends(self) -> tuple[list[int], list[int]]:
        """Signs that the tokeniser puts before and after a text."""
        inner = self._tokenise(["a"], add_special_tokens=False)[0]
        whole = self._tokenise(["a"])[0]
        at = next(i for i in range(len(whole)) if whole[i : i + len(inner)] == inner)
        return whole[:at], whole[at + len(inner) :]

    @property
    def pad(self) -> int:
        """The filler's number."""
        pad = self.tokenizer.pad_token_id
        return int(self.net.config.pad_token_id or 0) if pad is None else int(pad)

    @property
    def longest(self) -> int | None:
        """Tokens that the encoder can read at once, where that is bounded."""
        return _bound(self.net.config, _POSITIONS)

    @property
    def longest_comment(self) -> int | None:
        """Tokens that the decoder can write, where that is bounded."""
        return _bound(self.net.config, _DECODER_POSITIONS)

    def save(self, folder: Path) -> None:
        """Write backbone and tokeniser as transformers does, without its progress bar."""
        import transformers

        logging: Any = transformers.utils.logging
        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        self.net.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        if shown:
            logging.enable_progress_bar()

    @property
    def _multiple(self) -> int:
        """What the length of a row must be a multiple of: a Longformer's window."""
        size = getattr(self.net.config, "attention_window", 1)
        return int(max(size) if isinstance(size, list | tuple) else size)

    @cached_property
    def _is_longformer(self) -> bool:
        forward = inspect.signature(self.net.get_encoder().forward)
        return "global_attention_mask" in forward.parameters

    def _tokenise(self, texts: list[str], **how: Any) -> list[list[int]]:
        given = {"return_attention_mask": False, "verbose": False} | how
        return [list(ids) for ids in self.tokenizer(texts, **given)["input_ids"]]


def open_backbone(name: str | Path, device: torch.device) -> JointNetwork:
    """Open an encoder-decoder of the hub or of a folder, with heads that are newly drawn."""
    # Not by load_model, which would keep it: each training has one of its own.
    backend: Any = MODELS.get("huggingface")(str(name), task="seq2seq", device=str(device))
    net = backend.checkpoint.model("AutoModelForSeq2SeqLM")
    from torch.nn import Linear, ModuleDict

    width = int(net.config.hidden_size)
    heads = {name: Linear(width, len(outputs)) for name, outputs in OUTPUTS.items()}
    return JointNetwork(net, backend.checkpoint.tokenizer, ModuleDict(heads).to(device), device)


def open_trained(folder: Path, device: torch.device) -> JointNetwork:
    """Open what a joint training left in a folder."""
    network = open_backbone(folder, device)
    from safetensors.torch import load_file

    file = folder / HEADS_FILE
    try:
        tensors: Mapping[str, Tensor] = load_file(file)
        network.heads.load_state_dict({k.removeprefix("head."): v for k, v in tensors.items()})
    except (OSError, RuntimeError) as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise InputError(f"{file} holds no heads of this backbone ({reason})") from None
    return network


def _bound(config: Any, names: Sequence[str]) -> int | None:
    bounds = [getattr(config, name, None) for name in names]
    return next((int(bound) for bound in bounds if bound), None)
