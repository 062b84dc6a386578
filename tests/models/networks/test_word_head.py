"""The layer that makes logits of states, asked of those that count alone."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from fabula.models.networks.word_head import find_word_head  # noqa: E402

SMALL = {"vocab_size": 40, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1}
SMALL |= {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8}


def test_a_llamas_logits_are_its_heads_outputs():
    torch.manual_seed(1)
    net = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SMALL)).train()
    head = find_word_head(net)
    assert head is net.lm_head
    assert net.training
    net.eval()
    ids = torch.tensor([[5, 6, 7, 8]])
    states = net.model(input_ids=ids).last_hidden_state
    assert torch.allclose(head(states), net(input_ids=ids).logits, atol=1e-6)


def test_a_model_that_bounds_its_logits_has_no_head_to_ask_alone():
    torch.manual_seed(1)
    config = transformers.Gemma2Config(**SMALL, final_logit_softcapping=0.1)
    assert find_word_head(transformers.Gemma2ForCausalLM(config)) is None
