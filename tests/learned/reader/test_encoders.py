"""What a reader's heads sit on: an asset, or the layers that another reader has learned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.reader import encoders, network
from fabula.learned.reader.config import Head, Pin, ReaderConfig, write_config
from fabula.learned.reader.encoders import open_encoder_of, open_hub_asset
from fabula.learned.reader.network import save_packed
from fakes.tiny_models import save_bert, save_roberta

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

TEXT = "the old cat sat by a lamp"
PIN = "1" * 64
GROWN = 1.3
NEAR = {"atol": 0.04, "rtol": 0.0}  # differences are kept in 8 bits


def about(encoder: str, **changes: Any) -> ReaderConfig:
    return ReaderConfig("tiny", Pin(encoder, PIN), 20, {"one": Head(("one",))}, {}, **changes)


def write_changed(folder: Path, base: Path, name: str) -> None:
    """Write a reader with a head whose layers are larger than those of an encoder."""
    own = open_hub_asset(name).layer_tensors()
    larger = {key: GROWN * one for key, one in own.items() if one.is_floating_point()}
    head = {"head.one.weight": torch.ones(1, 2), "head.one.bias": torch.zeros(1)}
    folder.mkdir()
    save_packed(folder / "model.safetensors", {**larger, **head}, own)
    write_config(folder, about(name))


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """An encoder, a reader whose layers lie elsewhere, and a BERT with one."""
    folders = {
        "plain": save_roberta(tmp_path / "plain"), "changed": tmp_path / "changed",
        "bert": save_bert(tmp_path / "bert"), "on_bert": tmp_path / "on_bert",
    }  # fmt: skip
    monkeypatch.setattr(encoders, "path_of", folders.__getitem__)
    pinned = SimpleNamespace(tree_sha256=PIN)
    monkeypatch.setattr(network, "get_asset", lambda name: pinned)
    write_changed(folders["changed"], folders["plain"], "plain")
    folders["on_bert"].mkdir()
    write_config(folders["on_bert"], about("bert"))
    return folders


def states_by_hand(folder: Path, text: str, layer: int) -> Any:
    """Let every weight of a model grow, and give its states after a layer: (tokens, width)."""
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        for weight in model.parameters():
            weight.mul_(GROWN)
        given = tokenizer(text, return_tensors="pt")
        return model(**given, output_hidden_states=True).hidden_states[layer][0]


@pytest.mark.parametrize("layer", [1, 2])
def test_the_encoder_of_a_reader_has_the_layers_that_it_learned(assets, layer):
    encoder = open_hub_asset("changed", layer=layer)
    [vector] = encoder.pool([encoder.ids(TEXT)])
    states = states_by_hand(assets["plain"], TEXT, layer)
    torch.testing.assert_close(vector, torch.cat([states[0], states.mean(0)]), **NEAR)
    # Layers that no state comes from are not there, and the asset itself stays as it is.
    assert len(encoder.encoder.net.encoder.layer) == layer
    plain = open_hub_asset("plain", layer=layer)
    assert (plain.pool([plain.ids(TEXT)])[0] - vector).abs().max() > 0.2


def test_a_layer_that_is_not_there_is_refused(assets):
    with pytest.raises(SettingError, match="changed has no layer 3"):
        open_hub_asset("changed", layer=3)


def test_a_reader_sits_on_the_layers_of_another(assets, tmp_path):
    encoder = open_encoder_of(tmp_path, about("changed", layer=1))
    [vector] = encoder.pool([encoder.ids(TEXT)])
    mean = states_by_hand(assets["plain"], TEXT, 1).mean(0)
    torch.testing.assert_close(vector[len(mean) :], mean, **NEAR)


def test_a_reader_on_a_bert_lends_no_layers(assets, tmp_path):
    with pytest.raises(SettingError, match="'on_bert' is not on an encoder of transformers"):
        open_encoder_of(tmp_path, about("on_bert"))


def test_a_reader_whose_encoder_is_another_now_is_refused(assets):
    elsewhere = replace(about("plain"), encoder=Pin("plain", "2" * 64))
    write_config(assets["changed"], elsewhere)
    with pytest.raises(InputError, match=r"was trained on another plain \(222222222222\)"):
        open_hub_asset("changed")
