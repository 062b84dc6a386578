"""Our BERT against `BertModel` of transformers, layer by layer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.models._runtime import own_device
from fabula.models.networks import bert as networks_bert
from fabula.models.networks.bert import load_bert
from fakes.assets import need_asset

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from fakes.tiny_bert import write_tiny_bert  # noqa: E402

TEXTS = [[2, 5, 3], [2, 6, 3], [2, *range(5, 20), 3], [2, 9, 10, 11, 3], [2, *[7] * 30]]
LENGTHS = [len(ids) for ids in TEXTS]


def reference(model: Any, ids: list[int]) -> Any:
    """Hidden states of one text alone, by layer."""
    with torch.inference_mode():
        return model(torch.tensor([ids]), output_hidden_states=True).hidden_states


@pytest.mark.parametrize("act", ["gelu", "gelu_new"])
def test_every_layer_equals_that_of_transformers(tmp_path: Path, act: str) -> None:
    model = write_tiny_bert(tmp_path, hidden_act=act)
    found = load_bert(tmp_path)(TEXTS, [0, 1, 2, 3])
    for layer, rows in enumerate(found):
        for ids, part in zip(TEXTS, rows.split(LENGTHS), strict=True):
            torch.testing.assert_close(part, reference(model, ids)[layer][0], rtol=0, atol=1e-5)


def test_layers_come_in_the_order_asked_for_and_do_not_share_memory(tmp_path: Path) -> None:
    write_tiny_bert(tmp_path)
    bert = load_bert(tmp_path)
    last, first = bert(TEXTS, [3, 1])
    assert torch.equal(first, bert(TEXTS, [1])[0])
    assert torch.equal(last, bert(TEXTS, [3])[0])
    assert not torch.equal(first, last)


def test_a_checkpoint_with_a_head_is_read_without_it(tmp_path: Path) -> None:
    write_tiny_bert(tmp_path / "plain")
    plain = load_bert(tmp_path / "plain")
    config = transformers.BertConfig.from_pretrained(tmp_path / "plain")
    head = transformers.BertForMaskedLM(config)
    weights = transformers.BertModel.from_pretrained(tmp_path / "plain").state_dict()
    head.bert.load_state_dict(weights, strict=False)
    head.save_pretrained(tmp_path / "head")
    found = load_bert(tmp_path / "head")(TEXTS, [3])[0]
    torch.testing.assert_close(found, plain(TEXTS, [3])[0], rtol=0, atol=0)


def test_bf16_is_near(tmp_path: Path, bf16: Any) -> None:
    write_tiny_bert(tmp_path, initializer_range=0.1)
    exact, coarse = (load_bert(tmp_path, dtype=kind)(TEXTS, [3])[0] for kind in ("fp32", bf16))
    assert coarse.dtype == torch.bfloat16
    cosines = torch.nn.functional.cosine_similarity(exact, coarse.float())
    assert cosines.min() > 0.995


@pytest.mark.parametrize(("name", "value"), [("model_type", "roberta"), ("hidden_act", "relu")])
def test_what_is_no_such_encoder_is_refused(tmp_path: Path, name: str, value: str) -> None:
    write_tiny_bert(tmp_path)
    file = tmp_path / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {name: value}))
    with pytest.raises(InputError, match=f"{name} is '{value}'"):
        load_bert(tmp_path)


def test_a_checkpoint_that_lacks_a_layer_is_refused(tmp_path: Path) -> None:
    write_tiny_bert(tmp_path)
    file = tmp_path / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"num_hidden_layers": 4}))
    with pytest.raises(InputError, match=r"encoder\.layer\.3"):
        load_bert(tmp_path)


@pytest.mark.assets
def test_minilm_equals_transformers_at_every_layer() -> None:
    folder = need_asset("minilm")
    model = transformers.BertModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    story = "The old man walked down to the river, and nobody saw him again that night. "
    texts = [tokenizer(text)["input_ids"] for text in ("A cat sat.", story, story * 25)]
    found = load_bert(folder)(texts, range(7))
    for layer, rows in enumerate(found):
        for ids, part in zip(texts, rows.split([len(ids) for ids in texts]), strict=True):
            torch.testing.assert_close(part, reference(model, ids)[layer][0], rtol=0, atol=1e-5)


def test_an_encoder_that_was_moved_gives_the_same_and_larger_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A copy on the processor stands for one on a GPU, which few machines have.
    write_tiny_bert(tmp_path)
    bert, moved = load_bert(tmp_path), load_bert(tmp_path)
    monkeypatch.setitem(vars(moved), "placed", networks_bert._move(moved, "cpu"))
    assert moved.placed is not moved
    for one, other in zip(bert(TEXTS, [0, 3]), moved(TEXTS, [0, 3]), strict=True):
        assert torch.equal(one, other)
    assert (bert.fit_batch(10), moved.fit_batch(10)) == (10, 320)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_states_are_those_of_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny_bert(tmp_path)
    near = load_bert(tmp_path)(TEXTS, [3])[0]
    monkeypatch.setenv("FABULA_DEVICE", "cuda")
    torch.testing.assert_close(load_bert(tmp_path)(TEXTS, [3])[0], near, rtol=0, atol=1e-4)


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for device, said in (("tpu", "say cpu or cuda"), ("cuda", "torch sees none")):
        monkeypatch.setenv("FABULA_DEVICE", device)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        with pytest.raises(SettingError, match=said):
            own_device()
