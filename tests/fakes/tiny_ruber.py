"""A tiny RUBER on the fake encoder, and made-up vectors that one can learn from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fabula.learned.ruber_model.network import Bounds, RuberConfig, write_ruber_config
from fabula.learned.training.ruber import RuberRecipe
from fabula.learned.training.ruber_pairs import PARTS, PooledPairs

WIDTH, HIDDEN = 16, 4
RECIPE = RuberRecipe(
    model="fake()",
    layer=1,
    pooling="max",
    hidden=8,
    rows=16,
    rate=5e-3,
    epochs=12,
    patience=0,
    dropout=0.0,
)


def write_ruber(folder: Path, *, seed: int = 0, **about: Any) -> Path:
    """A folder as a training leaves it, with random weights."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    shapes = {
        "between": (WIDTH, WIDTH),
        "inner.prompt": (WIDTH, HIDDEN),
        "inner.story": (WIDTH, HIDDEN),
        "inner.between": (HIDDEN,),
        "inner.bias": (HIDDEN,),
        "outer.weight": (HIDDEN, 2),
        "outer.bias": (2,),
    }
    weights = {name: rng.normal(0, 0.3, shape) for name, shape in shapes.items()}
    for one in ("prompt", "story"):
        weights |= {f"{one}.mean": np.zeros(WIDTH), f"{one}.deviation": np.ones(WIDTH)}
    save_file({k: v.astype(np.float16) for k, v in weights.items()}, folder / "model.safetensors")
    usual = {"unreferenced": Bounds(0.0, 1.0), "referenced": Bounds(-1.0, 1.0)}
    write_ruber_config(
        folder, RuberConfig(model="fake()", layer=1, pooling="max", **(usual | about))
    )
    return folder


def made_up_pairs(seed: int = 0, *, width: int = 6, noise: float = 0.3) -> PooledPairs:
    """Stories are their prompts, turned and blurred; two stories share a prompt."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(width, width)))[0]
    prompts, stories, items, first = {}, {}, {}, 0
    for part, count in zip(PARTS, (300, 60, 60), strict=True):
        numbers = np.repeat(np.arange(first, first + count // 2), 2)
        first += count
        q = np.repeat(rng.normal(size=(count // 2, width)), 2, axis=0).astype(np.float32)
        r = (q @ turn + rng.normal(0, noise, q.shape)).astype(np.float32)
        prompts[part], stories[part], items[part] = q, r, numbers
    return PooledPairs(prompts, stories, items, {"sha256": f"made up {seed}"})
