from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import InputError, UnknownName
from fabula.learned.training import encoder
from fabula.learned.training.bert import WORD_EMBEDDINGS
from fabula.learned.training.encoder_batches import cut_spans, fill_spans, pack_spans
from fakes.tiny_encoder import RECIPE, counting_texts, made_up_corpus, write_encoder

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")


@pytest.fixture
def start(tmp_path: Path) -> Path:
    return write_encoder(tmp_path / "start")


def train(start: Path, out: Path, recipe=RECIPE, **options):
    options = {"device": "cpu", "report": lambda line: None} | options
    return encoder.train_encoder(recipe, made_up_corpus(), start=start, out=out, **options)


def test_thirty_steps_lower_the_loss_and_leave_a_whole_folder(start, tmp_path):
    lines: list[str] = []
    record = train(start, tmp_path / "out", report=lines.append)
    losses = [float(line.split("loss ")[1].split()[0]) for line in lines if "loss" in line]
    assert losses[-1] < losses[0] - 0.3
    assert "tokens/s" in lines[0]
    assert "ETA" in lines[0]
    left = {path.name for path in (tmp_path / "out").iterdir()}
    assert left == {"config.json", "model.safetensors", "tokenizer.json", "training.json"}
    assert record == json.loads((tmp_path / "out" / "training.json").read_text())
    assert [one["step"] for one in record["history"]] == [10, 20, 30]
    assert record["best"]["mean_top1"] == max(one["mean_top1"] for one in record["history"])
    assert record["data"]["train"]["made_up"]["texts"] == 60


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(start, tmp_path):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        train(start, tmp_path / name, replace(RECIPE, steps=3, seed=seed))
    first, again, other = (
        safetensors.load_file(tmp_path / name / "model.safetensors") for name in "abc"
    )
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert any(not torch.equal(first[key], other[key]) for key in first)


def test_a_training_that_was_killed_goes_on_bit_by_bit(start, tmp_path, monkeypatch):
    whole = train(start, tmp_path / "whole")
    real, steps = encoder.mask_tokens, []

    def killed(*args, **named):
        steps.append(1)
        if len(steps) == 25:
            raise KeyboardInterrupt
        return real(*args, **named)

    monkeypatch.setattr(encoder, "mask_tokens", killed)
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "parts")
    monkeypatch.undo()
    with pytest.raises(InputError, match="--resume"):
        train(start, tmp_path / "parts")
    with pytest.raises(InputError, match="another recipe \\(steps\\)"):
        train(start, tmp_path / "parts", replace(RECIPE, steps=40), resume=True)
    resumed = train(start, tmp_path / "parts", resume=True)
    assert resumed == whole
    first, second = (
        safetensors.load_file(tmp_path / name / "model.safetensors") for name in ("whole", "parts")
    )
    assert all(torch.equal(first[key], second[key]) for key in first)
    assert train(start, tmp_path / "parts", resume=True) == whole
    with pytest.raises(InputError, match=r"was trained by another recipe \(steps\)"):
        train(start, tmp_path / "parts", replace(RECIPE, steps=40), resume=True)


def test_frozen_weights_stay_as_they_are(start, tmp_path):
    train(start, tmp_path / "out", replace(RECIPE, steps=3, frozen=(WORD_EMBEDDINGS,)))
    before = safetensors.load_file(start / "model.safetensors")
    after = safetensors.load_file(tmp_path / "out" / "model.safetensors")
    name = WORD_EMBEDDINGS.removeprefix("bert.")
    assert torch.equal(after[WORD_EMBEDDINGS], before[name].half())
    other = "embeddings.position_embeddings.weight"
    assert not torch.equal(after[f"bert.{other}"], before[other].half())
    with pytest.raises(UnknownName, match="no weights are called"):
        train(start, tmp_path / "no", replace(RECIPE, frozen=("bert.wings",)))


def test_patience_ends_a_training_that_gets_no_better(start, tmp_path, monkeypatch):
    monkeypatch.setattr("fabula.learned.training.encoder.mean_top1", lambda found: 0.5)
    record = train(start, tmp_path / "out", replace(RECIPE, evaluate_every=5, patience=2))
    assert (record["steps"], record["best"]["step"]) == (15, 5)


def test_transformers_reads_the_folder_and_says_the_same(start, tmp_path):
    transformers = pytest.importorskip("transformers")
    from fabula.learned.training.bert import encode, guess, load_weights, read_shape

    out = tmp_path / "out"
    train(start, out, replace(RECIPE, steps=3))
    theirs = transformers.BertForMaskedLM.from_pretrained(out, dtype=torch.float32).eval()
    shape = read_shape(out)
    weights, tokens = load_weights(out, shape, seed=0), counting_texts(3, seed=5)
    batch = fill_spans(pack_spans(cut_spans(tokens, 32), 32), tokens, 32)
    ids, positions, segments = map(torch.from_numpy, (batch.ids, batch.positions, batch.segments))
    with torch.no_grad():
        ours = guess(weights, encode(weights, ids, positions, segments, shape=shape), shape)
        for row, number in {(r, n) for r, n in np.argwhere(batch.segments > 0)}:
            same = batch.segments[row] == batch.segments[row, number]
            alone = theirs(input_ids=ids[row, same][None]).logits[0]
            torch.testing.assert_close(ours[row, same], alone, atol=1e-5, rtol=1e-4)
