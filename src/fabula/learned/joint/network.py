"""A trained joint model: as a reader that scores, and as a writer of comments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import PackageMissing, SettingError
from fabula.core.model import TokenCount
from fabula.learned.joint.backbone import JointNetwork, open_trained
from fabula.learned.joint.config import (
    FILE,
    OUTPUTS,
    RATINGS,
    JointConfig,
    read_joint_config,
    reader_config,
    tag_newlines,
)
from fabula.learned.reader.config import ReaderConfig
from fabula.models.networks.causal import seed_of
from fabula.models.reading.tokens import count_unknown
from fabula.models.reading.windows import cut_evenly

if TYPE_CHECKING:
    import torch

    from fabula.core.model import Array

    Outputs = Mapping[str, Array]

_ROWS = {"cpu": 1}  # windows that are read together; on a GPU 16
_GPU_ROWS = 16
_MOST_TOKENS = 1000
_TOP_P = 0.9


@dataclass(frozen=True)
class JointSource:
    """A joint model whose heads read a text whole, or by windows where it is too long.

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
                states = self.network.text_states(rows[start : start + size])  # (rows, width)
                for name, parts in outputs.items():
                    logits = self.network.heads[name](states).double()  # (rows, outputs)
                    values = 1 + 4 * logits.sigmoid() if name == RATINGS else logits
                    parts.append(values.cpu().numpy())
        return {name: np.concatenate(parts) for name, parts in outputs.items()}


@dataclass(frozen=True)
class JointWriter:
    """Writes comments; a prompt is what `comment_input` makes of story, aspect and the layout."""

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

        Of a prompt that is too long, the beginning is read. A temperature of 0 draws nothing. What
        chance brings follows from seed and prompt: comments on several are not drawn alike.
        """
        import torch

        bound = self.network.longest_comment
        most = min(max_tokens, self.config.comment_tokens, *([bound - 1] if bound else []))
        how: dict[str, Any] = {"max_new_tokens": most, "do_sample": temperature > 0, "num_beams": 1}
        if temperature > 0:
            how |= {"temperature": temperature, "top_p": top_p, "top_k": 0}
        comments = []
        for prompt in prompts:
            [row] = self.network.tokenise_rows([prompt], self.config.max_tokens)
            with torch.random.fork_rng(), torch.inference_mode(), self.network.autocast():
                torch.manual_seed(seed_of(prompt, seed))
                ids = self.network.write(row, **how)
            text = str(self.network.tokenizer.decode(ids, skip_special_tokens=True)).strip()
            # What stands before the first stop.
            ends = [place for sign in stop if sign and (place := text.find(sign)) >= 0]
            comments.append(text[: min(ends)] if ends else text)
        return comments

    def comment_logs(self, prompts: Sequence[str], comments: Sequence[str]) -> Iterator[Array]:
        """Give the natural log of the probability of every token of a comment, its end counted.

        A prompt is what `comment_input` makes of story, aspect and layout; of one that is too long
        the beginning is read, and of a comment as much as the decoder has room for.
        """
        import torch

        network = self.network
        for prompt, comment in zip(prompts, comments, strict=True):
            [row] = network.tokenise_rows([prompt], self.config.max_tokens)
            [ids] = network.tokenise_comments([comment], network.room_after(row) or _MOST_TOKENS)
            with torch.inference_mode(), network.autocast():
                said = network.comment_logits([row], [ids])
            logs = said[0].double().log_softmax(-1)  # (tokens, words)
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
