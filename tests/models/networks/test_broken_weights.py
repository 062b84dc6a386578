"""Files of weights that are not whole: one line names the file and says what to do."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.core.errors import InputError, UserError
from fabula.models import huggingface
from fabula.models.networks.bert import load_bert
from fabula.models.networks.checkpoint import CheckpointError
from fabula.models.networks.encoder import load_tokenizer

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from fakes.tampering import copy_fresh  # noqa: E402
from fakes.tiny_bert import write_tiny_bert  # noqa: E402
from fakes.tiny_models import save_bert  # noqa: E402

WEIGHTS, CONFIG, WORDS = "model.safetensors", "config.json", "tokenizer.json"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("sound")
    write_tiny_bert(folder)
    return folder


def cut(path: Path) -> None:
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])


def claim_much(path: Path) -> None:
    path.write_bytes(struct.pack("<Q", 1 << 60) + path.read_bytes()[8:])


def spoil(path: Path) -> None:
    """Make the first numbers NaN."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    path.write_bytes(raw[:start] + b"\xff" * 8 + raw[start + 8 :])


def change(name: str, value: object) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(json.dumps(json.loads(path.read_text()) | {name: value}))

    return write


def nest(path: Path) -> None:
    path.write_text("[" * 100_000)


@pytest.mark.parametrize(
    ("file", "break_it", "words"),
    [
        (WEIGHTS, cut, "is no whole file of weights"),
        (WEIGHTS, Path.unlink, r"cannot be read \(No such file"),
        (WEIGHTS, claim_much, r"is no whole file of weights \(.*header"),
        (WEIGHTS, spoil, "holds what is no number"),
        (CONFIG, cut, "config.json is no JSON"),
        (CONFIG, nest, "config.json is no JSON"),
        (CONFIG, Path.unlink, "config.json cannot be read"),
        (CONFIG, change("num_hidden_layers", 10**18), "num_hidden_layers will not do"),
        (CONFIG, change("num_hidden_layers", 4), r"it has no 'encoder\.layer\.3"),
        (CONFIG, change("num_attention_heads", 5), "weights do not go together"),
        (CONFIG, change("layer_norm_eps", "small"), "layer_norm_eps will not do"),
    ],
)
def test_an_encoder_that_is_not_whole_is_refused_by_name(
    sound: Path, tmp_path: Path, file: str, break_it: Callable[[Path], None], words: str
) -> None:
    folder = copy_fresh(sound, tmp_path / "copy")
    break_it(folder / file)
    with pytest.raises(InputError, match=words) as caught:
        load_bert(folder)
    assert str(folder) in str(caught.value) and "get it again" in str(caught.value)


@pytest.mark.parametrize("break_it", [cut, nest, Path.unlink])
def test_a_tokeniser_that_is_not_whole_is_refused_by_name(
    sound: Path, tmp_path: Path, break_it: Callable[[Path], None]
) -> None:
    folder = copy_fresh(sound, tmp_path / "copy")
    break_it(folder / WORDS)
    with pytest.raises(InputError, match=r"tokenizer.json cannot be loaded \(.*get it again"):
        load_tokenizer(folder)


def test_a_tokeniser_that_makes_its_package_panic_is_refused(sound: Path, tmp_path: Path) -> None:
    folder = copy_fresh(sound, tmp_path / "copy")
    plain = json.loads((folder / WORDS).read_text())
    plain["post_processor"]["special_tokens"] = {}
    (folder / WORDS).write_text(json.dumps(plain))
    with pytest.raises(InputError, match=r"tokenizer.json cannot be loaded"):
        load_tokenizer(folder)


def test_a_tokeniser_of_more_words_than_the_model_is_refused(sound: Path) -> None:
    with pytest.raises(InputError, match="has words that the model of 9 does not know"):
        load_tokenizer(sound, 9)


@pytest.mark.parametrize(
    ("file", "break_it", "words"),
    [
        (WEIGHTS, cut, "weights of copy are damaged"),
        (WEIGHTS, claim_much, "weights of copy are damaged"),
        (WEIGHTS, spoil, "damaged .*holds what is no number"),
        (CONFIG, change("num_hidden_layers", 10**18), "num_hidden_layers is 1000000000000000000"),
        (CONFIG, change("hidden_dropout_prob", math.nan), "hidden_dropout_prob is nan"),
        (CONFIG, change("attention_probs_dropout_prob", -3), "attention_probs_dropout_prob is -3"),
        (CONFIG, change("relative_attention_max_distance", 0), "max_distance is 0"),
        (CONFIG, change("num_hidden_layers", -2), "num_hidden_layers is -2"),
        (CONFIG, change("hidden_size", 10**18), "hidden_size is 1000000000000000000"),
        (CONFIG, change("max_position_embeddings", "many"), "'many' positions"),
        (CONFIG, change("hidden_act", 5), "copy cannot be loaded"),
        (WORDS, cut, "the tokeniser of copy cannot be loaded"),
        (WORDS, nest, "the tokeniser of copy cannot be loaded"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_folder_of_transformers_that_is_not_whole_is_refused(
    tmp_path: Path, file: str, break_it: Callable[[Path], None], words: str
) -> None:
    folder = save_bert(tmp_path / "copy")
    break_it(folder / file)
    with pytest.raises(CheckpointError, match=words):
        huggingface.load(str(folder), task="encoder").vectors(["the cat sat"])


def test_a_network_in_onnx_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    from fabula.models.networks.seq2seq import OnnxT5

    for name in ("encoder.onnx", "decoder.onnx", WORDS):
        (tmp_path / name).write_bytes(b"{}")
    with pytest.raises(UserError, match=r"cannot be loaded .*get it again"):
        list(OnnxT5(tmp_path, "tiny", 16, 8).logs([("the cat", "a cat")]))
