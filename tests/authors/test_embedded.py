"""The co-author that comes with Fabula: its difference by hand, its weights where they are here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabula.authors import author_spec, embedded, load_author
from fabula.authors.context.ranges import count_units
from fabula.authors.embedded import add_difference
from fabula.core.author import Author
from fabula.core.errors import SettingError, UserError
from fakes.author_contract import make_request, write
from fakes.tiny_models import save_llama, torch

LAYER = "model.layers.1.mlp.down_proj"
REST = "The keeper climbed the stairs again and counted the ships that did not come. " * 60


def save_difference(folder: Path, down: Any, up: Any, *, layer: str = LAYER, **config: Any) -> Path:
    """Write a difference as peft does."""
    from safetensors.torch import save_file

    folder.mkdir()
    name = f"base_model.model.{layer}"
    tensors = {f"{name}.lora_A.weight": down, f"{name}.lora_B.weight": up}
    save_file({key: tensor.half() for key, tensor in tensors.items()}, folder / MODEL)
    (folder / "adapter_config.json").write_text(json.dumps({"r": 2, "lora_alpha": 6, **config}))
    return folder


MODEL = "adapter_model.safetensors"


@pytest.fixture
def net(tmp_path: Path) -> Any:
    torch()
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(save_llama(tmp_path / "tiny"))


def test_a_difference_is_added_to_its_layer_alone(net, tmp_path):
    down, up = torch().zeros(2, 32), torch().zeros(16, 2)
    down[0, 3], down[1, 4], up[5, 0], up[6, 1] = 0.5, 2.0, 1.0, -1.0
    before = {name: weight.clone() for name, weight in net.state_dict().items()}
    add_difference(net, save_difference(tmp_path / "difference", down, up))
    changed = {
        name: weight - before[name]
        for name, weight in net.state_dict().items()
        if not torch().equal(weight, before[name])
    }
    # alpha / rank is 3: 3 × 1 × 0.5 in row 5, 3 × -1 × 2 in row 6.
    assert list(changed) == [f"{LAYER}.weight"]
    places = {(5, 3): 1.5, (6, 4): -6.0}
    for place in changed[f"{LAYER}.weight"].nonzero().tolist():
        value = float(changed[f"{LAYER}.weight"][tuple(place)])
        assert value == pytest.approx(places.pop(tuple(place)), abs=1e-6)
    assert not places


def test_a_difference_that_does_not_fit_is_refused(net, tmp_path):
    down, up = torch().zeros(2, 32), torch().zeros(16, 2)
    for number, (wrong, config) in enumerate(
        [({"layer": "model.layers.9.mlp.down_proj"}, {}), ({}, {"r": 0}), ({}, {"lora_alpha": "x"})]
    ):
        folder = save_difference(tmp_path / str(number), down, up, **wrong, **config)
        with pytest.raises(SettingError, match="does not go with the weights"):
            add_difference(net, folder)
    narrow = save_difference(tmp_path / "narrow", torch().zeros(2, 7), up)
    with pytest.raises(SettingError, match="does not go with the weights"):
        add_difference(net, narrow)


def test_peft_makes_the_same_model_of_it(net, tmp_path):
    peft = pytest.importorskip("peft")
    torch().manual_seed(7)
    config = peft.LoraConfig(r=2, lora_alpha=6, target_modules=["q_proj", "down_proj"])
    adapted = peft.get_peft_model(net, config)
    for name, weight in adapted.named_parameters():
        if "lora_" in name:
            torch().nn.init.normal_(weight, std=0.3)
    adapted.save_pretrained(tmp_path / "peft")
    ids = torch().tensor([[5, 6, 7]])
    wanted = adapted(input_ids=ids).logits
    from transformers import AutoModelForCausalLM

    plain = AutoModelForCausalLM.from_pretrained(tmp_path / "tiny")
    add_difference(plain, tmp_path / "peft")
    torch().testing.assert_close(plain(input_ids=ids).logits, wanted, atol=1e-4, rtol=1e-4)


def test_who_asks_for_weights_that_are_not_here_is_told_of_the_plain_ones(monkeypatch):
    monkeypatch.setattr(embedded, "_STORIES", "no_such_asset")
    with pytest.raises(UserError, match=r"embedded\(weights='plain'\)"):
        load_author("embedded(weights='stories')").startup()


def test_its_settings_are_checked():
    assert author_spec("embedded(dtype='fp32')") == "embedded"
    assert isinstance(load_author("embedded(threads=1)"), Author)
    for wrong in ("dtype='fp64'", "window=3", "batch=0", "threads=0", "weights='other'"):
        with pytest.raises(SettingError):
            load_author(f"embedded({wrong})")


@pytest.fixture(scope="module")
def smollm2() -> Any:
    torch()
    author = load_author("embedded(weights='plain')")
    author.startup()
    yield author
    author.shutdown()


@pytest.mark.assets
def test_smollm2_reads_as_transformers_does(smollm2):
    from fabula.models.networks.llama import Llama

    loop = smollm2._loop
    assert isinstance(loop.decoder, Llama)
    net = smollm2.checkpoint.model("AutoModelForCausalLM")
    ids = smollm2._make_prompt(make_request(text=REST[:400])).ids
    state = loop.decoder.open_state()
    loop.decoder.advance([state], [ids[:-9]])
    logits = loop.decoder.advance([state], [ids[-9:]])[0]
    with torch().inference_mode():
        wanted = net(input_ids=torch().tensor([ids])).logits[0, -1]
    torch().testing.assert_close(logits, wanted, atol=1e-4, rtol=1e-4)


@pytest.mark.assets
def test_smollm2_writes_english_and_reads_a_prefix_once(smollm2):
    request = make_request(wanted="words=-12", text=REST)
    smollm2.preprocess(request.context)
    kept = smollm2._loop.prefixes.take(request.context.story, smollm2._make_prompt(request).ids)
    assert len(kept.ids) == len(smollm2._make_prompt(request).ids) - 1
    written = write(smollm2, request)["r"]
    assert written.status == "done"
    assert 3 <= count_units(written.text, "words") <= 12
    assert written.text.isascii()
