"""Weights of a reader in one small file: how its matrices differ from the encoder's, in 8 bits.

A matrix of the layers is `<name>.delta` (int8, outputs × inputs) and `<name>.step` (a number a
row): the encoder's matrix + delta · step. All else that the encoder has not is plain, in half
precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.core.errors import InputError, PackageMissing
from fabula.core.files import write_bytes
from fabula.learned.reader.config import REMEDY

if TYPE_CHECKING:
    from torch import Tensor

    Weights = Mapping[str, Tensor]

_MOST = 127


def save_packed(path: Path, weights: Weights, encoder_weights: Weights) -> None:
    """Write weights, whole or not at all; what is as the encoder has it is left out.

    Names are those of transformers, with or without `bert.`; heads begin with `head.`.
    """
    from safetensors.torch import save

    own = _bare(encoder_weights)
    tensors: dict[str, Tensor] = {}
    for name, weight in _bare(weights).items():
        tensors |= _pack(name, weight.detach().cpu().float(), own.get(name))
    # Not by save_file, which lets nobody else read the file.
    write_bytes(path, save(tensors, metadata={"format": "pt"}))


def load_packed(path: Path, encoder_weights: Weights) -> dict[str, Tensor]:
    """Read weights in single precision: the encoder's own, where the file has no others."""
    own = _bare(encoder_weights)
    found = {name: weight.float() for name, weight in own.items()}
    stored = _read(path)
    for name, tensor in stored.items():
        if name.endswith(".delta"):
            plain = name.removesuffix(".delta")
            found[plain] = _unpack(path, plain, stored, own)
        elif not name.endswith(".step"):
            _check_size(path, name, tensor, own.get(name, tensor))
            found[name] = tensor.float()
    return found


def _pack(name: str, weight: Tensor, own: Tensor | None) -> dict[str, Tensor]:
    if not weight.isfinite().all():
        raise InputError(f"the weights {name} are not all numbers", "train with a lower rate")
    if own is None:
        return {name: weight.half().contiguous()}
    # The encoder is on disk in half precision, and what is read there is what is added to.
    difference = weight - own.detach().cpu().half().float()
    if not difference.any():
        return {}
    if weight.ndim < 2 or not name.startswith("encoder.layer."):
        return {name: weight.half().contiguous()}
    step = difference.abs().amax(1) / _MOST  # (outputs,)
    scaled = difference / step.where(step > 0, step.new_ones(()))[:, None]
    delta = scaled.round().clamp(-_MOST, _MOST).char()
    return {f"{name}.delta": delta.contiguous(), f"{name}.step": step}


def _unpack(path: Path, name: str, stored: Weights, own: Weights) -> Tensor:
    delta, step = stored[f"{name}.delta"], stored.get(f"{name}.step")
    if name not in own or step is None or step.shape != delta.shape[:1]:
        why = "which the encoder has not" if step is not None else "and not their steps"
        raise InputError(f"{path} holds differences of {name}, {why}", REMEDY)
    _check_size(path, name, delta, own[name])
    return own[name].half().float().addcmul(delta.float(), step.float()[:, None])


def _check_size(path: Path, name: str, found: Tensor, wanted: Tensor) -> None:
    if found.shape != wanted.shape:
        sizes = " and ".join(" × ".join(map(str, one.shape)) for one in (found, wanted))
        raise InputError(f"{path}: {name} and the encoder's are of two sizes ({sizes})", REMEDY)


def _read(path: Path) -> dict[str, Tensor]:
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    except ImportError:
        raise PackageMissing("safetensors", "models") from None
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path} holds no weights ({error})", REMEDY) from None


def _bare(weights: Weights) -> dict[str, Tensor]:
    return {name.removeprefix("bert."): weight for name, weight in weights.items()}
