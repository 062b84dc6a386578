"""A BERT of three layers with random weights and a vocabulary of few words, written to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORDS = "the a cat dog ran sat home and saw old river night . , un ##do ##ing 木".split()
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WINDOW = 32


def write_tiny_bert(folder: Path, **changes: Any) -> Any:
    """Write weights and tokeniser as transformers does; give transformers' own model."""
    import torch
    from transformers import BertConfig, BertModel

    settings = {
        "vocab_size": len(SPECIAL) + len(WORDS),
        "hidden_size": 24,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 40,
        "max_position_embeddings": WINDOW,
        # Wider than usual, so that attention is far from even.
        "initializer_range": 0.5,
    }
    torch.manual_seed(0)
    model = BertModel(BertConfig(**settings | changes)).eval()
    for name, weights in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(weights)
    model.save_pretrained(folder)
    _tokenizer().save(str(folder / "tokenizer.json"))
    return model


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # MiniLM's file asks for cuts and padding too, which must not happen.
    made.enable_truncation(8)
    made.enable_padding(length=8)
    return made
