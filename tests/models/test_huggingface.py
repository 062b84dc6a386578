from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import PackageMissing, SettingError, UserError
from fabula.models import _runtime, huggingface
from fabula.models.huggingface import load
from fabula.models.networks.checkpoint import Checkpoint, CheckpointError
from fakes.tiny_models import TEXTS, save_bert, save_gpt2, save_t5


@pytest.fixture(scope="module")
def bert(tmp_path_factory: Any) -> Path:
    return save_bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.mark.parametrize(
    ("save", "task"),
    [(save_bert, "masked"), (save_gpt2, "causal"), (save_t5, "seq2seq")],
    ids=["bert", "gpt2", "t5"],
)
def test_the_task_is_that_of_the_head_in_the_checkpoint(
    save: Any, task: str, tmp_path: Path
) -> None:
    assert f",{task},window=" in load(str(save(tmp_path))).signature


def test_a_checkpoint_without_a_head_is_an_encoder(tmp_path: Path) -> None:
    model: Any = load(str(save_bert(tmp_path, "BertModel")))
    assert ",encoder,window=64/48" in model.signature
    assert next(model.states(TEXTS, [1])).states.shape[2] == 16


def test_a_head_that_the_checkpoint_lacks_is_refused(tmp_path: Path) -> None:
    model: Any = load(str(save_bert(tmp_path, "BertModel")), task="masked")
    with pytest.raises(CheckpointError, match=r"does not hold cls\.predictions.*random") as caught:
        list(model.masked_logs(TEXTS))
    assert "\n" not in str(caught.value)


def test_a_causal_head_is_not_made_of_an_encoder(bert: Path) -> None:
    model: Any = load(str(bert), task="seq2seq")
    with pytest.raises(UserError):
        list(model.logs([("a", "b")]))


def test_an_encoder_may_lack_the_pooler_alone(bert: Path) -> None:
    model: Any = load(str(bert), task="encoder")
    both: Any = load(str(bert))
    a, b = next(model.states(TEXTS, [2])), next(both.states(TEXTS, [2]))
    np.testing.assert_allclose(a.states, b.states, atol=1e-6)


def test_a_weight_that_is_not_there_is_named(tmp_path: Path) -> None:
    file = save_bert(tmp_path) / "model.safetensors"
    from safetensors.torch import load_file, save_file

    tensors = load_file(file)
    del tensors["bert.encoder.layer.1.output.dense.weight"]
    save_file(tensors, file, metadata={"format": "pt"})
    model: Any = load(str(tmp_path))
    with pytest.raises(CheckpointError, match=r"encoder\.layer\.1\.output\.dense\.weight"):
        list(model.masked_logs(TEXTS))


def test_damaged_weights_are_one_line(tmp_path: Path) -> None:
    file = save_bert(tmp_path) / "model.safetensors"
    file.write_bytes(file.read_bytes()[:5000])
    model: Any = load(str(tmp_path))
    with pytest.raises(CheckpointError, match="are damaged"):
        list(model.masked_logs(TEXTS))


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    folder = save_bert(tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    model: Any = load(str(folder))
    with pytest.raises(CheckpointError, match=r"only pickled weights \(\.bin\)"):
        list(model.masked_logs(TEXTS))


def test_a_model_of_the_hub_without_safetensors_says_so(tmp_path: Path) -> None:
    folder = save_bert(tmp_path)
    (folder / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"org/model has no safetensors on the hub.*FOLDER"):
        Checkpoint(folder, "org/model", "0" * 40).model("AutoModelForMaskedLM")


def test_code_that_comes_with_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    folder = save_bert(tmp_path)
    config = json.loads((folder / "config.json").read_text())
    config["model_type"] = "mine"
    config["auto_map"] = {"AutoConfig": "evil.Config", "AutoModelForMaskedLM": "evil.Model"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text("raise SystemExit('run')")
    model: Any = load(str(folder), window=32)
    with pytest.raises(CheckpointError):
        list(model.masked_logs(TEXTS))


def test_the_signature_changes_with_all_that_values_depend_on(tmp_path: Path) -> None:
    first = save_bert(tmp_path / "a").rename(tmp_path / "bert")
    signatures = {
        load(str(first)).signature,
        load(str(first), dtype="bf16").signature,
        load(str(first), window=32).signature,
        load(str(first), stride=8).signature,
        load(str(first), task="encoder").signature,
    }
    assert len(signatures) == 5
    assert str(tmp_path) not in "".join(signatures)
    again = tmp_path / "elsewhere"
    again.mkdir()
    other = save_bert(again / "bert")
    assert load(str(other)).signature == load(str(first)).signature
    (other / "tokenizer_config.json").write_text("{}")
    assert load(str(other)).signature != load(str(first)).signature


def test_bf16_is_near_fp32(bert: Path, bf16: Any) -> None:
    exact, rough = load(str(bert)), load(str(bert), dtype=bf16)
    a, b = next(exact.masked_logs(TEXTS)).logs, next(rough.masked_logs(TEXTS)).logs
    assert 0 < np.abs(a - b).max() < 0.5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"window": 65}, "reads at most 64 tokens, not 65"),
        ({"window": 32, "stride": 33}, "stride of 33 leaves gaps"),
        ({"window": 3}, "window=3 will not do"),
        ({"dtype": "int3"}, "dtype='int3' will not do"),
        ({"task": "paint"}, "task='paint' will not do"),
        ({"revision": "main"}, "a folder has no revision"),
    ],
)
def test_settings_that_will_not_do_are_refused(
    bert: Path, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(SettingError, match=words):
        load(str(bert), **settings)


def test_a_device_that_is_not_here_is_refused(bert: Path) -> None:
    model: Any = load(str(bert), device="cuda:77")
    with pytest.raises(SettingError, match="no device 'cuda:77'"):
        model.vectors(TEXTS)


def test_a_folder_that_is_not_there_is_said_to_be(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no folder"):
        load(str(tmp_path / "gone"))


def test_a_folder_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no config\.json"):
        load(str(tmp_path))


def test_a_checkpoint_without_a_tokeniser_is_refused(tmp_path: Path) -> None:
    folder = save_bert(tmp_path)
    for file in folder.glob("token*"):
        file.unlink()
    model: Any = load(str(folder))
    with pytest.raises(CheckpointError):
        list(model.masked_logs(TEXTS))


@pytest.mark.parametrize("variable", ["FABULA_OFFLINE", "HF_HUB_OFFLINE"])
def test_offline_the_hub_is_not_asked(variable: str, tmp_path: Path, monkeypatch: Any) -> None:
    hub = FakeHub(None)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setenv(variable, "1")
    with pytest.raises(
        CheckpointError, match="not whole in the hub's cache, and the network is forbidden"
    ):
        load("somebody/tiny")
    assert hub.asked == ["cache"]


def test_a_hub_name_is_taken_from_the_cache_and_pinned_by_its_commit(
    tmp_path: Path, monkeypatch: Any
) -> None:
    hub = FakeHub(save_bert(tmp_path / "0123abcd"))
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert "somebody/tiny@0123abcd,fp32" in load("somebody/tiny").signature
    assert hub.asked == ["cache"]


def test_a_download_says_so_and_its_failure_is_one_line(monkeypatch: Any, capsys: Any) -> None:
    hub = FakeHub(None)
    monkeypatch.setattr(huggingface, "_refusals", {})
    for variable in ("FABULA_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    with pytest.raises(CheckpointError, match=r"the hub did not give tiny \(no such thing\)"):
        load("tiny")
    assert capsys.readouterr().err == "tiny: getting it from the hub\n"
    assert hub.asked == ["cache", "hub"]
    # Other metrics ask for the same model, and the network is not tried again for each.
    with pytest.raises(CheckpointError, match=r"the hub did not give tiny \(no such thing\)"):
        load("tiny", window=16)
    assert (hub.asked, capsys.readouterr().err) == (["cache", "hub", "cache"], "")
    monkeypatch.setattr(huggingface, "ASK_AGAIN_S", 0.0)
    with pytest.raises(CheckpointError, match="the hub did not give tiny"):
        load("tiny")
    assert hub.asked[-1] == "hub"
    assert not any(pattern.endswith(".bin") for pattern in hub.patterns)


def test_a_download_that_was_broken_off_is_taken_up_again(
    tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    for variable in ("FABULA_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    folder = save_bert(tmp_path / "0123abcd")
    index = {"weight_map": {"a": "model.safetensors", "b": "model-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    hub = FakeHub(folder)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    load("somebody/tiny")
    assert hub.asked == ["cache", "hub"]
    assert "getting it from the hub" in capsys.readouterr().err


class FakeHub:
    """The one function of the hub's client that is used; the rest makes it look like a module."""

    __spec__ = object()

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.asked: list[str] = []
        self.patterns: list[str] = []

    def snapshot_download(self, name: str, **settings: Any) -> str:
        self.asked.append("cache" if settings.get("local_files_only") else "hub")
        self.patterns = settings["allow_patterns"]
        if self.folder is None:
            raise OSError("no such thing\nand more")
        return str(self.folder)


def test_a_package_that_is_absent_is_named_with_its_extra() -> None:
    with pytest.raises(PackageMissing, match=r"no_such_thing is not installed.*\.\[models\]"):
        _runtime.package("no_such_thing")


def test_what_was_trained_to_be_read_from_the_first_token_is(tmp_path: Path) -> None:
    folder = save_bert(tmp_path, "BertModel")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    model: Any = load(str(folder))
    first = next(model.states(TEXTS, [2])).states[0, 0]
    np.testing.assert_allclose(
        model.vectors(TEXTS[:1])[0], first / np.linalg.norm(first), atol=1e-6
    )


def test_the_encoder_of_a_seq2seq_model_gives_vectors(tmp_path: Path) -> None:
    model: Any = load(str(save_t5(tmp_path)), task="encoder")
    assert (model.width, model.layers) == (16, 3)
    assert next(model.states(TEXTS, [0, 2])).states.shape[::2] == (2, 16)
