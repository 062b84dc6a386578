"""Readers on a tiny BERT, against transformers; windows, order, what is kept, what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError, UnknownName
from fabula.learned.reader import inference, network
from fabula.learned.reader.inference import Reader, load_reader, open_reader
from fabula.learned.reader.network import load_packed
from fabula.models.networks.encoder import PooledBert

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from fakes.tiny_reader import ABOUT, write_encoder, write_reader  # noqa: E402

SHORT, LONG = "The cat sat, undoing a river.", "the old dog ran home and saw a cat . " * 9
TEXTS = [SHORT, LONG, "home", "a \ud83d dog", SHORT, "the night river " * 9]
PAIRS = [("the cat sat .", "a dog ran home ."), ("a dog ran .", "the cat sat ."), ("the", LONG)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, PooledBert, Path]:
    """transformers' model with the reader's layers, the encoder, and the reader's folder."""
    folder: Path = tmp_path_factory.mktemp("encoder")
    model, encoder = write_encoder(folder)
    write_reader(folder / "reader", encoder)
    weights = load_packed(folder / "reader" / "model.safetensors", encoder.layer_tensors())
    layers = {name: one for name, one in weights.items() if not name.startswith("head.")}
    model.load_state_dict(layers, strict=False)
    return model, encoder, folder / "reader"


@pytest.fixture
def reader(tiny: tuple[Any, PooledBert, Path]) -> Iterator[Reader]:
    yield open_reader(tiny[2], tiny[1])


def plain_vector(model: Any, ids: list[int], kinds: list[int]) -> Any:
    with torch.inference_mode():
        found = model(torch.tensor([ids]), token_type_ids=torch.tensor([kinds]))
    rows = found.last_hidden_state[0]
    return torch.cat([rows[0], rows.mean(0)])


def test_heads_on_windows_equal_those_on_transformers(tiny: Any, reader: Reader) -> None:
    model, encoder, folder = tiny
    weights = load_packed(folder / "model.safetensors", encoder.layer_tensors())
    ids = encoder.ids(LONG)
    # 90 tokens in windows of at most 20: five of 18.
    parts = [ids[start : start + 18] for start in (0, 18, 36, 54, 72)]
    vectors = torch.stack([plain_vector(model, [2, *p, 3], [0] * (len(p) + 2)) for p in parts])
    wanted = vectors @ weights["head.preference.weight"].T + weights["head.preference.bias"]
    inner = vectors @ weights["head.order.inner.weight"].T + weights["head.order.inner.bias"]
    outer = inner.tanh() @ weights["head.order.outer.weight"].T + weights["head.order.outer.bias"]
    [found] = reader.window_outputs([LONG])
    np.testing.assert_allclose(found["preference"], wanted.numpy(), rtol=0, atol=1e-5)
    np.testing.assert_allclose(found["order"], outer.numpy(), rtol=0, atol=1e-5)
    [mean] = reader.outputs([LONG])
    np.testing.assert_allclose(mean["order"], outer.mean(0).numpy(), rtol=0, atol=1e-5)


def test_heads_on_pairs_equal_those_on_transformers(tiny: Any, reader: Reader) -> None:
    model, encoder, folder = tiny
    weights = load_packed(folder / "model.safetensors", encoder.layer_tensors())
    found = reader.pair_outputs(PAIRS, "preference")
    assert found.shape == (3, 1)
    for pair, value in zip(PAIRS, found[:, 0], strict=True):
        # 64 places leave room for 30 tokens of either text.
        one, other = (encoder.ids(text)[:30] for text in pair)
        kinds = [0] * (len(one) + 2) + [1] * (len(other) + 1)
        vector = plain_vector(model, [2, *one, 3, *other, 3], kinds)
        wanted = vector @ weights["head.preference.weight"][0] + weights["head.preference.bias"][0]
        assert value == pytest.approx(float(wanted), abs=1e-5)


def test_a_cut_sentence_lowers_the_coverage_of_a_pair(reader: Reader) -> None:
    assert reader.pair_coverage(["the cat sat .", "a dog ran home ."]) == 1.0
    # 1 of 1 and 30 of 90 tokens.
    assert reader.pair_coverage(["the", LONG]) == pytest.approx(31 / 91)
    assert reader.pair_coverage([""]) == 1.0


def test_outputs_do_not_depend_on_order_or_company(tiny: Any, reader: Reader) -> None:
    together = reader.outputs(TEXTS)
    backwards = open_reader(tiny[2], tiny[1]).outputs(TEXTS[::-1])[::-1]
    for text, one, other in zip(TEXTS, together, backwards, strict=True):
        [alone] = open_reader(tiny[2], tiny[1]).outputs([text])
        for head in one:
            np.testing.assert_allclose(one[head], other[head], rtol=0, atol=1e-5)
            np.testing.assert_allclose(one[head], alone[head], rtol=0, atol=1e-5)


def test_a_long_text_is_read_in_chunks_to_the_same_end(
    tiny: Any, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = reader.window_outputs(TEXTS)
    monkeypatch.setattr(network, "CHUNK_TOKENS", 30)
    monkeypatch.setattr(network, "CHUNK_PAIRS", 2)
    again = open_reader(tiny[2], tiny[1])
    for one, other in zip(found, again.window_outputs(TEXTS), strict=True):
        np.testing.assert_allclose(one["order"], other["order"], rtol=0, atol=1e-5)
    pairs = reader.pair_outputs(PAIRS, "order")
    np.testing.assert_allclose(again.pair_outputs(PAIRS, "order"), pairs, rtol=0, atol=1e-5)


def test_a_text_without_a_token_has_no_outputs(reader: Reader) -> None:
    [windows] = reader.window_outputs([""])
    assert windows["order"].shape == (0, 2)
    assert np.isnan(reader.outputs([""])[0]["order"]).all()
    assert np.isnan(reader.raw("preference", ["", SHORT])).tolist() == [True, False]
    assert reader.outputs([]) == []


def test_what_was_read_is_not_read_again(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    first, pairs = reader.outputs(TEXTS), reader.pair_outputs(PAIRS, "order")

    def fail(*_: Any) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(network.ReaderNetwork, "window_outputs", fail)
    monkeypatch.setattr(network.ReaderNetwork, "pair_outputs", fail)
    again = reader.outputs(TEXTS[::-1])[::-1]
    assert all(np.array_equal(a["order"], b["order"]) for a, b in zip(first, again, strict=True))
    assert np.array_equal(reader.pair_outputs(PAIRS, "order"), pairs)


def test_values_are_those_of_the_scale(reader: Reader) -> None:
    # weight 2, mean 0.5, deviation 4
    wanted = [2 * (one["preference"][0] - 0.5) / 4 for one in reader.outputs(TEXTS)]
    assert reader.raw("preference", TEXTS).tolist() == pytest.approx(wanted)
    values = reader.values(["preference", "preference"], TEXTS)
    assert values.shape == (len(TEXTS), 2)
    assert values[:, 1].tolist() == pytest.approx(wanted)


def test_what_the_weights_have_not_is_for_the_user_to_mend(reader: Reader) -> None:
    with pytest.raises(SettingError, match="no scale 'union'; take others; these have: preference"):
        reader.raw("union", [SHORT])
    with pytest.raises(SettingError, match="no head 'union'; take others"):
        reader.pair_outputs(PAIRS, "union")


def test_the_signature_holds_a_digest_of_the_files(tiny: Any, tmp_path: Path) -> None:
    _, encoder, folder = tiny
    first = open_reader(folder, encoder).signature
    assert first.startswith("tiny@")
    assert first.endswith(",features=1")
    write_reader(tmp_path / "same", encoder)
    assert open_reader(tmp_path / "same", encoder).signature == first
    write_reader(tmp_path / "other", encoder, seed=1)
    assert open_reader(tmp_path / "other", encoder).signature != first


def test_windows_that_the_encoder_cannot_read_are_refused(tiny: Any, tmp_path: Path) -> None:
    write_reader(tmp_path, tiny[1], about=replace(ABOUT, window=63))
    with pytest.raises(InputError, match=r"windows of 63 tokens are too long.*longest are 62"):
        open_reader(tmp_path, tiny[1])


def test_a_head_without_weights_is_refused(tiny: Any, tmp_path: Path) -> None:
    write_reader(tmp_path, tiny[1])
    file = tmp_path / "reader.json"
    plain = json.loads(file.read_text(encoding="utf-8"))
    plain["heads"]["order"]["hidden"] = 7
    file.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(InputError, match=r"holds no head\.order\.inner\.weight of 7 × 48"):
        open_reader(tmp_path, tiny[1])


def test_a_reader_is_loaded_once_and_again_when_its_files_change(
    tiny: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inference, "_loaded", {})
    monkeypatch.setattr(inference, "load_pooled_bert", lambda name: tiny[1])
    monkeypatch.setattr(inference, "check_encoder", lambda folder, pin: None)
    write_reader(tmp_path, tiny[1])
    first = load_reader(str(tmp_path))
    assert load_reader(f"{tmp_path}/.") is first
    write_reader(tmp_path, tiny[1], seed=1)
    assert load_reader(str(tmp_path)).signature != first.signature


def test_a_reader_on_another_encoder_is_refused(tiny: Any) -> None:
    with pytest.raises(InputError, match=r"another story_encoder \(000000000000\)"):
        load_reader(str(tiny[2]))


def test_what_is_no_reader_is_one_line(tmp_path: Path) -> None:
    for name, kind, message in [
        ("raeder", UnknownName, "no asset is called 'raeder', nor is there such a folder"),
        (str(tmp_path / "gone"), SettingError, "there is no folder"),
        (str(tmp_path), InputError, "holds no reader"),
    ]:
        with pytest.raises(kind, match=message) as caught:
            load_reader(name)
        assert "\n" not in str(caught.value)


def test_trainings_below_a_folder_are_named(tmp_path: Path) -> None:
    for name in ("01/seed-10", "01/seed-2", "02"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "joint.json").write_text("{}")
    named = ", ".join(str(tmp_path / name) for name in ("02", "01/seed-2", "01/seed-10"))
    with pytest.raises(InputError, match=f"name one: {named}$"):
        load_reader(str(tmp_path))
    for number in range(7):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "reader.json").write_text("{}")
    with pytest.raises(InputError, match=f"name one: {tmp_path / '0'}, .* and 4 more$"):
        load_reader(str(tmp_path))


def test_windows_overlap_where_they_did_in_training(tiny: Any, reader: Reader) -> None:
    stack = network.open_network(tiny[2], replace(reader.config, overlap=True), tiny[1])
    [found] = stack.window_outputs([LONG])
    ids = tiny[1].ids(LONG)
    [wanted] = reader.source.window_outputs([tiny[1].tokenizer.decode(ids[18:38])])
    np.testing.assert_allclose(found["order"][1], wanted["order"][0], rtol=0, atol=1e-5)
