"""Weights that were cut off, mixed up or made up: a model, or one line for the user; nothing else.

`make fuzz` goes on for longer; `FABULA_FUZZ_SEED` draws others.
"""

from __future__ import annotations

import random
import re
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import UserError
from fabula.learned.reader.domain import describe_domain, describe_oddities
from fakes.fuzzing import rounds, seeded
from fakes.tampering import copy_fresh, tamper

TEXT = "the old dog ran home and saw a cat ."
DOMAIN = describe_domain([TEXT * count for count in range(1, 61)])
Load = Callable[[Path], Any]


@contextmanager
def bounded_memory(gigabytes: float) -> Iterator[None]:
    """Let no more memory be asked for than the process has now and so much."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    used = pages * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + int(gigabytes * 2**30), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def tamper_and_load(sound: Path, work: Path, load: Load, *, count: int) -> None:
    """Spoil a copy so many times, and load it; only a user's error may come of it."""
    draw: random.Random = seeded(f"weights {sound.name}")
    load(copy_fresh(sound, work))
    refused = 0
    for number in range(count):
        folder = copy_fresh(sound, work)
        done = tamper(folder, draw)
        try:
            with bounded_memory(2):
                load(folder)
        except UserError as error:
            refused += 1
            assert "\n" not in str(error)
        except BaseException as error:
            error.add_note(f"round {number}, {done}")
            raise
    assert refused > count / 4


def test_a_ruber(tmp_path: Path) -> None:
    from fabula.learned.ruber_model.network import load_ruber
    from fakes.tiny_ruber import write_ruber

    def load(folder: Path) -> None:
        model = load_ruber(str(folder))
        first, second = model.pool([TEXT, "home"])
        model.chance(first, second)
        describe_oddities(TEXT, model.config.domain)

    sound = write_ruber(tmp_path / "ruber", domain=DOMAIN)
    tamper_and_load(sound, tmp_path / "work", load, count=rounds(300))


def test_a_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    from fabula.learned.reader import inference
    from fakes.tiny_reader import ABOUT, write_encoder, write_reader

    _, encoder = write_encoder(tmp_path / "encoder")
    write_reader(tmp_path / "reader", encoder, about=replace(ABOUT, domain=DOMAIN))
    monkeypatch.setattr(inference, "load_pooled_bert", lambda name: encoder)
    monkeypatch.setattr(inference, "check_encoder", lambda folder, pin: None)

    def load(folder: Path) -> None:
        monkeypatch.setattr(inference, "_loaded", {})
        reader = inference.load_reader(str(folder))
        reader.values(list(reader.config.scales), [TEXT])
        reader.warnings(TEXT)

    tamper_and_load(tmp_path / "reader", tmp_path / "work", load, count=rounds(150))


def test_an_encoder_of_ours(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from fabula.models.networks.bert import load_bert
    from fabula.models.networks.encoder import Encoder, load_tokenizer
    from fakes.tiny_bert import write_tiny_bert

    write_tiny_bert(tmp_path / "bert")

    def load(folder: Path) -> None:
        bert = load_bert(folder)
        tokenizer, edges = load_tokenizer(folder, len(bert.words))
        window = min(bert.longest, 32)
        if window > 4:
            Encoder(bert, tokenizer, edges, "tiny", window, 2, len(bert.stack)).vectors([TEXT])

    tamper_and_load(tmp_path / "bert", tmp_path / "work", load, count=rounds(300))


def test_the_weights_a_training_begins_from(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from fabula.learned.training.bert import load_weights, read_shape
    from fakes.tiny_encoder import write_encoder

    def load(folder: Path) -> None:
        load_weights(folder, read_shape(folder), seed=0)

    sound = write_encoder(tmp_path / "encoder")
    (sound / "tokenizer.json").unlink()
    tamper_and_load(sound, tmp_path / "work", load, count=rounds(150))


@pytest.mark.filterwarnings("ignore")
def test_a_folder_of_transformers(tmp_path: Path) -> None:
    from fabula.models import huggingface
    from fakes.tiny_models import save_bert

    def load(folder: Path) -> None:
        huggingface.load(str(folder), task="encoder").vectors([TEXT])

    sound = save_bert(tmp_path / "hub")
    tamper_and_load(sound, tmp_path / "work", load, count=rounds(60))


@pytest.mark.filterwarnings("ignore")
def test_a_joint_training(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    from fabula.learned.joint.config import OUTPUTS, JointConfig, write_joint_config
    from fabula.learned.joint.network import open_joint
    from fakes.tiny_joint import save_calm_t5
    from fakes.tiny_models import torch

    sound = save_calm_t5(tmp_path / "joint")
    heads = {
        f"head.{name}.{part}": torch().zeros(*size)
        for name, outputs in OUTPUTS.items()
        for part, size in {"weight": (len(outputs), 16), "bias": (len(outputs),)}.items()
    }
    save_file(heads, sound / "heads.safetensors")
    write_joint_config(sound, JointConfig("t5", 48, tuple(OUTPUTS)))

    def load(folder: Path) -> None:
        _, _, source = open_joint(folder)
        list(source.window_outputs([TEXT]))

    tamper_and_load(sound, tmp_path / "work", load, count=rounds(20))


def test_word_vectors(tmp_path: Path) -> None:
    from fabula.models.word_vectors import load as load_vectors

    sound = tmp_path / "vectors"
    sound.mkdir()
    np.save(sound / "vectors.npy", np.eye(3, 4, dtype=np.float32))
    (sound / "words.txt").write_text("the\nold\ndog\n", encoding="utf-8")

    def load(folder: Path) -> None:
        load_vectors(str(folder)).rows(["the", "dog", "cat"])

    tamper_and_load(sound, tmp_path / "work", load, count=rounds(100))
    (sound / "vectors.npy").unlink()
    (sound / "words.txt").write_text("3 2\nthe 1 2\nold 3 4\ndog 5 6\n", encoding="utf-8")
    tamper_and_load(
        sound,
        tmp_path / "work",
        lambda folder: load_vectors(str(folder / "words.txt")),
        count=rounds(100),
    )


def test_a_regressor_of_s3(tmp_path: Path) -> None:
    from fabula.metrics.s3_regression.features import FEATURES, FEATURES_VERSION
    from fabula.metrics.s3_regression.regressor import Regressor, load_regressor

    count = len(FEATURES)
    made = Regressor(
        "gold", FEATURES_VERSION, "fake", 0.8, (0.0,) * count, (1.0,) * count,
        ((0.1,) * count, (0.2,) * count), (1.0, -1.0), 0.5, 0.25, ("0" * 12,),
    )  # fmt: skip
    (tmp_path / "s3").mkdir()
    made.save(tmp_path / "s3" / "mine.json")

    def load(folder: Path) -> None:
        regressor = load_regressor(str(folder / "mine.json"))
        regressor.predict(np.zeros((1, count)))
        assert regressor.digest

    tamper_and_load(tmp_path / "s3", tmp_path / "work", load, count=rounds(150))


@pytest.fixture
def asset_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder in a store of its own of an asset of one file."""
    from fabula.models import add
    from fabula.models.store import asset

    source, declared = tmp_path / "source", tmp_path / "declared"
    source.mkdir()
    declared.mkdir()
    (source / "config.json").write_text('{"a": 1}', encoding="utf-8")
    digest = asset.tree_sha256(asset.file_hashes(source))
    facts = {"title": "t", "licence": "l", "source": "s", "used_for": "u", "tree_sha256": digest}
    lines = [f'{name} = "{fact}"' for name, fact in (facts | {"name": "toy"}).items()]
    (declared / "toy.toml").write_text("\n".join([*lines, "size = 8", "places = []"]))
    monkeypatch.setattr(asset, "FOLDER", declared)
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    return add("toy", source)


def test_an_asset_of_the_store_and_its_manifest(asset_folder: Path, tmp_path: Path) -> None:
    from fabula.models import path_of, verify

    asset_folder.rename(tmp_path / "sound")

    def load(work: Path) -> None:
        copy_fresh(work, asset_folder)
        state = verify("toy").state
        path_of("toy")
        # What is used is whole, whatever the manifest says; files beside it are not read.
        assert (asset_folder / "config.json").read_text() == '{"a": 1}', state

    tamper_and_load(tmp_path / "sound", tmp_path / "work", load, count=rounds(150))


def test_a_tar_of_assets(asset_folder: Path, tmp_path: Path) -> None:
    from fabula.models import export_assets, import_assets

    (tmp_path / "tar").mkdir()
    export_assets(["toy"], tmp_path / "tar" / "assets.tar")

    def load(work: Path) -> None:
        shutil.rmtree(asset_folder, ignore_errors=True)
        assert import_assets(work / "assets.tar") == ["toy"]
        assert (asset_folder / "config.json").read_text() == '{"a": 1}'

    tamper_and_load(tmp_path / "tar", tmp_path / "work", load, count=rounds(150))


def test_the_folder_of_a_training(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from fabula.learned.training.folder import TrainingFolder
    from fabula.learned.training.loop import TrainingState

    state = TrainingState(recipe={"rate": 0.1}, data={"sha256": "0"})
    weights = {"a": torch.ones(2, 3, requires_grad=True)}
    sound = TrainingFolder(tmp_path / "training", resume=True)
    sound.open()
    sound.save_checkpoint(weights, torch.optim.SGD(weights.values()), state)
    sound.save_best(weights, {"step": 1})

    def load(path: Path) -> None:
        folder = TrainingFolder(path, resume=True)
        folder.open()
        if folder.read_state(TrainingState(recipe={"rate": 0.1}, data={"sha256": "0"})):
            folder.restore_checkpoint(weights, torch.optim.SGD(weights.values()))
        folder.restore_best(weights)

    tamper_and_load(sound.path, tmp_path / "work", load, count=rounds(150))


def test_arrays_that_a_training_reads(tmp_path: Path) -> None:
    from fabula.learned.training.folder import read_arrays, write_arrays

    (tmp_path / "arrays").mkdir()
    arrays = {"table": np.eye(3), "about": np.array("{}")}
    write_arrays(tmp_path / "arrays" / "examples.npz", arrays)

    def load(folder: Path) -> None:
        read_arrays(folder / "examples.npz", "examples", "delete it")

    tamper_and_load(tmp_path / "arrays", tmp_path / "work", load, count=rounds(150))


def test_nothing_that_could_be_a_program_is_ever_loaded() -> None:
    source = Path(__file__).resolve().parents[2] / "src" / "fabula"
    forbidden = re.compile(
        r"torch\.load\(|pickle\.loads?\(|joblib|allow_pickle=True|trust_remote_code=True"
        r"|use_safetensors=False|\bcloudpickle\b|\bdill\b"
    )
    rooms = ("models", "learned", "metrics", "datasets", "text", "core")
    for path in (path for room in rooms for path in (source / room).rglob("*.py")):
        assert not forbidden.search(path.read_text(encoding="utf-8")), path
