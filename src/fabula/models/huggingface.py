"""Any model of the hub or of a folder that transformers reads."""

from __future__ import annotations

import importlib
import json
import math
import re
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from fabula.core.errors import PackageMissing, SettingError
from fabula.core.settings import AtLeast, check_settings
from fabula.models.networks.answerer import AnswererModel
from fabula.models.networks.causal import CausalModel
from fabula.models.networks.checkpoint import POOLING, READ, Checkpoint, CheckpointError, Dtype
from fabula.models.networks.hf_encoder import EncoderModel
from fabula.models.networks.hf_vision import (
    PREPROCESSOR,
    JointModel,
    VisionClassifier,
    VisionDetector,
    VisionEncoder,
)
from fabula.models.networks.masked import MaskedLanguageModel
from fabula.models.networks.seq2seq import Seq2SeqModel
from fabula.models.store.fetch import forbidding_variables, hub_errors, is_only_looking

Task = Literal[
    "auto", "encoder", "causal", "masked", "seq2seq", "answers",
    "images", "classes", "joint", "detector",
]  # fmt: skip
TextModel = EncoderModel | CausalModel | MaskedLanguageModel | Seq2SeqModel | AnswererModel
HubModel = TextModel | VisionEncoder | VisionDetector
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
HEADS = {
    "causal": ("ForCausalLM", "LMHeadModel"),
    "masked": ("ForMaskedLM", "ForPreTraining"),
    "seq2seq": ("ForConditionalGeneration",),
    "answers": ("ForQuestionAnswering",),
    "classes": ("ForImageClassification",),
    "detector": ("ForObjectDetection",),
}
LOOKERS: dict[str, type[VisionEncoder | VisionDetector]] = {
    "images": VisionEncoder,
    "joint": JointModel,
    "classes": VisionClassifier,
    "detector": VisionDetector,
}
READERS: dict[str, type[TextModel]] = {
    "encoder": EncoderModel,
    "causal": CausalModel,
    "masked": MaskedLanguageModel,
    "seq2seq": Seq2SeqModel,
    "answers": AnswererModel,
}
# Models that answer were trained on windows of 384 tokens that share 128.
USUAL_WINDOW = {"encoder": 512, "causal": 2048, "masked": 512, "seq2seq": 512, "answers": 384}
USUAL_OVERLAP = {"encoder": 4, "causal": 2, "masked": 4, "seq2seq": 4, "answers": 3}

# When the hub was last asked for a model in vain, and what it said: metrics that share one ask
# once, and in a session that goes on it may be asked again some minutes later.
ASK_AGAIN_S = 300.0
_refusals: dict[tuple[str, str | None], tuple[float, str]] = {}


@dataclass(frozen=True)
class _Settings:
    task: Task
    dtype: Dtype
    window: Annotated[int, AtLeast(16)] | None
    stride: Annotated[int, AtLeast(1)] | None


def load(
    name: str,
    *,
    task: Task = "auto",
    dtype: Dtype = "fp32",
    device: str = "auto",
    window: Annotated[int, AtLeast(16)] | None = None,
    stride: Annotated[int, AtLeast(1)] | None = None,
    revision: str | None = None,
) -> HubModel:
    """Take a model by its name in the hub or its folder; weights load when they are needed.

    `window` is how many tokens it reads at once, `stride` by how many it moves on in longer texts;
    models of pictures have neither.
    """
    check_settings(_Settings(task, dtype, window, stride), "huggingface")
    checkpoint = find_checkpoint(name, revision, dtype=dtype, device=device)
    kind = _task_of(checkpoint) if task == "auto" else task
    if kind in LOOKERS:
        if window or stride:
            raise SettingError("huggingface: pictures are read in no windows", "leave them out")
        return LOOKERS[kind](checkpoint)
    size = checkpoint.window(window, usual=USUAL_WINDOW[kind])
    step = stride or max(size - size // USUAL_OVERLAP[kind], 1)
    if step > size:
        raise SettingError(
            f"huggingface: a stride of {step} leaves gaps between windows of {size}",
            f"take at most {size}",
        )
    return READERS[kind](checkpoint, size, step)


def find_checkpoint(
    name: str, revision: str | None = None, *, dtype: Dtype = "fp32", device: str = "auto"
) -> Checkpoint:
    """Give the checkpoint of a folder, or of a hub's model, which is got where it is not here."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        if revision:
            raise SettingError("huggingface: a folder has no revision", "leave it out")
        return Checkpoint(folder.resolve(), folder.resolve().name, dtype=dtype, device=device)
    if not HUB_NAME.fullmatch(name) or name.startswith("."):
        raise CheckpointError(f"there is no folder {name}", "name one, or a model of the hub")
    snapshot = _snapshot(name, revision)
    return Checkpoint(snapshot, name, snapshot.name, dtype=dtype, device=device)


def _snapshot(name: str, revision: str | None) -> Path:
    """Folder of a hub's model, from its cache if it is whole there; its name is the commit."""
    if find_spec("huggingface_hub") is None:
        raise PackageMissing("huggingface_hub", "models")
    hub = importlib.import_module("huggingface_hub")
    wanted = {"revision": revision, "allow_patterns": [*(f"*{ending}" for ending in READ), POOLING]}
    here: Path | None = None
    with suppress(OSError, ValueError):
        here = Path(hub.snapshot_download(name, local_files_only=True, **wanted))
    if here is not None and _is_whole(here):
        return here
    if forbidding := forbidding_variables():
        raise CheckpointError(
            f"{name} is not whole in the hub's cache, and the network is forbidden",
            f"unset {' and '.join(forbidding)} where there is one, {_by_hand(name)}",
        )
    if is_only_looking():
        raise CheckpointError(f"{name} is not here; it is fetched when it is first asked for")
    asked_at, refusal = _refusals.get((name, revision), (-math.inf, ""))
    if time.monotonic() - asked_at > ASK_AGAIN_S:
        print(f"{name}: getting it from the hub", file=sys.stderr)
        try:
            return Path(hub.snapshot_download(name, **wanted))
        except hub_errors() as error:
            refusal = (str(error).strip().splitlines() or ["it gave no reason"])[0]
        _refusals[name, revision] = time.monotonic(), refusal
    raise CheckpointError(
        f"the hub did not give {name} ({refusal})",
        f"check the name and the network, {_by_hand(name)}",
    )


def _by_hand(name: str) -> str:
    """Say how to carry a model of the hub to a machine that does not reach it."""
    return (
        f"or elsewhere run: hf download {name} --include '*.safetensors' --include '*.json' "
        "--local-dir FOLDER, and name it here: huggingface('FOLDER')"
    )


def _is_whole(folder: Path) -> bool:
    """Whether a download was not broken off: configuration and all weights are there."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            weights = set(json.loads(index.read_bytes())["weight_map"].values())
            return all((folder / name).is_file() for name in (*weights, "config.json"))
        except (ValueError, LookupError, TypeError, AttributeError):
            return False
    return (folder / "config.json").is_file() and any(folder.glob("*.safetensors"))


def _task_of(checkpoint: Checkpoint) -> str:
    """Task of the head that the checkpoint says it has; without one, of what it reads."""
    names = [str(name) for name in checkpoint.config.get("architectures") or ()]
    # Detectors have a decoder too, though not of texts.
    is_paired = checkpoint.config.get("is_encoder_decoder") and not _has_head(names, *LOOKERS)
    tasks = ("answers",) if is_paired else tuple(HEADS)
    found = next((task for task in tasks if _has_head(names, task)), None)
    if found or is_paired:
        return found or "seq2seq"
    if (checkpoint.folder / PREPROCESSOR).is_file():
        return "joint" if "text_config" in checkpoint.config else "images"
    return "encoder"


def _has_head(names: list[str], *tasks: str) -> bool:
    return any(name.endswith(HEADS[task]) for name in names for task in tasks if task in HEADS)
