"""Low-rank differences beside the layers of a model (LoRA), added and written as peft does."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import PackageMissing, SettingError
from fabula.core.files import write_text
from fabula.learned.training.folder import write_tensors

if TYPE_CHECKING:
    from fabula.learned.training.author import AuthorRecipe


def add_differences(net: Any, recipe: AuthorRecipe, name: str) -> Any:
    """Put low-rank differences beside layers (LoRA, Hu et al., 2022); only they learn."""
    try:
        import peft
    except ImportError:
        raise PackageMissing("peft", "train") from None
    config = peft.LoraConfig(
        r=recipe.rank,
        lora_alpha=recipe.alpha,  # type: ignore[arg-type]
        lora_dropout=recipe.lora_dropout,
        target_modules=list(recipe.targets) or "all-linear",
        task_type="CAUSAL_LM",
    )
    try:
        with warnings.catch_warnings():
            # peft asks transformers by a name that will be another: nothing a user could mend.
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            adapted: Any = peft.get_peft_model(net, config)
    except ValueError as error:
        problem = f"{name} has no layers {', '.join(recipe.targets) or 'to adapt'} ({error})"
        raise SettingError(problem, "mend targets in the recipe") from None
    # Not the folder, which is of this machine.
    adapted.peft_config["default"].base_model_name_or_path = name
    return adapted


def save_differences(net: Any, folder: Path) -> None:
    """Write the differences alone, in half precision and in peft's own form."""
    import peft
    import torch

    folder.mkdir(exist_ok=True)
    tensors = peft.get_peft_model_state_dict(net, save_embedding_layers=False)
    halves = {name: tensor.to(torch.float16) for name, tensor in tensors.items()}
    write_tensors(folder / "adapter_model.safetensors", halves, {})
    config = net.peft_config["default"].to_dict()
    config |= {"inference_mode": True, "target_modules": sorted(config["target_modules"])}
    text = json.dumps(config, indent=1, sort_keys=True, default=str)
    write_text(folder / "adapter_config.json", text + "\n")
