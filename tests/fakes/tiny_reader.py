"""A reader of random weights on a tiny BERT, written to a folder as a training would leave it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fabula.learned.reader.config import Head, Pin, ReaderConfig, Scale, Term, write_config
from fabula.learned.reader.network import save_packed
from fabula.models.networks.bert import load_bert
from fabula.models.networks.encoder import PooledBert, load_tokenizer
from fakes.tiny_bert import write_tiny_bert

WINDOW = 20
HEADS = {"preference": Head(("preference",)), "order": Head(("order", "other"), 6)}
ABOUT = ReaderConfig(
    "tiny",
    Pin("story_encoder", "0" * 64),
    WINDOW,
    HEADS,
    {"preference": Scale((Term("preference", 0, 2.0, 0.5, 4.0),))},
)


def write_encoder(folder: Path) -> tuple[Any, PooledBert]:
    """Write a tiny BERT in half precision; give it as transformers' model and as ours."""
    model = write_tiny_bert(folder, max_position_embeddings=64)
    model.half().save_pretrained(folder)
    ours = PooledBert(load_bert(folder), *load_tokenizer(folder), batch_tokens=128)
    return model.float().eval(), ours


def write_reader(
    folder: Path, encoder: PooledBert, seed: int = 0, about: ReaderConfig = ABOUT
) -> None:
    """Write a reader whose layers lie a little away from the encoder's."""
    import torch

    draw = torch.Generator().manual_seed(seed)
    own = encoder.layer_tensors()
    weights = {k: one + torch.randn(one.shape, generator=draw) / 20 for k, one in own.items()}
    for name, size in {
        "head.preference": (1, encoder.width),
        "head.order.inner": (6, encoder.width),
        "head.order.outer": (2, 6),
    }.items():
        weights[f"{name}.weight"] = torch.randn(size, generator=draw) / 4
        weights[f"{name}.bias"] = torch.randn(size[:1], generator=draw)
    folder.mkdir(exist_ok=True)
    save_packed(folder / "model.safetensors", weights, own)
    write_config(folder, about)
