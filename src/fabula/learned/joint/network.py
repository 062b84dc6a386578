"""An encoder-decoder with linear heads: as a reader that scores, and as a writer of comments."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.core.model import TokenCount
from fabula.core.plain import read_tensors
from fabula.learned.joint.config import (
    FILE,
    HEADS_FILE,
    OUTPUTS,
    RATINGS,
    JointConfig,
    read_joint_config,
    reader_config,
    tag_newlines,
)
from fabula.learned.joint.warm_start import join_decoder
from fabula.learned.reader.config import REMEDY, ReaderConfig
from fabula.models import MODELS, asset_names, path_of
from fabula.models.networks.checkpoint import RELATIVE, SHIFTED
from fabula.models.reading.tokens import count_unknown
from fabula.models.reading.windows import cut_evenly

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from fabula.core.model import Array

    Outputs = Mapping[str, Array]

_POSITIONS = ("max_encoder_position_embeddings", "max_position_embeddings")
_DECODER_POSITIONS = ("max_decoder_position_embeddings", "max_position_embeddings")
_ROWS = {"cpu": 1}  # windows that are read together; on a GPU 16
_GPU_ROWS = 16
_MOST_TOKENS = 1000
_TOP_P = 0.9
_LONGEST_REASON = 200


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
        return _bound(self.net.get_encoder().config, _POSITIONS)

    @property
    def longest_comment(self) -> int | None:
        """Tokens that the decoder can write, where that is bounded."""
        return _bound(getattr(self.net.config, "decoder", self.net.config), _DECODER_POSITIONS)

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


def open_backbone(
    name: str | Path, device: torch.device, *, warm_start: bool = False
) -> JointNetwork:
    """Open an encoder-decoder of the hub, of a folder or an asset, with heads that are newly drawn.

    With `warm_start` an encoder is given a decoder of its own layers.
    """
    place = path_of(str(name)) if str(name) in asset_names() else name
    # Not by load_model, which would keep it: each training has one of its own.
    backend: Any = MODELS.get("huggingface")(str(place), task="seq2seq", device=str(device))
    checkpoint = backend.checkpoint
    if checkpoint.shape.is_encoder_decoder:
        net = checkpoint.model("AutoModelForSeq2SeqLM")
    elif warm_start:
        net = join_decoder(checkpoint)
    else:
        problem = f"{name} is no encoder-decoder (it is a {checkpoint.shape.model_type})"
        remedy = "take one, such as a LED, BART or T5; or make one of it: warm_start = true"
        raise SettingError(problem, remedy)
    from torch.nn import Linear, ModuleDict

    width = int(net.get_encoder().config.hidden_size)
    heads = {name: Linear(width, len(outputs)) for name, outputs in OUTPUTS.items()}
    return JointNetwork(net, checkpoint.tokenizer, ModuleDict(heads).to(device), device)


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


def _bound(config: Any, names: Sequence[str]) -> int | None:
    if config.model_type in RELATIVE:
        return None
    bounds = [getattr(config, name, None) for name in names]
    bound = next((int(bound) for bound in bounds if bound), None)
    return bound - 2 if bound and config.model_type in SHIFTED else bound


@dataclass(frozen=True)
class JointSource:
    """An encoder-decoder whose heads read a text whole, or by windows where it is too long.

    The head `aspects` gives ratings from 1 to 5, the others logits.
    """

    network: JointNetwork
    config: JointConfig

    @property
    def pair_room(self) -> int:
        """Tokens that are read of either text of a pair: none."""
        return 0

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of every text."""
        return [len(self.network.tokenise(tag_newlines(text))) for text in texts]

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and those that are not in the vocabulary."""
        return count_unknown(self.network.tokenizer, [tag_newlines(text) for text in texts])

    def pair_outputs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Outputs]:
        """Refuse: its heads were trained on single stories."""
        raise SettingError("these weights read no pairs of texts", "take others")

    def window_outputs(self, texts: Sequence[str]) -> Iterator[Outputs]:
        """Give for every text, in order, what each head says of its windows: (windows, outputs)."""
        before, after = self.network.ends
        room = self.config.max_tokens - len(before) - len(after)
        for text in texts:
            ids = self.network.tokenise(tag_newlines(text))
            windows = cut_evenly(len(ids), room)
            yield self._ask_heads([[*before, *ids[at.start : at.stop], *after] for at in windows])

    def _ask_heads(self, rows: Sequence[Sequence[int]]) -> Outputs:
        import torch

        size = _ROWS.get(self.network.device.type, _GPU_ROWS)
        outputs: dict[str, list[Array]] = {
            name: [np.zeros((0, len(OUTPUTS[name])))] for name in self.config.heads
        }
        for start in range(0, len(rows), size):
            with torch.inference_mode(), self.network.autocast():
                states = self.network.first_states(rows[start : start + size])  # (rows, width)
                for name, parts in outputs.items():
                    logits = self.network.heads[name](states).double()  # (rows, outputs)
                    values = 1 + 4 * logits.sigmoid() if name == RATINGS else logits
                    parts.append(values.cpu().numpy())
        return {name: np.concatenate(parts) for name, parts in outputs.items()}


@dataclass(frozen=True)
class JointWriter:
    """Writes comments; a prompt is what `comment_input` makes of a story and an aspect."""

    network: JointNetwork
    config: JointConfig
    signature: str

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_tokens: int = _MOST_TOKENS,
        temperature: float = 1.0,
        top_p: float = _TOP_P,
        stop: Sequence[str] = (),
        seed: int = 0,
    ) -> list[str]:
        """Give a comment for each prompt, drawn from the likeliest tokens that make up `top_p`.

        Of a prompt that is too long, the beginning is read. A temperature of 0 draws nothing.
        """
        import torch

        bound = self.network.longest_comment
        most = min(max_tokens, self.config.comment_tokens, *([bound - 1] if bound else []))
        how: dict[str, Any] = {"max_new_tokens": most, "do_sample": temperature > 0, "num_beams": 1}
        if temperature > 0:
            how |= {"temperature": temperature, "top_p": top_p, "top_k": 0}
        comments = []
        for prompt in prompts:
            rows = self.network.tokenise_rows([prompt], self.config.max_tokens)
            with torch.random.fork_rng(), torch.inference_mode(), self.network.autocast():
                torch.manual_seed(seed)
                ids = self.network.net.generate(**self.network.encoder_inputs(rows), **how)[0]
            text = str(self.network.tokenizer.decode(ids, skip_special_tokens=True)).strip()
            # What stands before the first stop.
            ends = [place for sign in stop if sign and (place := text.find(sign)) >= 0]
            comments.append(text[: min(ends)] if ends else text)
        return comments

    def comment_logs(self, prompts: Sequence[str], comments: Sequence[str]) -> Iterator[Array]:
        """Give the natural log of the probability of every token of a comment, its end counted.

        A prompt is what `comment_input` makes of a story and an aspect; of one that is too long the
        beginning is read, and of a comment as much as the decoder has room for.
        """
        import torch

        network = self.network
        most = network.longest_comment or _MOST_TOKENS
        start = int(network.net.config.decoder_start_token_id)
        for prompt, comment in zip(prompts, comments, strict=True):
            given = network.encoder_inputs(network.tokenise_rows([prompt], self.config.max_tokens))
            [ids] = network.tokenise_rows([comment], most)
            before, _ = network.pad_rows([[start, *ids[:-1]]])  # (1, tokens)
            with torch.inference_mode(), network.autocast():
                said = network.net(**given, decoder_input_ids=before, use_cache=False).logits
            logs = said[0].double().log_softmax(-1)  # (tokens, vocabulary)
            yield logs[range(len(ids)), ids].cpu().numpy()


def open_joint(folder: Path) -> tuple[ReaderConfig, str, JointSource]:
    """Open the folder of a joint training: what it says of itself, its signature, its outputs."""
    config = read_joint_config(folder)
    source = JointSource(open_trained(folder, _usual_device()), config)
    return reader_config(config), _sign_folder(folder, config), source


def open_writer(folder: Path) -> JointWriter:
    """Open the writer of a joint training that learned from comments."""
    config = read_joint_config(folder)
    if not config.comments:
        problem = f"{folder} was trained without comments, and writes none"
        raise SettingError(problem, "train with comments = true")
    network = open_trained(folder, _usual_device())
    return JointWriter(network, config, _sign_folder(folder, config))


def _usual_device() -> torch.device:
    """Give a GPU if there is one, else the CPU."""
    try:
        import torch
    except ImportError:
        raise PackageMissing("torch", "models") from None
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _sign_folder(folder: Path, config: JointConfig) -> str:
    """Give the kind and a digest of all files that values depend on."""
    digest = hashlib.sha256()
    for path in [folder / FILE, *sorted(folder.glob("*.safetensors"))]:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"{config.kind}@{digest.hexdigest()[:12]}"
