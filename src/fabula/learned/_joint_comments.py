"""Comments on an aspect of a story, written by a joint training's decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.core.errors import SettingError
from fabula.learned._joint import JointAbout, read_joint
from fabula.learned._joint_network import JointNetwork, open_trained
from fabula.learned._joint_source import joint_signature, usual_device

_MOST_TOKENS = 1000
_TOP_P = 0.9


@dataclass(frozen=True)
class JointWriter:
    """Writes comments; a prompt is what `comment_input` makes of a story and an aspect."""

    network: JointNetwork
    about: JointAbout
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
        most = min(max_tokens, bound - 1) if bound else max_tokens
        how: dict[str, Any] = {"max_new_tokens": most, "do_sample": temperature > 0, "num_beams": 1}
        if temperature > 0:
            how |= {"temperature": temperature, "top_p": top_p, "top_k": 0}
        written = []
        for prompt in prompts:
            given = self.network.given(self.network.rows([prompt], self.about.max_tokens))
            with torch.random.fork_rng(), torch.inference_mode(), self.network.mixed():
                torch.manual_seed(seed)
                ids = self.network.net.generate(**given, **how)[0]
            text = str(self.network.tokenizer.decode(ids, skip_special_tokens=True)).strip()
            written.append(_cut(text, stop))
        return written


def open_writer(folder: Path) -> JointWriter:
    """Open the writer of a joint training that learned from comments."""
    about = read_joint(folder)
    if not about.comments:
        problem = f"{folder} was trained without comments, and writes none"
        raise SettingError(problem, "train with comments = true")
    network = open_trained(folder, usual_device())
    return JointWriter(network, about, joint_signature(folder, about))


def _cut(text: str, stop: Sequence[str]) -> str:
    """Give what stands before the first stop."""
    ends = [place for one in stop if one and (place := text.find(one)) >= 0]
    return text[: min(ends)] if ends else text
