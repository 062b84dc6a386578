"""Any causal model of the hub or of a folder as a co-author: GPT-2, Llama, Qwen, one's own."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fabula.authors.sampling.author import (
    Count,
    Megabytes,
    SampledAuthor,
    SamplingSettings,
    Tokens,
)
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from fabula.models.networks.checkpoint import Checkpoint

# Packages that must be there, as pip names them.
REQUIRES = ("torch>=2.4", "transformers>=4.45", "safetensors>=0.4", "huggingface_hub>=0.24")

Dtype = Literal["fp32", "bf16", "fp16"]


def load(
    name: str,
    *,
    dtype: Dtype = "fp32",
    device: str = "auto",
    chat: bool = False,
    revision: str | None = None,
    threads: Count | None = None,
    window: Tokens = 999,
    batch: Count = 8,
    cache_mb: Megabytes = 1024,
) -> SampledAuthor:
    """Take a model by its name in the hub or its folder, such as `fabula train author` writes.

    With `chat` a model that was trained as an assistant is asked for the story. `window` is how
    many tokens of a context are shown, `batch` how many texts are written at once, `cache_mb` the
    memory for what was read of stories, `threads` those of the whole process.
    """
    return SampledAuthor(
        partial(find_checkpoint, name, dtype, device, revision),
        SamplingSettings(window, batch, cache_mb, threads, chat),
    )


def find_checkpoint(name: str, dtype: Dtype, device: str, revision: str | None) -> Checkpoint:
    """Where the weights lie; those of the hub are fetched, unless they are here."""
    from fabula.models.huggingface import load as load_model
    from fabula.models.networks.causal import CausalModel
    from fabula.models.networks.segmented import CONFIG

    if (Path(name).expanduser() / CONFIG).is_file():
        problem = f"{name} was trained with segments, and would be shown none"
        raise SettingError(problem, f"say storium({name!r})")
    model = load_model(name, dtype=dtype, device=device, revision=revision)
    if not isinstance(model, CausalModel):
        raise SettingError(f"{name} does not write on from left to right", "take a causal model")
    return model.checkpoint
