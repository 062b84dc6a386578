"""What a joint model stands on: an encoder-decoder, or a causal model, with linear heads.

An encoder-decoder reads a text, and its decoder writes the comment. A causal model reads on: text,
the sign for an end, comment, that sign again. Heads sit on the state that has seen the whole text:
the encoder's first, or a causal model's at the sign after it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import InputError, SettingError
from fabula.core.plain import read_tensors
from fabula.learned.joint.config import HEADS_FILE, OUTPUTS
from fabula.learned.joint.warm_start import join_decoder
from fabula.learned.reader.config import REMEDY
from fabula.models import MODELS, asset_names, path_of
from fabula.models.networks.adapter import CONFIG as ADAPTER_CONFIG
from fabula.models.networks.causal import CausalModel
from fabula.models.networks.checkpoint import RELATIVE, SHIFTED
from fabula.models.networks.word_head import find_word_head
from fabula.models.reading.tokens import find_beginning

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_POSITIONS = ("max_encoder_position_embeddings", "max_position_embeddings")
_DECODER_POSITIONS = ("max_decoder_position_embeddings", "max_position_embeddings")
_LONGEST_REASON = 200
# Rows pass together while they are nearly as long as the longest of them; so many tokens, fillers
# counted, are worth a pass of their own on a GPU.
_ALIKE = 0.75
_WORTH_A_PASS = 8192


@dataclass(frozen=True)
class JointNetwork:
    """An encoder-decoder as transformers has it, and heads by name on the same device."""

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

    def tokenise_comments(self, texts: Iterable[str], most: int) -> list[list[int]]:
        """Cut comments into at most so many tokens, as they are to be written."""
        return self.tokenise_rows(texts, most)

    def text_states(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Give the state that heads read, of every row: the encoder's first (rows, width)."""
        states: Tensor = self.net.get_encoder()(**self.encoder_inputs(rows)).last_hidden_state
        return states[:, 0]

    def comment_logits(
        self, rows: Sequence[Sequence[int]], comments: Sequence[Sequence[int]]
    ) -> Tensor:
        """Give what is guessed for every token of comments on texts: (rows, tokens, words).

        A comment's token is guessed from the text and from those before it.
        """
        before, _ = self.pad_rows([[self.start, *comment[:-1]] for comment in comments])
        given = self.encoder_inputs(rows)
        logits: Tensor = self.net(**given, decoder_input_ids=before, use_cache=False).logits
        return logits

    def write(self, row: Sequence[int], **how: Any) -> list[int]:
        """Write a comment on a text; `how` is in the words of transformers' generate."""
        return [int(token) for token in self.net.generate(**self.encoder_inputs([row]), **how)[0]]

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
    def start(self) -> int:
        """The sign that the decoder has read before a comment."""
        sign = getattr(self.net.config, "decoder_start_token_id", None)
        if sign is None:
            name = self.net.config.model_type
            raise InputError(f"the {name} names no decoder_start_token_id", "take another")
        return int(sign)

    def begin_with_end(self) -> None:
        """Let the decoder begin with the sign for an end, in training and after it."""
        if (end := self.tokenizer.eos_token_id) is None:
            raise InputError("the backbone's tokeniser has no sign for an end", "leave compat out")
        self.net.config.decoder_start_token_id = end
        self.net.generation_config.decoder_start_token_id = end

    @property
    def longest(self) -> int | None:
        """Tokens that the encoder can read at once, where that is bounded."""
        return _bound(self.net.get_encoder().config, _POSITIONS)

    @property
    def longest_comment(self) -> int | None:
        """Tokens that the decoder can write, where that is bounded."""
        return _bound(getattr(self.net.config, "decoder", self.net.config), _DECODER_POSITIONS)

    def room_after(self, row: Sequence[int]) -> int | None:
        """Tokens that a comment on such a text may have, where that is bounded."""
        return self.longest_comment

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


@dataclass(frozen=True)
class CausalNetwork(JointNetwork):
    """A causal model: it reads a text to the sign for its end, and a comment is what follows."""

    def tokenise_rows(self, texts: Iterable[str], most: int) -> list[list[int]]:
        """Cut texts into at most so many tokens, with signs for the beginning and the end."""
        before, after = self.ends
        room = max(1, most - len(before) - len(after))
        rows = self._tokenise(list(texts), add_special_tokens=False)
        return [[*before, *row[:room], *after] for row in rows]

    def tokenise_comments(self, texts: Iterable[str], most: int) -> list[list[int]]:
        """Cut comments into at most so many tokens; one that is whole has the sign for an end."""
        rows = self._tokenise(list(texts), add_special_tokens=False)
        return [[*row, self.start][:most] for row in rows]

    def text_states(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Give the state at the last token of every row: (rows, width)."""
        return self._gather_states(rows, [[max(1, len(row)) - 1] for row in rows])[:, 0]

    def comment_logits(
        self, rows: Sequence[Sequence[int]], comments: Sequence[Sequence[int]]
    ) -> Tensor:
        """Give what is guessed for every token of comments on texts: (rows, tokens, words)."""
        import torch

        both = [[*row, *comment] for row, comment in zip(rows, comments, strict=True)]
        # What is said of a token stands at the one before it: at first, at the text's end.
        size = max(1, *map(len, comments))
        places = [
            [min(len(row) - 1 + number, len(whole) - 1) for number in range(size)]
            for row, whole in zip(rows, both, strict=True)
        ]
        if self._word_head is not None:
            logits: Tensor = self._word_head(self._gather_states(both, places))
            return logits
        ids, mask = self.pad_rows(both)
        logits = self.net(input_ids=ids, attention_mask=mask, use_cache=False).logits
        return logits[torch.arange(len(rows))[:, None], torch.tensor(places)]

    def _gather_states(
        self, rows: Sequence[Sequence[int]], places: Sequence[Sequence[int]]
    ) -> Tensor:
        """Give the states at equally many places of every row: (rows, places, width)."""
        import torch

        groups = _group_by_length([len(row) for row in rows])
        parts = []
        for group in groups:
            wanted = torch.tensor([places[at] for at in group])
            states = self._states([rows[at] for at in group])
            parts.append(states[torch.arange(len(group))[:, None], wanted])
        order = torch.tensor([at for group in groups for at in group]).argsort()
        return torch.cat(parts)[order.to(self.device)]

    def _states(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Give the state at every token: (rows, tokens, width).

        Without a mask: fillers stand on the right, where nothing before sees them, and networks
        have faster ways where there is none.
        """
        ids, _ = self.pad_rows(rows)
        states: Tensor = self.net.base_model(input_ids=ids, use_cache=False).last_hidden_state
        return states

    @cached_property
    def _word_head(self) -> Any:
        """What makes logits of states, so that it is asked of comments alone."""
        return find_word_head(self.net)

    def write(self, row: Sequence[int], **how: Any) -> list[int]:
        """Write on after a text; what is written begins after the sign for its end."""
        ids, mask = self.pad_rows([row])
        signs = {"eos_token_id": self.start, "pad_token_id": self.pad}
        whole = self.net.generate(input_ids=ids, attention_mask=mask, **signs, **how)[0]
        return [int(token) for token in whole[len(row) :]]

    @cached_property
    def ends(self) -> tuple[list[int], list[int]]:
        """Signs before and after a text."""
        return list(find_beginning(self.tokenizer)), [self.start]

    @property
    def start(self) -> int:
        """The sign that stands between a text and a comment, and after both: that of an end."""
        if (end := self.tokenizer.eos_token_id) is None:
            raise InputError("the backbone's tokeniser has no sign for an end", "take another")
        return int(end)

    def begin_with_end(self) -> None:
        """Do nothing: a comment follows the sign for an end in any case."""

    @property
    def longest(self) -> int | None:
        """Tokens of text and comment together, where that is bounded."""
        return _bound(self.net.config, _POSITIONS)

    def room_after(self, row: Sequence[int]) -> int | None:
        """Tokens that are left after a text, where they are bounded."""
        return None if self.longest is None else self.longest - len(row)


def open_backbone(
    name: str | Path, device: torch.device, *, warm_start: bool = False
) -> JointNetwork:
    """Open a backbone of the hub, of a folder or an asset, with heads that are newly drawn.

    With `warm_start` an encoder is given a decoder of its own layers.
    """
    backend = _find_backend(str(name), device)
    checkpoint, kind = backend.checkpoint, JointNetwork
    if isinstance(backend, CausalModel):
        net, kind = checkpoint.model("AutoModelForCausalLM"), CausalNetwork
    elif checkpoint.shape.is_encoder_decoder:
        net = checkpoint.model("AutoModelForSeq2SeqLM")
    elif warm_start:
        net = join_decoder(checkpoint)
    else:
        problem = f"{name} is no encoder-decoder (it is a {checkpoint.shape.model_type})"
        remedy = "take one, such as a LED, BART or T5; a causal model, such as smollm2; or make one"
        raise SettingError(problem, f"{remedy} of it: warm_start = true")
    from torch.nn import Linear, ModuleDict

    body = net if kind is CausalNetwork else net.get_encoder()
    width = int(body.config.hidden_size)
    heads = {name: Linear(width, len(outputs)) for name, outputs in OUTPUTS.items()}
    return kind(net, checkpoint.tokenizer, ModuleDict(heads).to(device), device)


def _find_backend(name: str, device: torch.device) -> Any:
    """Find what holds the checkpoint; not by load_model, which would keep it: each training has
    one of its own."""
    place = path_of(name) if name in asset_names() else Path(name)
    if name in asset_names() and (place / ADAPTER_CONFIG).is_file():
        # A difference, which is added to the model that it belongs to.
        model: Any = MODELS.get("embedded")(name)
        return replace(model, checkpoint=replace(model.checkpoint, device=str(device)))
    return MODELS.get("huggingface")(str(place), device=str(device))


def open_trained(folder: Path, device: torch.device) -> JointNetwork:
    """Open what a joint training left in a folder."""
    network = open_backbone(folder, device)
    file = folder / HEADS_FILE
    tensors: Mapping[str, Tensor] = read_tensors(file, remedy=REMEDY)
    try:
        network.heads.load_state_dict({k.removeprefix("head."): v for k, v in tensors.items()})
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:_LONGEST_REASON]
        problem = f"{file} holds no heads of this backbone ({reason})"
        raise InputError(problem, REMEDY) from None
    return network


def _group_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Part rows, the longest first, so that few fillers pass and passes are worth their while."""
    groups: list[list[int]] = []
    for at in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        longest = lengths[groups[-1][0]] if groups else 0
        is_full = bool(groups) and longest * len(groups[-1]) >= _WORTH_A_PASS
        if not groups or (is_full and lengths[at] < _ALIKE * longest):
            groups.append([])
        groups[-1].append(at)
    return groups


def _bound(config: Any, names: Sequence[str]) -> int | None:
    if config.model_type in RELATIVE:
        return None
    bounds = [getattr(config, name, None) for name in names]
    bound = next((int(bound) for bound in bounds if bound), None)
    return bound - 2 if bound and config.model_type in SHIFTED else bound
