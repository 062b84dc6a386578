"""What is on disk: a checkpoint to go on from, and the weights that others read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

CHECKPOINT = "checkpoint.safetensors"
MODEL = "model.safetensors"


def write_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write tensors and a few plain values into one file, whole or not at all."""
    from safetensors.torch import save

    partial = path.with_name(f".{path.name}.part")
    kept = {name: value.detach().contiguous() for name, value in tensors.items()}
    # Not by save_file, which lets nobody else read the file.
    partial.write_bytes(save(kept, metadata={"format": "pt", "about": json.dumps(about)}))
    partial.replace(path)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Give what `write_tensors` wrote."""
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        about: dict[str, Any] = json.loads(file.metadata()["about"])
        return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118


def save_model(out: Path, weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
    """Write weights in half precision, as transformers reads them."""
    import torch

    write_tensors(out / MODEL, {k: v.to(torch.float16) for k, v in weights.items()}, about)


def save_checkpoint(
    out: Path, weights: Mapping[str, Tensor], optimiser: Optimizer, about: Mapping[str, Any]
) -> None:
    """Write weights and the optimiser's memory of them."""
    tensors = {f"weight/{name}": value for name, value in weights.items()}
    for name, value in weights.items():
        for key, kept in optimiser.state.get(value, {}).items():
            tensors[f"{key}/{name}"] = kept
    write_tensors(out / CHECKPOINT, tensors, about)


def restore_checkpoint(
    out: Path, weights: Mapping[str, Tensor], optimiser: Optimizer
) -> dict[str, Any] | None:
    """Put a checkpoint's numbers in place and give what it says of itself; None without one."""
    import torch
    from safetensors import safe_open

    path = out / CHECKPOINT
    if not path.is_file():
        return None
    with safe_open(path, "pt") as file, torch.no_grad():
        about: dict[str, Any] = json.loads(file.metadata()["about"])
        for key in file.keys():  # noqa: SIM118  (no dictionary)
            kind, _, name = key.partition("/")
            if name not in weights:
                raise InputError(f"{path} is of another model", "train into another folder")
            found = file.get_tensor(key)
            if kind == "weight":
                weights[name].copy_(found)
            else:
                optimiser.state[weights[name]][kind] = found.to(weights[name].device)
    return about
