"""A small difference over a model's weights (LoRA, Hu et al., 2022), added when they are loaded.

The folder is as peft keeps one: `adapter_config.json`, and in `adapter_model.safetensors` two thin
matrices for every layer that was adapted, A (rank × in) and B (out × rank). What the layer computes
with is W + scale · B A; once added, the model is an ordinary one, and peft is not needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.core.errors import UserError
from fabula.core.plain import read_json, read_tensors
from fabula.models._runtime import package

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
_PREFIX = "base_model.model."
_REMEDY = "get it again, or name a folder that peft's save_pretrained wrote"
# Kinds of adapters that are more than a difference of two matrices a layer.
_UNKNOWN = ("use_dora", "modules_to_save", "rank_pattern", "alpha_pattern", "layer_replication")


class AdapterError(UserError):
    """An adapter that cannot be used as it stands."""


@dataclass(frozen=True)
class Adapter:
    """Where a difference lies, the model that it belongs to, and by how much it counts."""

    folder: Path
    model: str
    scale: float
    is_transposed: bool  # layers that keep their weights in × out, as GPT-2's do

    def merge_into(self, net: Any) -> None:
        """Add the difference to the weights of a model, in full precision."""
        torch = package("torch")
        tensors = read_tensors(self.folder / WEIGHTS, remedy=_REMEDY)
        with torch.no_grad():
            for layer, (down, up) in _pair_matrices(tensors, self.folder).items():
                weight = self._find_weight(net, layer)
                down, up = (part.to(weight.device, torch.float32) for part in (down, up))
                difference = self.scale * up @ down  # (out, in)
                difference = difference.T if self.is_transposed else difference
                if difference.shape != weight.shape:
                    self._refuse(f"{layer} is {tuple(weight.shape)}")
                weight.copy_((weight.float() + difference).to(weight.dtype))

    def _find_weight(self, net: Any, layer: str) -> Any:
        try:
            return net.get_submodule(layer).weight
        except AttributeError:
            self._refuse(f"there is no layer {layer}")

    def _refuse(self, reason: str) -> Any:
        raise AdapterError(
            f"the adapter in {self.folder} is of another model ({reason})",
            f"it belongs to {self.model}",
        )


def read_adapter(folder: Path) -> Adapter:
    """Read what an adapter says of itself; one of another kind than LoRA's is refused."""
    config = read_json(folder / CONFIG, remedy=_REMEDY)
    if not isinstance(config, dict) or str(config.get("peft_type")).upper() != "LORA":
        raise AdapterError(f"{folder} holds no LoRA adapter", _REMEDY)
    other = [name for name in _UNKNOWN if config.get(name)]
    other += ["bias"] if config.get("bias", "none") != "none" else []
    if other:
        raise AdapterError(
            f"the adapter in {folder} is more than a low-rank difference ({', '.join(other)})",
            "merge it with peft (merge_and_unload), save that, and name its folder",
        )
    try:
        rank, alpha = int(config["r"]), float(config["lora_alpha"])
        scale = alpha / (rank**0.5 if config.get("use_rslora") else rank)
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise AdapterError(f"{folder / CONFIG} says no rank and alpha", _REMEDY) from None
    model = str(config.get("base_model_name_or_path") or "")
    return Adapter(folder, model, scale, bool(config.get("fan_in_fan_out")))


def _pair_matrices(tensors: Mapping[str, Any], folder: Path) -> dict[str, tuple[Any, Any]]:
    """Give the two matrices of every layer, by the layer's name."""
    parts: dict[str, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        layer, sign, kind = name.removeprefix(_PREFIX).rpartition(".lora_")
        if not sign or kind not in ("A.weight", "B.weight"):
            raise AdapterError(f"{folder / WEIGHTS} holds {name}, which is not known", _REMEDY)
        parts.setdefault(layer, {})[kind[0]] = tensor
    lone = [layer for layer, pair in parts.items() if len(pair) != 2]
    if lone or not parts:
        raise AdapterError(f"{folder / WEIGHTS} lacks a matrix of {lone or 'all'}", _REMEDY)
    for layer, pair in parts.items():
        if pair["A"].ndim != 2 or pair["B"].ndim != 2 or pair["B"].shape[1] != len(pair["A"]):
            raise AdapterError(f"{folder / WEIGHTS}: {layer} does not fit together", _REMEDY)
    return {layer: (pair["A"], pair["B"]) for layer, pair in parts.items()}
