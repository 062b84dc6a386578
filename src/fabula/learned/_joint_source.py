"""A joint training's folder as a reader: texts in, outputs of StoryER's heads out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.errors import PackageMissing, SettingError
from fabula.learned._about import About
from fabula.learned._joint import (
    FILE,
    OUTPUTS,
    RATINGS,
    JointAbout,
    read_joint,
    reader_about,
    tagged,
)
from fabula.learned._joint_network import JointNetwork, open_trained
from fabula.learned._windows import windows

if TYPE_CHECKING:
    import torch

    from fabula.core.model import Array

    Outputs = Mapping[str, Array]

_ROWS = {"cpu": 1}  # windows that are read together; on a GPU 16
_GPU_ROWS = 16


@dataclass(frozen=True)
class JointSource:
    """An encoder-decoder whose heads read a text whole, or by windows where it is too long.

    The head `aspects` gives ratings from 1 to 5, the others logits.
    """

    network: JointNetwork
    about: JointAbout

    @property
    def pair_room(self) -> int:
        """Tokens that are read of either text of a pair: none."""
        return 0

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of every text."""
        return [len(self.network.pieces(tagged(text))) for text in texts]

    def pair_outputs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Outputs]:
        """Refuse: its heads were trained on single stories."""
        raise SettingError("these weights read no pairs of texts", "take others")

    def window_outputs(self, texts: Sequence[str]) -> Iterator[Outputs]:
        """Give for every text, in order, what each head says of its windows: (windows, outputs)."""
        for text in texts:
            ids = self.network.pieces(tagged(text))
            cut = [ids[one.start : one.stop] for one in windows(len(ids), self._room)]
            yield self._asked([self.network.framed(one) for one in cut])

    @property
    def _room(self) -> int:
        return self.about.max_tokens - sum(map(len, self.network.ends))

    def _asked(self, rows: Sequence[Sequence[int]]) -> Outputs:
        import torch

        size = _ROWS.get(self.network.device.type, _GPU_ROWS)
        found: dict[str, list[Array]] = {
            name: [np.zeros((0, len(OUTPUTS[name])))] for name in self.about.heads
        }
        for start in range(0, len(rows), size):
            with torch.inference_mode(), self.network.mixed():
                states = self.network.first_states(rows[start : start + size])
                for name, parts in found.items():
                    logits = self.network.heads[name](states).double()
                    said = 1 + 4 * logits.sigmoid() if name == RATINGS else logits
                    parts.append(said.cpu().numpy())
        return {name: np.concatenate(parts) for name, parts in found.items()}


def open_joint(folder: Path) -> tuple[About, str, JointSource]:
    """Open the folder of a joint training: what it says of itself, its signature, its outputs."""
    about = read_joint(folder)
    source = JointSource(open_trained(folder, usual_device()), about)
    return reader_about(about), joint_signature(folder, about), source


def usual_device() -> torch.device:
    """Give a GPU if there is one, else the CPU."""
    try:
        import torch
    except ImportError:
        raise PackageMissing("torch", "models") from None
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def joint_signature(folder: Path, about: JointAbout) -> str:
    """Give the kind and a digest of all files that values depend on."""
    digest = hashlib.sha256()
    for file in [folder / FILE, *sorted(folder.glob("*.safetensors"))]:
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return f"{about.kind}@{digest.hexdigest()[:12]}"
