"""Tiny models of pictures with random weights, saved as a user's would be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.tiny_models import save_wordpiece, torch

LABELS = {0: "cat", 1: "N/A", 2: "dog"}


def save_vit(folder: Path, kind: str = "ViTForImageClassification") -> Path:
    """Save a ViT of two layers, sixteen wide, for pictures of 32 pixels."""
    transformers = _seeded(6)
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        image_size=32, patch_size=8, id2label=LABELS, label2id={}, initializer_range=0.5,
    )  # fmt: skip
    getattr(transformers, kind)(config).save_pretrained(folder)
    return _save_processor(folder, transformers.ViTImageProcessor, {"height": 32, "width": 32})


def save_resnet(folder: Path) -> Path:
    """Save a ResNet of two stages, whose pooling has no weights."""
    transformers = _seeded(7)
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic"
    )
    transformers.ResNetModel(config).save_pretrained(folder)
    return _save_processor(folder, transformers.ViTImageProcessor, {"height": 32, "width": 32})


def save_clip(folder: Path) -> Path:
    """Save a CLIP of one layer, whose space is eight wide; it reads sixteen tokens."""
    transformers = _seeded(8)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    sizes["intermediate_size"] = 16
    words = save_wordpiece(folder)
    text = {"vocab_size": words, "bos_token_id": 2, "eos_token_id": 3, "pad_token_id": 0}
    config = transformers.CLIPConfig(
        text_config={**sizes, **text, "max_position_embeddings": 16},
        vision_config={**sizes, "image_size": 32, "patch_size": 8},
        projection_dim=8,
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    return _save_processor(folder, transformers.ViTImageProcessor, {"height": 32, "width": 32})


def save_yolos(folder: Path) -> Path:
    """Save a YOLOS of two layers that finds twelve things of two kinds."""
    transformers = _seeded(9)
    config = transformers.YolosConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        image_size=[32, 48], patch_size=8, num_detection_tokens=12, id2label=LABELS, label2id={},
        initializer_range=0.5,
    )  # fmt: skip
    transformers.YolosForObjectDetection(config).save_pretrained(folder)
    size = {"shortest_edge": 32, "longest_edge": 64}
    return _save_processor(folder, transformers.YolosImageProcessor, size)


def _seeded(seed: int) -> Any:
    torch().manual_seed(seed)
    pytest.importorskip("PIL")
    import transformers

    transformers.logging.set_verbosity_error()
    return transformers


def _save_processor(folder: Path, kind: Any, size: dict[str, int]) -> Path:
    kind(size=size).save_pretrained(folder)
    return folder
