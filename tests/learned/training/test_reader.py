"""Training a reader: it learns, it stops, and it goes on after a kill."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.learned.reader.config import read_config
from fabula.learned.training import reader, reader_model
from fabula.learned.training.folder import BEST, CHECKPOINT, OUTPUTS
from fabula.learned.training.reader import standardise, train_reader
from fabula.learned.training.reader_model import ReaderTrainee
from fakes import trained_reader
from fakes.tiny_tasks import (
    label_examples,
    rating_examples,
    tiny_prepared,
    tiny_recipe,
)
from fakes.trained_reader import Ready, kill_at, same

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")

RECIPE = tiny_recipe()


def train(start: Path, out: Path, recipe=RECIPE, **options):
    return trained_reader.train(start, out, recipe, **options)


@pytest.fixture(scope="module")
def whole(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("whole") / "out"
    train(start, out)
    return out


def test_a_training_leaves_a_reader_and_its_record(whole):
    assert {path.name for path in whole.iterdir()} == {
        "encoder", "model.safetensors", "reader.json", "training.json",
    }  # fmt: skip
    about = read_config(whole)
    assert about.heads["rated"].outputs == ("good", "bad")
    record = json.loads((whole / "training.json").read_text())
    assert record["seed"] == 3
    assert record["data"]["rated"]["examples"] == 30
    assert record["unseen"] == {}


# 12 steps in two stages of 6, with a checkpoint every 2: the 5th is in the first, the 9th in the
# second, and the 7th is its very first.
@pytest.mark.parametrize("step", [5, 7, 9, 12])
def test_a_training_that_was_killed_goes_on_bit_by_bit(start, whole, tmp_path, monkeypatch, step):
    kill_at(monkeypatch, step)
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "out")
    monkeypatch.undo()
    with pytest.raises(InputError, match="holds a training; say --resume"):
        train(start, tmp_path / "out")
    lines: list[str] = []
    train(start, tmp_path / "out", resume=True, report=lines.append)
    stage, done = divmod((step - 1) // 2 * 2, 6)
    said = (1, 6) if step == 7 else (stage + 1, done)
    assert f"resumed at stage {said[0]}, step {said[1]}" in lines
    assert same(tmp_path / "out", whole)


def test_a_kill_before_the_first_checkpoint_begins_anew(start, whole, tmp_path, monkeypatch):
    kill_at(monkeypatch, 2)
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "out")
    monkeypatch.undo()
    train(start, tmp_path / "out", resume=True)
    assert same(tmp_path / "out", whole)


def test_a_checkpoint_of_another_recipe_or_of_other_data_is_refused(start, tmp_path, monkeypatch):
    kill_at(monkeypatch, 5)
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "out")
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"of another recipe \(clip\); resume with the same one"):
        train(start, tmp_path / "out", tiny_recipe(clip=2.0), resume=True)
    other = replace(tiny_prepared(), examples={**tiny_prepared().examples})
    other.examples["labels"] = label_examples(20)
    with pytest.raises(InputError, match="of other data; train into another folder"):
        train_reader(RECIPE, Ready(other, start), out=tmp_path / "out", device="cpu", resume=True)


def test_a_finished_training_is_given_back(start, whole):
    assert train(start, whole, resume=True) == json.loads((whole / "training.json").read_text())


def test_another_seed_gives_other_weights(start, whole, tmp_path):
    train(start, tmp_path / "out", tiny_recipe(seed=4))
    assert not same(tmp_path / "out", whole)


def staged(monkeypatch: pytest.MonkeyPatch, figures: list[float]) -> None:
    """Evaluations find these figures, one after the other."""
    found = iter(figures)
    monkeypatch.setattr(reader_model, "evaluate", lambda *_: {"rated": next(found)})


ONE_STAGE = {
    "held_out": 0.3,
    "patience": 2,
    "evaluate_every": 1,
    "checkpoint_every": 1,
    "stages": [{"rate": 2e-3, "steps": 8, "groups": [{"tasks": ["rated"], "rows": 6}]}],
}


def test_patience_ends_a_training_and_the_best_weights_are_put_back(start, tmp_path, monkeypatch):
    recipe = tiny_recipe(**ONE_STAGE)
    staged(monkeypatch, [0.1, 0.5, 0.3, 0.4, 0.9])
    record = train(start, tmp_path / "out", recipe)
    # The second was the best, and two more did not beat it.
    assert [one["mean"] for one in record["history"]] == [0.1, 0.5, 0.3, 0.4]
    stopped = tiny_recipe(**ONE_STAGE | {"patience": 0})
    staged(monkeypatch, [0.1, 0.5, 0, 0, 0, 0, 0, 0])
    train(start, tmp_path / "all", stopped)
    assert same(tmp_path / "out", tmp_path / "all")
    assert not (tmp_path / "out" / BEST).exists()
    assert not (tmp_path / "out" / CHECKPOINT).exists()


def test_the_best_weights_are_put_back_after_a_kill_too(start, tmp_path, monkeypatch):
    recipe = tiny_recipe(**ONE_STAGE)
    staged(monkeypatch, [0.1, 0.5, 0.3, 0.4])
    train(start, tmp_path / "whole", recipe)
    staged(monkeypatch, [0.1, 0.5, 0.3, 0.4])
    kill_at(monkeypatch, 4)
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "parts", recipe)
    monkeypatch.undo()
    staged(monkeypatch, [0.4])
    record = train(start, tmp_path / "parts", recipe, resume=True)
    assert [one["mean"] for one in record["history"]] == [0.1, 0.5, 0.3, 0.4]
    assert same(tmp_path / "parts", tmp_path / "whole")


def test_patience_with_one_stage_does_not_skip_the_next(start, tmp_path, monkeypatch):
    recipe = tiny_recipe(held_out=0.3, patience=1)
    staged(monkeypatch, [0.9, 0.8, 0.1, 0.2, 0.3])
    record = train(start, tmp_path / "out", recipe)
    assert [(one["stage"], one["step"]) for one in record["history"]] == [
        (0, 2), (0, 4), (1, 2), (1, 4), (1, 6),
    ]  # fmt: skip


def test_held_out_stories_are_really_held_out(start, tmp_path, monkeypatch):
    seen: dict[str, set[str]] = {"learned": set(), "held": set()}
    real = ReaderTrainee.__init__

    def start_training(self, model, examples, held, **named):
        seen["learned"] |= {item for one in examples.values() for item in one.items}
        seen["held"] |= {item for one in held.values() for item in one.items}
        real(self, model, examples, held, **named)

    monkeypatch.setattr(ReaderTrainee, "__init__", start_training)
    train(start, tmp_path / "out", tiny_recipe(held_out=0.3, evaluate_every=6))
    assert seen["held"]
    assert not seen["held"] & seen["learned"]


def test_half_done_folds_are_not_trained_again(start, tmp_path, monkeypatch):
    whole = train(start, tmp_path / "whole", folds=3, seeds=2)
    # The shared first stage takes 6 steps, each fold of the second 6: the third fold is half done.
    kill_at(monkeypatch, 6 + 6 + 6 + 3)
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "parts", folds=3, seeds=2)
    monkeypatch.undo()
    with pytest.raises(InputError, match="holds a training; say --resume"):
        train(start, tmp_path / "parts", folds=3, seeds=2)
    lines: list[str] = []
    parts = train(start, tmp_path / "parts", folds=3, seeds=2, resume=True, report=lines.append)
    said = [line.partition(":")[0] for line in lines if line.startswith("seed")]
    assert said == ["seed 4, fold 3 of 3", *(f"seed 3, fold {i} of 3" for i in (1, 2, 3))]
    assert parts == whole
    assert same(tmp_path / "parts", tmp_path / "whole")
    with np.load(tmp_path / "whole" / OUTPUTS) as one, np.load(tmp_path / "parts" / OUTPUTS) as two:
        assert one.files and set(one.files) == set(two.files)
        assert all(np.array_equal(one[k], two[k]) for k in one.files)


def test_a_kill_after_the_folds_does_not_repeat_the_shared_stages(start, tmp_path, monkeypatch):
    train(start, tmp_path / "whole", folds=2)
    kill_at(monkeypatch, 6 + 2 * 6 + 4)
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "parts", folds=2)
    monkeypatch.undo()
    lines: list[str] = []
    train(start, tmp_path / "parts", folds=2, resume=True, report=lines.append)
    assert lines[0] == "resumed at stage 2, step 2"
    assert same(tmp_path / "parts", tmp_path / "whole")


def test_outputs_of_another_number_of_folds_are_refused(start, tmp_path, monkeypatch):
    kill_at(monkeypatch, 6 + 6 + 3)
    with pytest.raises(KeyboardInterrupt):
        train(start, tmp_path / "out", folds=3)
    monkeypatch.undo()
    with pytest.raises(InputError, match="another number of folds; train into another folder"):
        train(start, tmp_path / "out", folds=2, resume=True)


def test_scales_may_change_without_any_fold_being_trained_again(start, tmp_path, monkeypatch):
    train(start, tmp_path / "out", folds=2)
    (tmp_path / "out" / "training.json").unlink()
    plain = {"preference": {"terms": {"preference": 1.0}, "to": ["preference"]}}
    lines: list[str] = []
    train(
        start, tmp_path / "out", tiny_recipe(scales=plain),
        folds=2, resume=True, report=lines.append,
    )  # fmt: skip
    assert not [line for line in lines if "fold" in line]
    assert list(read_config(tmp_path / "out").scales) == ["preference"]


def test_ratings_are_standardised_by_output_or_over_all_where_some_are_missing():
    one = rating_examples()
    np.testing.assert_allclose(standardise(one).targets.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(standardise(one).targets.std(0), 1, atol=1e-5)
    targets = np.array([[1.0, np.nan], [np.nan, 3.0], [5.0, 3.0]])
    some = replace(one, targets=targets)
    # Mean of 1, 3, 5 and 3 is 3, their deviation √2.
    wanted = (targets - 3) / np.sqrt(2)
    np.testing.assert_allclose(standardise(some).targets, wanted)


def test_a_reader_is_trained_where_the_device_is_said(start, tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "choose_device", lambda name: torch.device(name or "cpu"))
    assert train(start, tmp_path / "out", device="")["device"] == "cpu"
