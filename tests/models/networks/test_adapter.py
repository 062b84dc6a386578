"""Differences over a model's weights, against peft's own arithmetic."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from fabula.models.networks.adapter import AdapterError, read_adapter
from fabula.models.networks.checkpoint import Checkpoint
from fakes.tiny_models import save_gpt2, save_llama, torch

# peft asks transformers by a name that will be another.
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")


@pytest.fixture(params=[(save_llama, False), (save_llama, True), (save_gpt2, False)])
def adapted(request, tmp_path):
    """A tiny model, an adapter of random numbers that peft saved, and what peft computes."""
    torch()
    peft = pytest.importorskip("peft")

    save, rslora = request.param
    base = save(tmp_path / "base")
    net = Checkpoint(base, "tiny").model("AutoModelForCausalLM")
    targets = ["c_attn", "c_fc"] if save is save_gpt2 else ["q_proj", "v_proj", "down_proj"]
    config = peft.LoraConfig(
        r=4, lora_alpha=12, target_modules=targets, use_rslora=rslora,
        fan_in_fan_out=save is save_gpt2, task_type="CAUSAL_LM",
    )  # fmt: skip
    torch().manual_seed(3)
    wrapped = peft.get_peft_model(net, config).eval()
    for name, weight in wrapped.named_parameters():
        if "lora_" in name:
            torch().nn.init.normal_(weight, std=0.2)
    folder = tmp_path / "adapter"
    wrapped.save_pretrained(folder)
    ids = torch().arange(12)[None]
    with torch().inference_mode():
        return base, folder, ids, wrapped(input_ids=ids).logits.numpy()


def test_merged_weights_compute_what_peft_does(adapted):
    base, folder, ids, expected = adapted
    plain = Checkpoint(base, "tiny").model("AutoModelForCausalLM")
    merged = Checkpoint(base, "tiny", adapter=read_adapter(folder)).model("AutoModelForCausalLM")
    with torch().inference_mode():
        before, after = plain(input_ids=ids).logits.numpy(), merged(input_ids=ids).logits.numpy()
    assert np.abs(before - expected).max() > 0.01
    np.testing.assert_allclose(after, expected, atol=1e-5)


def test_a_difference_is_added_to_its_layer_alone(tmp_path):
    from safetensors.torch import save_file

    base = Checkpoint(save_llama(tmp_path / "base"), "tiny")
    layer = "model.layers.1.mlp.down_proj"
    down, up = torch().zeros(2, 32), torch().zeros(16, 2)
    down[0, 3], down[1, 4], up[5, 0], up[6, 1] = 0.5, 2.0, 1.0, -1.0
    name = f"base_model.model.{layer}"
    tensors = {f"{name}.lora_A.weight": down.half(), f"{name}.lora_B.weight": up.half()}
    save_file(tensors, tmp_path / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": 2, "lora_alpha": 6}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    before = base.model("AutoModelForCausalLM").state_dict()
    adapted = replace(base, adapter=read_adapter(tmp_path))
    after = adapted.model("AutoModelForCausalLM").state_dict()
    changes = {key: after[key] - before[key] for key in before}
    # alpha / rank is 3: 3 × 1 × 0.5 in row 5, 3 × -1 × 2 in row 6.
    expected = torch().zeros(16, 32)
    expected[5, 3], expected[6, 4] = 1.5, -6.0
    torch().testing.assert_close(changes.pop(f"{layer}.weight"), expected, atol=1e-6, rtol=0)
    assert not any(change.any() for change in changes.values())


def test_an_adapter_of_another_model_is_refused(adapted, tmp_path):
    base, folder, _, _ = adapted
    is_gpt2 = json.loads((base / "config.json").read_text())["model_type"] == "gpt2"
    other = (save_llama if is_gpt2 else save_gpt2)(tmp_path / "other")
    with pytest.raises(AdapterError, match="of another model"):
        Checkpoint(other, "other", adapter=read_adapter(folder)).model("AutoModelForCausalLM")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"peft_type": "IA3"}, "no LoRA adapter"),
        ({"use_dora": True}, "more than a low-rank difference"),
        ({"bias": "all"}, "more than a low-rank difference"),
        ({"r": 0}, "no rank and alpha"),
        ({"r": "many"}, "no rank and alpha"),
    ],
)
def test_adapters_that_are_no_plain_difference_are_refused(tmp_path, change, said):
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8} | change
    (tmp_path / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(AdapterError, match=said):
        read_adapter(tmp_path)


@pytest.mark.parametrize("lost", ["lora_A", "lora_B"])
def test_a_lone_matrix_is_refused(tmp_path, lost):
    torch()
    from safetensors.torch import save_file

    kept = "lora_B" if lost == "lora_A" else "lora_A"
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8}
    (tmp_path / "adapter_config.json").write_text(json.dumps(config), encoding="utf-8")
    name = f"base_model.model.model.layers.0.self_attn.q_proj.{kept}.weight"
    save_file({name: torch().zeros(4, 4)}, tmp_path / "adapter_model.safetensors")
    checkpoint = Checkpoint(save_llama(tmp_path / "base"), "tiny", adapter=read_adapter(tmp_path))
    with pytest.raises(AdapterError, match="lacks a matrix"):
        checkpoint.model("AutoModelForCausalLM")
