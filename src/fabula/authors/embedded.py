"""The co-author that comes with Fabula: SmolLM2-135M, adapted to stories or plain."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from fabula.authors.sampling.author import (
    Count,
    Megabytes,
    SampledAuthor,
    SamplingSettings,
    Tokens,
    load_net,
)
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.models.networks.checkpoint import Checkpoint

# Packages that must be there, as pip names them.
REQUIRES = ("torch>=2.4", "transformers>=4.45", "safetensors>=0.4", "tokenizers>=0.20")

_MODEL = "smollm2"
_STORIES = "story_author"

Weights = Literal["stories", "plain"]


def load(
    *,
    weights: Weights = "plain",
    dtype: Literal["fp32", "bf16"] = "fp32",
    threads: Count | None = None,
    window: Tokens = 999,
    batch: Count = 8,
    cache_mb: Megabytes = 1024,
) -> SampledAuthor:
    """Make it: `stories` are the weights adapted to stories, `plain` those of the model's makers.

    `window` is how many tokens of a context are shown, `batch` how many texts are written at once,
    `cache_mb` the memory for what was read of stories, `threads` those of the whole process.
    """
    return SampledAuthor(
        partial(_find_checkpoint, weights, dtype),
        SamplingSettings(window, batch, cache_mb, threads),
        partial(_open_net, weights),
    )


def _find_checkpoint(weights: Weights, dtype: Literal["fp32", "bf16"]) -> Checkpoint:
    from fabula.models import get_asset, path_of
    from fabula.models.networks.checkpoint import Checkpoint

    digest = get_asset(_MODEL).tree_sha256[:12]
    if weights == "stories":
        _find_difference()
        digest = f"{digest}+{_STORIES}@{get_asset(_STORIES).tree_sha256[:12]}"
    return Checkpoint(path_of(_MODEL), _MODEL, digest, dtype, backend="embedded")


def _find_difference() -> Path:
    """Folder of the difference from the plain weights, which are only for who asks for them."""
    from fabula.models import AssetError, asset_names, path_of

    if _STORIES not in asset_names():
        raise SettingError(
            "the weights adapted to stories are no part of this version",
            "take embedded(weights='plain')",
        )
    try:
        return path_of(_STORIES)
    except AssetError as error:
        remedy = f"{error.remedy}, or take the plain ones: embedded(weights='plain')"
        raise AssetError(error.problem, remedy) from error


def _open_net(weights: Weights, checkpoint: Checkpoint) -> Any:
    net = load_net(checkpoint)
    if weights == "stories":
        add_difference(net, _find_difference())
    return net


def add_difference(net: Any, folder: Path) -> None:
    """Add low-rank differences (LoRA, Hu et al., 2022) as peft writes them to the weights.

    W + (alpha / rank) B A for every layer that has them; peft itself is needed for training alone.
    """
    import torch

    from fabula.core.plain import read_json, read_tensors

    remedy = "get it again: a file may have been cut off"
    config: Any = read_json(folder / "adapter_config.json", remedy=remedy)
    tensors = read_tensors(folder / "adapter_model.safetensors", remedy=remedy)
    modules = dict(net.named_modules())
    try:
        scale = float(config["lora_alpha"]) / int(config["r"])
        with torch.no_grad():
            for name, down in tensors.items():
                layer, kind, _ = name.removeprefix("base_model.model.").rpartition(".lora_A.weight")
                if not kind:
                    continue
                up, weight = tensors[name.replace("lora_A", "lora_B")], modules[layer].weight
                added = scale * (up.float() @ down.float())
                weight.copy_((weight.float() + added.to(weight.device)).to(weight.dtype))
    except (KeyError, TypeError, ValueError, RuntimeError, ZeroDivisionError) as error:
        problem = f"{folder.name} does not go with the weights of {_MODEL} ({error})"
        raise SettingError(problem, remedy) from error
