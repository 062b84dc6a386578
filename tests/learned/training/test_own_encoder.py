"""Readers on encoders that are no assets: trained, kept whole, read again anywhere."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError, UserError
from fabula.core.story import Story
from fabula.learned.manplts import Manplts
from fabula.learned.reader.config import read_config
from fabula.learned.reader.inference import load_reader, open_reader
from fabula.learned.rovist_c import RovistC
from fabula.learned.training.examples import Prepared, example_set
from fabula.learned.training.own_encoder import HubBody
from fabula.learned.training.reader import ExampleSource, Start, Workshop, train_reader
from fabula.learned.training.reader_evaluation import order_logits, text_outputs
from fabula.learned.training.reader_model import ReaderModel
from fabula.learned.training.recipe import ReaderRecipe, find_recipe, read_recipe
from fabula.learned.union import Union
from fabula.models.networks.hf_pooled import open_pooled
from fabula.text.detokenise import detokenise
from fakes.tiny_models import save_albert, save_bart, save_bert, save_llama, save_roberta
from fakes.trained_reader import kill_at, same

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

SENTENCES = (
    "the old sailor saw a light at sea .",
    "the cat sat on the mat and the dog ran away .",
    "she said never again !",
    "they went home in the winter night .",
    "the dog ran from the house .",
)
STORIES = [
    Story(f"s{number}", " ".join(f"{word.capitalize()}" for word in told))
    for number, told in enumerate((SENTENCES[:3], SENTENCES[2:], SENTENCES[1:4]))
]
TASKS: dict[str, dict[str, Any]] = {
    "rovist_c": {"kind": "order", "head": "order", "hidden": 8},
    "union": {"kind": "corrupted", "head": "union"},
    "manplts": {"kind": "labels", "head": "manplts", "aspects": ["plausible"], "data": ["manplts"]},
}
METRICS = {"rovist_c": RovistC, "union": Union, "manplts": Manplts}
SAVERS = {
    "bert": save_bert,
    "albert": save_albert,
    "roberta": save_roberta,
    "llama": save_llama,  # reads forward: the last token stands for all
}


@dataclass(frozen=True)
class Trained:
    """A training's folder, and the model that it had in memory at its end."""

    out: Path
    model: ReaderModel


def write_stories(folder: Path, count: int = 14) -> Path:
    """Write stories as a table, and as MANPLTS's release does, every other one implausible."""
    table, release = folder / "stories.csv", folder / "AF_ManPlts_train.tsv"
    with table.open("w", encoding="utf-8", newline="") as file, release.open("w") as labelled:
        writer = csv.writer(file)
        writer.writerow(["id", "item", "text", "human:me:plausible"])
        for number in range(count):
            told = [SENTENCES[(number * 3 + at * (1 + number % 2)) % 5] for at in range(4)]
            told[number % 4] = f"{'never ' * (number % 5 + 1)}{told[number % 4]}"
            text = " ".join(one.capitalize() for one in told)
            writer.writerow([f"i{number}", f"item{number}", text, number % 2])
            labelled.write(f"{number}\t{1 - number % 2}\t{number}\t{text}\n")
    return table


def make_recipe(kind: str, table: Path, encoder: str = "story_encoder", **changes: Any) -> Any:
    task = {"data": [str(table)], **TASKS[kind]}
    stage = {"rate": 5e-3, "steps": 4, "groups": [{"tasks": ["own"], "rows": 4}]}
    head = task["head"]
    plain: dict[str, Any] = {
        "kind": kind, "encoder": encoder, "tasks": {"own": task}, "stages": [stage], "seed": 2,
        "checkpoint_every": 1, "scales": {head: {"terms": {head: 1.0}, "link": "logistic"}},
    }  # fmt: skip
    return read_recipe(ReaderRecipe, {**plain, **changes})


def train(recipe: ReaderRecipe, start: Path | None, out: Path, **options: Any) -> dict[str, Any]:
    options = {"device": "cpu", "report": lambda line: None} | options
    source = ExampleSource(data=options.pop("data", None), start=start, report=options["report"])
    return train_reader(recipe, source, out=out, **options)


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("encoders")
    return {name: save(place / name) for name, save in SAVERS.items()}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stories(tmp_path_factory.mktemp("table"))


@pytest.fixture(scope="module")
def trained(
    encoders: dict[str, Path], table: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], Trained]:
    """Readers of every kind on every encoder, whose folders are gone when they are read."""
    place = tmp_path_factory.mktemp("trained")
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        seen: list[ReaderModel] = []
        real = Workshop.save

        def save(self: Workshop, model: ReaderModel, out: Path) -> Any:
            seen.append(model)
            return real(self, model, out)

        patch.setattr(Workshop, "save", save)
        for name, folder in encoders.items():
            start = Path(shutil.copytree(folder, place / "starts" / name))
            for kind in TASKS:
                out = place / f"{kind}_{name}"
                train(make_recipe(kind, table), start, out, data=table.parent)
                found[kind, name] = Trained(out, seen[-1])
    shutil.rmtree(place / "starts")
    return found


def values_of(kind: str, out: Path) -> list[float]:
    metric = METRICS[kind](weights=str(out))
    return [reading.values[0] for reading in metric.compute(STORIES)]


@pytest.mark.parametrize("name", list(SAVERS))
@pytest.mark.parametrize("kind", list(TASKS))
def test_what_is_read_is_what_was_in_memory(trained, kind, name):
    out, model = trained[kind, name].out, trained[kind, name].model
    reader = load_reader(str(out))
    if kind == "rovist_c":
        pairs = [(SENTENCES[0], SENTENCES[1]), (SENTENCES[3], SENTENCES[2])]
        said = reader.pair_outputs(pairs, "order")[:, 0]
        ids = [reader.source.encoder.ids(text) for pair in pairs for text in pair]
        examples = example_set(ids, [[0, 1], [2, 3]], [[1.0]] * 2, items=["a", "b"], ids=[])
        wanted = order_logits(model, examples, "order", turned=False)
    else:
        said = np.array([one[kind][0] for one in reader.outputs([s.text for s in STORIES])])
        ids = [reader.source.encoder.ids(detokenise(story.text)) for story in STORIES]
        examples = example_set(ids, [[0], [1], [2]], [[1.0]] * 3, items=list("abc"), ids=[])
        wanted = text_outputs(model, examples, range(3), [kind])[kind][:, 0]
    # Weights are kept in half precision.
    np.testing.assert_allclose(said, wanted, atol=5e-3)
    assert np.ptp(wanted) > 0.05


def test_readers_are_read_in_another_process_without_hub_or_start(trained):
    specs = {f"{kind}(weights={str(one.out)!r})": kind for (kind, _), one in trained.items()}
    script = (
        "import json, sys, fabula\n"
        "specs, texts = json.loads(sys.argv[1])\n"
        "table = fabula.evaluate(texts, specs)\n"
        "print(json.dumps([[score.scorer, score.value] for score in table]))"
    )
    texts = [story.text for story in STORIES]
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps([list(specs), texts])],
        capture_output=True, text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "FABULA_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    rows = json.loads(done.stdout.splitlines()[-1])
    assert len(rows) == len(specs) * len(texts)
    found: dict[str, list[float]] = {}
    for spec, value in rows:
        found.setdefault(spec, []).append(value)
    for (kind, name), one in trained.items():
        wanted = values_of(kind, one.out)
        [said] = [got for spec, got in found.items() if repr(str(one.out)) in spec]
        np.testing.assert_allclose(
            sorted(said), sorted(wanted), rtol=1e-4, err_msg=f"{kind} {name}"
        )


def test_a_readers_folder_holds_its_encoder_in_half_precision(trained):
    from safetensors.torch import load_file

    out = trained["rovist_c", "albert"].out
    assert {path.name for path in out.iterdir()} == {
        "encoder", "model.safetensors", "reader.json", "training.json",
    }  # fmt: skip
    assert all(name.startswith("head.") for name in load_file(out / "model.safetensors"))
    kept = load_file(out / "encoder" / "model.safetensors")
    assert {tensor.dtype for tensor in kept.values()} == {torch.float16}
    pin = read_config(out).encoder
    assert (pin.name, pin.own) == ("albert", True)
    record = json.loads((out / "training.json").read_text())
    assert record["encoder"]["name"] == record["recipe"]["encoder"] == "albert"
    assert record["encoder"]["tree_sha256"] != pin.tree_sha256  # what it began with


def test_a_readers_encoder_that_is_gone_or_changed_is_said(trained, tmp_path):
    moved = Path(shutil.copytree(trained["union", "albert"].out, tmp_path / "moved"))
    assert (
        load_reader(str(moved)).signature
        == load_reader(str(trained["union", "albert"].out)).signature
    )
    config = moved / "encoder" / "config.json"
    config.write_text(config.read_text().replace('"gelu_new"', '"relu"'))
    again = Path(shutil.copytree(moved, tmp_path / "again"))
    with pytest.raises(
        InputError, match=r"encoder is not as the training left it .*train it again"
    ):
        load_reader(str(again))
    shutil.rmtree(again / "encoder")
    with pytest.raises(InputError, match=r"encoder of its own \(albert\), and .* is gone; copy"):
        load_reader(str(again))


@pytest.mark.parametrize("name", ["bert", "albert"])
def test_a_killed_training_goes_on_bit_by_bit(
    encoders, table, trained, tmp_path, monkeypatch, name
):
    recipe = make_recipe("rovist_c", table)
    kill_at(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        train(recipe, encoders[name], tmp_path / "out")
    monkeypatch.undo()
    changed = Path(shutil.copytree(encoders[name], tmp_path / name))
    (changed / "config.json").write_text((changed / "config.json").read_text() + "\n")
    with pytest.raises(InputError, match=r"of another recipe \(encoder\)"):
        train(recipe, changed, tmp_path / "out", resume=True)
    train(recipe, encoders[name], tmp_path / "out", resume=True)
    assert same(tmp_path / "out", trained["rovist_c", name].out)


def test_a_recipe_may_name_a_folder_and_windows_shrink_to_what_it_reads(encoders, table, tmp_path):
    lines: list[str] = []
    recipe = make_recipe("union", table, encoder=str(encoders["roberta"]))
    train(recipe, None, tmp_path / "out", report=lines.append)
    # Of 66 positions RoBERTa uses 64, and two signs stand around a text.
    assert "windows of 62 tokens, not 254: the encoder reads no longer ones" in lines
    assert read_config(tmp_path / "out").window == 62


def test_a_hub_that_is_out_of_reach_is_said(table, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    recipe = make_recipe("rovist_c", table, encoder="no-one/albert-of-nowhere")
    with pytest.raises(
        UserError, match=r"no-one/albert-of-nowhere.*--local-dir FOLDER, and say --start FOLDER"
    ):
        train(recipe, None, tmp_path / "out")


def test_pickled_weights_and_decoders_are_refused(encoders, table, tmp_path):
    for name in ("bert", "albert"):
        pickled = Path(shutil.copytree(encoders[name], tmp_path / name))
        (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
        with pytest.raises(UserError, match="has only pickled weights"):
            train(make_recipe("union", table), pickled, tmp_path / f"out_{name}")
    bart = save_bart(tmp_path / "bart")
    with pytest.raises(UserError, match="bart is an encoder with a decoder; name an encoder alone"):
        train(make_recipe("union", table), bart, tmp_path / "out")


def test_words_are_guessed_by_berts_alone(encoders, table, tmp_path):
    task = {"kind": "filled", "head": "union", "data": [str(table)]}
    recipe = make_recipe("union", table, tasks={"own": task})
    with pytest.raises(SettingError, match="lets the encoder guess words, and albert has not"):
        train(recipe, encoders["albert"], tmp_path / "out")


def body_of(folder: Path) -> HubBody:
    return HubBody(folder, folder.name, device=torch.device("cpu"), dropout=0.1)


def test_layers_are_told_apart_and_shared_ones_are_one(encoders):
    albert, roberta = body_of(encoders["albert"]), body_of(encoders["roberta"])
    assert (albert.layers, roberta.layers) == (1, 2)
    of = roberta.find_layer
    assert of("body.encoder.layer.1.output.dense.weight") == 1
    assert of("body.embeddings.word_embeddings.weight") == 0
    assert of("body.pooler.dense.weight") is None
    assert of("head.order.inner.weight") is None


def test_pairs_are_framed_as_the_tokeniser_frames_them(encoders):
    albert, roberta = body_of(encoders["albert"]).frame, body_of(encoders["roberta"]).frame
    assert (albert.before, albert.between, albert.after) == ((2,), (3,), (3,))
    assert (roberta.before, roberta.between, roberta.after) == ((2,), (1, 1), (1,))
    # 64 positions less three signs, and less four.
    assert (albert.pair_room, roberta.pair_room) == (30, 30)
    assert albert.join_pair([7, 8], [9]) == ([2, 7, 8, 3, 9, 3], 4)


def test_rows_that_windows_share_are_read_as_if_each_stood_alone(encoders):
    from transformers import AlbertModel

    from fabula.learned.training.batches import pack_texts, pair_window

    body = body_of(encoders["albert"])
    windows = [
        pair_window([10, 11, 12], [13], 0, body.frame),
        pair_window([14], [15, 16], 1, body.frame),
    ]
    tokens = pack_texts(windows, 20, 2).tokens
    names = ("ids", "positions", "segments", "kinds", "windows")
    given = {name: torch.from_numpy(getattr(tokens, name)) for name in names}
    theirs = AlbertModel.from_pretrained(encoders["albert"]).eval()
    with torch.no_grad():
        states = body.encode(body.weights, given, dropout=0.0).flatten(0, 1)
        for window, first in zip(windows, tokens.firsts, strict=True):
            ids, kinds = torch.tensor([window.ids]), torch.zeros(1, len(window.ids)).long()
            kinds[0, window.second :] = 1
            [wanted] = theirs(input_ids=ids, token_type_ids=kinds).last_hidden_state
            torch.testing.assert_close(states[first : first + len(window.ids)], wanted)


def test_the_papers_recipe_runs_on_a_tiny_albert_until_patience_ends(encoders, table, tmp_path):
    recipe = read_recipe(ReaderRecipe, find_recipe("rovist_c_paper"))
    [stage] = recipe.stages
    assert (recipe.encoder, stage.rate, stage.epoch_decay) == ("albert-large-v1", 1e-5, 0.95)
    assert (recipe.patience, stage.epochs, recipe.held_out) == (5, 50, 0.15)
    assert (recipe.weight_decay, stage.groups[0].rows) == (1e-5, 32)
    ids = [[10 + (3 * number + at) % 20 for at in range(5)] for number in range(200)]
    members = [[number, number + 1] for number in range(0, 200, 2)]
    items = [f"story:{number}" for number in range(100)]
    half = example_set(ids, members, [[1.0]] * 100, items=items, ids=[])

    class Made:
        def find_start(self, recipe: ReaderRecipe) -> Start:
            return Start(encoders["albert"], "albert", digest="of this folder")

        def read(self, recipe: ReaderRecipe) -> Prepared:
            return Prepared({"roc": half, "vist": half}, {})

    lines: list[str] = []
    record = train_reader(recipe, Made(), out=tmp_path / "out", device="cpu", report=lines.append)
    epochs = [row["step"] for row in record["history"]]
    # Of 200 pairs 30 or so are held out, and the others make five batches of 32 an epoch.
    assert epochs == [5 * number for number in range(1, len(epochs) + 1)]
    means = [row["mean"] for row in record["history"]]
    assert len(means) == 50 or len(means) - 1 - means.index(max(means)) == 5
    assert load_reader(str(tmp_path / "out")).scale("order").link == "logistic"


def test_over_a_pinned_model_a_difference_of_low_rank_is_kept(encoders, table, tmp_path):
    stage = {"rate": 5e-3, "steps": 4, "groups": [{"tasks": ["own"], "rows": 4}]}
    stages = [stage, {**stage, "heads_only": True}]
    recipe = make_recipe("manplts", table, "tiny", rank=2, stages=stages)
    start = Start(encoders["llama"], "tiny")
    source = ExampleSource(data=table.parent, report=lambda line: None)
    source.find_start = lambda recipe: start  # type: ignore[method-assign]
    models: list[ReaderModel] = []
    real = Workshop.save

    def save(self: Workshop, model: ReaderModel, out: Path) -> Any:
        models.append(model)
        return real(self, model, out)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Workshop, "save", save)
        train_reader(recipe, source, out=tmp_path, device="cpu", report=lambda line: None)
    names = safe_names(tmp_path / "model.safetensors")
    assert any(name.endswith("q_proj.weight.left") for name in names)
    assert not any("embed" in name for name in names)
    reader = open_reader(
        tmp_path, open_pooled(encoders["llama"], "tiny", is_bert=False, is_asset=True)
    )
    said = np.array([one["manplts"][0] for one in reader.outputs([s.text for s in STORIES])])
    ids = [reader.source.encoder.ids(detokenise(story.text)) for story in STORIES]
    examples = example_set(ids, [[0], [1], [2]], [[1.0]] * 3, items=list("abc"), ids=[])
    wanted = text_outputs(models[0], examples, range(3), ["manplts"])["manplts"][:, 0]
    # The layers were brought to their rank before the heads learned: what is kept is all.
    np.testing.assert_allclose(said, wanted, atol=5e-3)
    plain = open_pooled(encoders["llama"], "tiny", is_bert=False)
    assert not np.allclose(plain.pool(ids[:1]), reader.source.encoder.pool(ids[:1]), atol=1e-3)


def safe_names(file: Path) -> list[str]:
    from safetensors import safe_open

    with safe_open(str(file), "pt") as tensors:
        return list(tensors.keys())
