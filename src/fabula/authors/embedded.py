"""The co-author that comes with Fabula: SmolLM2-135M, adapted to stories or plain."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from fabula.authors.sampling.author import (
    Count,
    Megabytes,
    SampledAuthor,
    SamplingSettings,
    Tokens,
)

if TYPE_CHECKING:
    from fabula.models.networks.checkpoint import Checkpoint

# Packages that must be there, as pip names them.
REQUIRES = ("torch>=2.4", "transformers>=4.45", "safetensors>=0.4", "tokenizers>=0.20")
# Files of the store without which it cannot write.
ASSETS = ("smollm2", "smollm2_stories")

Weights = Literal["stories", "plain"]
_ASSETS: dict[Weights, str] = {"stories": "smollm2_stories", "plain": "smollm2"}


def load(
    *,
    weights: Weights = "stories",
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
        # Tried both ways: the plain model, an assistant, writes better stories when it is asked.
        SamplingSettings(window, batch, cache_mb, threads, is_chat=weights == "plain"),
    )


def _find_checkpoint(weights: Weights, dtype: Literal["fp32", "bf16"]) -> Checkpoint:
    """Where the weights lie; those adapted to stories are a difference from the plain ones."""
    from fabula.models import AssetError
    from fabula.models.embedded import load as load_model
    from fabula.models.networks.causal import CausalModel

    try:
        model = load_model(_ASSETS[weights], dtype=dtype)
    except AssetError as error:
        # Without the plain weights there are none adapted either.
        if repr(_ASSETS["stories"]) not in error.problem:
            raise
        remedy = f"{error.remedy}, or take the plain ones: embedded(weights='plain')"
        raise AssetError(error.problem, remedy) from error
    assert isinstance(model, CausalModel)
    return model.checkpoint
