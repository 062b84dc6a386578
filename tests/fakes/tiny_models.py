"""Tiny models with random weights, and tokenisers of made-up text, saved as a user's would be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

WORDS = (
    "the a cat sat on mat and dog ran away from house old sailor saw light at sea in winter night "
    "she said never again they went home . , !"
).split()
TEXTS = [
    "The old sailor saw a light at sea.",
    "cat dog cat dog cat",
    "she said : never again !",
    "They went home, and the dog ran away from the mat in the winter night.",
]


def torch() -> Any:
    """torch, or a skipped test where it is not installed."""
    pytest.importorskip("transformers")
    return pytest.importorskip("torch")


def save_wordpiece(folder: Path) -> int:
    """Save a tokeniser like BERT's; gives the size of its vocabulary."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = [*letters, *(f"##{letter}" for letter in letters)]
    signs = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys([*signs, *WORDS, *pieces]))}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
        sep_token="[SEP]", mask_token="[MASK]",
    ).save_pretrained(folder)  # fmt: skip
    return len(vocabulary)


def save_bytes(folder: Path, *, end: bool = False, begin: bool = False) -> int:
    """Save a tokeniser like GPT-2's, like T5's with an end to each text, or like BART's."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=["<pad>", "</s>", *(["<s>"] if begin else [])],
        initial_alphabet=alphabet, show_progress=False,
    )  # fmt: skip
    made.train_from_iterator([" ".join(WORDS)] * 3, trainer)
    if end:
        single = "<s> $A </s>" if begin else "$A </s>"
        pair = "<s> $A </s> </s> $B </s>" if begin else "$A </s> $B </s>"
        made.post_processor = processors.TemplateProcessing(
            single=single, pair=pair, special_tokens=[("</s>", 1), *([("<s>", 2)] if begin else [])]
        )
    PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>"
    ).save_pretrained(folder)
    return made.get_vocab_size()


def save_bert(folder: Path, kind: str = "BertForMaskedLM", *, positions: int = 64) -> Path:
    """Save a BERT of two layers, sixteen wide."""
    torch().manual_seed(1)
    import transformers

    config = transformers.BertConfig(
        vocab_size=save_wordpiece(folder), hidden_size=16, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=32, max_position_embeddings=positions,
        initializer_range=0.5,
    )  # fmt: skip
    getattr(transformers, kind)(config).save_pretrained(folder)
    return folder


def save_albert(folder: Path, *, positions: int = 64) -> Path:
    """Save an ALBERT of two layers that share their weights, sixteen wide."""
    torch().manual_seed(6)
    import transformers

    config = transformers.AlbertConfig(
        vocab_size=save_wordpiece(folder), embedding_size=8, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=32, max_position_embeddings=positions,
        initializer_range=0.5,
    )  # fmt: skip
    transformers.AlbertModel(config).save_pretrained(folder)
    return folder


def save_roberta(folder: Path, *, positions: int = 66) -> Path:
    """Save a RoBERTa of two layers, without kinds of tokens; two signs stand between two texts."""
    torch().manual_seed(7)
    import transformers

    config = transformers.RobertaConfig(
        vocab_size=save_bytes(folder, end=True, begin=True), hidden_size=16, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=32, max_position_embeddings=positions,
        type_vocab_size=1, bos_token_id=2, eos_token_id=1, pad_token_id=0, initializer_range=0.5,
    )  # fmt: skip
    transformers.RobertaModel(config).save_pretrained(folder)
    return folder


def save_gpt2(folder: Path, *, positions: int = 64) -> Path:
    """Save a GPT-2 of two layers."""
    torch().manual_seed(2)
    import transformers

    config = transformers.GPT2Config(
        vocab_size=save_bytes(folder), n_embd=16, n_layer=2, n_head=2, n_positions=positions,
        bos_token_id=1, eos_token_id=1, initializer_range=0.5,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def save_llama(folder: Path, *, positions: int = 64) -> Path:
    """Save a Llama of two layers, whose positions are turned rather than added."""
    torch().manual_seed(3)
    import transformers

    config = transformers.LlamaConfig(
        vocab_size=save_bytes(folder), hidden_size=16, num_hidden_layers=2, intermediate_size=32,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=positions,
        bos_token_id=1, eos_token_id=1, pad_token_id=0, initializer_range=0.5,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def save_t5(folder: Path) -> Path:
    """Save a T5 of two layers."""
    torch().manual_seed(4)
    import transformers

    config = transformers.T5Config(
        vocab_size=save_bytes(folder, end=True), d_model=16, d_kv=8, d_ff=32, num_layers=2,
        num_heads=2, decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
        initializer_factor=2.0,
    )  # fmt: skip
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def save_bart(folder: Path, *, positions: int = 64, begin: bool = False) -> Path:
    """Save a BART of one layer, whose positions are bounded; texts may have a beginning."""
    torch().manual_seed(5)
    import transformers

    config = transformers.BartConfig(
        vocab_size=save_bytes(folder, end=True, begin=begin), d_model=16, encoder_layers=1,
        decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
        decoder_ffn_dim=32, max_position_embeddings=positions, decoder_start_token_id=1,
        pad_token_id=0, bos_token_id=1, eos_token_id=1, forced_eos_token_id=1, init_std=0.5,
    )  # fmt: skip
    transformers.BartForConditionalGeneration(config).save_pretrained(folder)
    return folder
