"""A tiny GGUF file, written by the gguf package, becomes what transformers loads."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fabula.models import AssetError
from fabula.models.store import convert
from fabula.models.store.convert import CONVERSIONS

gguf = pytest.importorskip("gguf")
transformers = pytest.importorskip("transformers")
pytest.importorskip("torch")
pytest.importorskip("accelerate")
safetensors = pytest.importorskip("safetensors")

WIDTH = 32
SHAPES = {
    "token_embd": (4, WIDTH),
    "output_norm": (WIDTH,),
    "blk.0.attn_norm": (WIDTH,),
    "blk.0.attn_q": (WIDTH, WIDTH),
    "blk.0.attn_k": (WIDTH, WIDTH),
    "blk.0.attn_v": (WIDTH, WIDTH),
    "blk.0.attn_output": (WIDTH, WIDTH),
    "blk.0.ffn_norm": (WIDTH,),
    "blk.0.ffn_gate": (WIDTH, WIDTH),
    "blk.0.ffn_up": (WIDTH, WIDTH),
    "blk.0.ffn_down": (WIDTH, WIDTH),
}


def write_gguf(path: Path, pre: str = "smollm") -> dict[str, np.ndarray]:
    """Write a llama of one layer, its matrices in 4 bits; give what they stand for."""
    file = gguf.GGUFWriter(path, "llama")
    file.add_context_length(32)
    file.add_embedding_length(WIDTH)
    file.add_block_count(1)
    file.add_feed_forward_length(WIDTH)
    file.add_head_count(2)
    file.add_head_count_kv(2)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_rope_freq_base(50_000.0)
    file.add_rope_dimension_count(16)
    file.add_vocab_size(4)
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre(pre)
    file.add_add_bos_token(False)
    file.add_token_list(["<|endoftext|>", "a", "b", "ab"])
    file.add_token_types([3, 1, 1, 1])
    file.add_token_merges(["a b"])
    file.add_chat_template("{{ messages }}")
    file.add_bos_token_id(0)
    file.add_eos_token_id(0)
    meant = {name: _add_tensor(file, name, shape) for name, shape in SHAPES.items()}
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return meant


def _add_tensor(file: object, name: str, shape: tuple[int, ...]) -> np.ndarray:
    values = np.random.default_rng(len(name)).normal(size=shape).astype(np.float32)
    if len(shape) == 1:
        file.add_tensor(f"{name}.weight", values)  # type: ignore[attr-defined]
        return values
    kind = gguf.GGMLQuantizationType.Q4_1
    packed = gguf.quants.quantize(values, kind)
    file.add_tensor(f"{name}.weight", packed, raw_dtype=kind)  # type: ignore[attr-defined]
    return np.asarray(gguf.quants.dequantize(packed, kind))


def test_a_gguf_file_becomes_a_model_in_32_bits(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    meant = write_gguf(source / "tiny.gguf")
    (source / "LICENSE").write_text("do as you like")
    said: list[str] = []
    CONVERSIONS["gguf"].run(source, target, said.append)
    assert len(said) == 3
    assert capfd.readouterr() == ("", "")
    names = {path.name for path in target.iterdir()}
    assert {"LICENSE", "config.json", "model.safetensors", "tokenizer.json"} <= names
    assert "tiny.gguf" not in names
    assert str(tmp_path) not in (target / "config.json").read_text()
    assert "quantization" not in (target / "config.json").read_text()
    # Where transformers before 5 looks; without it, it takes 10,000.
    assert json.loads((target / "config.json").read_text())["rope_theta"] == 50_000
    model = transformers.AutoModelForCausalLM.from_pretrained(target)
    weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    assert (weights["model.embed_tokens.weight"] == meant["token_embd"]).all()
    assert (weights["lm_head.weight"] == meant["token_embd"]).all()
    assert (weights["model.layers.0.mlp.up_proj.weight"] == meant["blk.0.ffn_up"]).all()
    tokenizer = transformers.AutoTokenizer.from_pretrained(target)
    assert tokenizer("abab")["input_ids"] == [3, 3]
    assert tokenizer("ab<|endoftext|>a")["input_ids"] == [3, 0, 1]
    assert tokenizer.bos_token == tokenizer.eos_token == "<|endoftext|>"
    assert tokenizer.chat_template == "{{ messages }}"
    assert tokenizer.decode([3, 1]) == "aba"


def test_a_tokenizer_that_is_not_known_is_refused(tmp_path: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf", pre="another")
    with pytest.raises(AssetError, match=r"not known: \('gpt2', 'another', False\)"):
        CONVERSIONS["gguf"].run(tmp_path, tmp_path, print)


def test_a_folder_without_one_gguf_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssetError, match="there are 0 GGUF files"):
        CONVERSIONS["gguf"].run(tmp_path, tmp_path, print)


def test_safetensors_on_a_full_disk_is_a_full_disk(tmp_path: Path) -> None:
    def fail(_: Path) -> None:
        raise safetensors.SafetensorError("I/O error: No space left on device (os error 28)")

    model = SimpleNamespace(save_pretrained=fail)
    with pytest.raises(OSError) as caught:
        convert._save(None, model, tmp_path)
    assert caught.value.errno == errno.ENOSPC
