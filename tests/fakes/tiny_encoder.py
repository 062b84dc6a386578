"""A tiny encoder with random weights and a corpus of made-up word pieces."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from fabula.learned.training.corpus import TokenCorpus
from fabula.learned.training.encoder import EncoderRecipe
from fabula.learned.training.examples import TokenSet, token_set

CONFIG = {
    "vocab_size": 200,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 32,
}
RECIPE = EncoderRecipe(
    frozen=(),
    sources=("made_up",),
    held_out={"made_up": 8},
    left_out=(),
    steps=30,
    rows=4,
    window=32,
    peak_rate=2e-2,
    evaluate_every=10,
    checkpoint_every=10,
    report_every=10,
)


def write_encoder(folder: Path) -> Path:
    """An encoder's folder as `fabula models pull` leaves it: no head, no prefix in the names."""
    import torch
    from safetensors.torch import save_file

    from fabula.learned.training.bert import Shape, new_weights

    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text("{}")
    weights = new_weights(Shape(**CONFIG), seed=1)
    kept = {k.removeprefix("bert."): w for k, w in weights.items() if k.startswith("bert.")}
    kept["embeddings.position_ids"] = torch.arange(32)[None]
    save_file(kept, folder / "model.safetensors")
    return folder


def counting_texts(count: int, seed: int) -> TokenSet:
    """Texts that count up from a number: what is hidden follows from what is not."""
    rng = np.random.default_rng(seed)
    starts, sizes = rng.integers(110, 150, count), rng.integers(5, 45, count)
    return token_set([list(range(a, a + n)) for a, n in zip(starts, sizes, strict=True)])


def made_up_corpus() -> TokenCorpus:
    sets = {"made_up": counting_texts(60, 0)}, {"made_up": counting_texts(8, 1)}
    return TokenCorpus(*sets, {"made_up": {"trained on": 60}})
