"""An encoder made into an encoder-decoder: its layers stand on both sides.

So (Rothe, Narayan and Severyn, 2020, TACL 8, 264–280) the joint model can be trained where no
encoder-decoder is at hand. Attention of the decoder to the encoder begins at random, and so does
what it guesses words by, unless the encoder was left with what it guessed hidden words by.
"""

from __future__ import annotations

from copy import deepcopy
from importlib import import_module
from typing import Any

from fabula.core.errors import InputError, SettingError

# Encoders of transformers whose layers may also look at another's states.
DECODERS = ("bert", "roberta", "xlm-roberta", "camembert", "electra", "data2vec-text")


def join_decoder(checkpoint: Any) -> Any:
    """Give the encoder of a checkpoint with a decoder of the same layers."""
    transformers: Any = import_module("transformers")
    kind = checkpoint.shape.model_type
    if kind not in DECODERS:
        problem = f"{checkpoint.name} has no decoder, and a {kind} cannot be given one"
        raise SettingError(problem, "take a LED, BART or T5, or make one of a BERT or RoBERTa")
    names = checkpoint.config.get("architectures") or ()
    is_masked = any(str(name).endswith("ForMaskedLM") for name in names)
    kind = "AutoModelForMaskedLM" if is_masked else "AutoModel"
    known = checkpoint.model(kind, unused="pooler")
    shape = deepcopy(checkpoint.shape)
    shape.is_decoder = shape.add_cross_attention = True
    encoder = transformers.AutoModel.from_config(checkpoint.shape)
    decoder = transformers.AutoModelForCausalLM.from_config(shape)
    # What is not known (cross-attention, a pooler) stays as it was drawn.
    encoder.load_state_dict(known.base_model.state_dict(), strict=False)
    other = decoder if is_masked else decoder.base_model
    other.load_state_dict(known.state_dict(), strict=False)
    decoder.tie_weights()
    net = transformers.EncoderDecoderModel(encoder=encoder, decoder=decoder)
    _name_signs(net, checkpoint)
    return net.to(checkpoint.torch_device).eval()


def _name_signs(net: Any, checkpoint: Any) -> None:
    """Say which signs a text of the decoder begins and ends with, and what fills it up."""
    around = checkpoint.tokenizer("")["input_ids"]
    if len(around) < 2:
        problem = f"the tokeniser of {checkpoint.name} puts no signs before and after a text"
        raise InputError(problem, "take another encoder")
    first, last, pad = around[0], around[-1], checkpoint.tokenizer.pad_token_id
    signs = {"decoder_start_token_id": first, "bos_token_id": first, "eos_token_id": last}
    for config in (net.config, net.generation_config):
        for name, value in (signs | {"pad_token_id": last if pad is None else pad}).items():
            setattr(config, name, value)


def resize_embeddings(net: Any, size: int) -> None:
    """Make room for so many tokens on both sides; a joined model does not do it by itself."""
    for part in (net.encoder, net.decoder) if is_joined(net) else (net,):
        part.resize_token_embeddings(size)


def is_joined(net: Any) -> bool:
    """Whether it is an encoder and a decoder that were models by themselves."""
    return bool(net.config.model_type == "encoder-decoder")
