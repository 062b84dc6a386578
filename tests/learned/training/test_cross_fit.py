"""What readers say of stories that they did not learn from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.learned.training.cross_fit import CrossFitted, FoldOutputs, cross_fit
from fabula.learned.training.examples import fold_of_items
from fabula.learned.training.reader import Workshop
from fabula.learned.training.reader_model import ReaderTrainee
from fakes.tiny_tasks import tiny_prepared, tiny_recipe

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

FOLDS, SEEDS = 3, 2


def workshop(start: Path) -> Workshop:
    return Workshop(tiny_recipe(), tiny_prepared().examples, start, torch.device("cpu"))


@pytest.fixture(scope="module")
def fitted(start, tmp_path_factory) -> CrossFitted:
    out = tmp_path_factory.mktemp("out") / "outputs.npz"
    return cross_fit(workshop(start), folds=FOLDS, seeds=SEEDS, out=out, report=lambda line: None)


def test_every_text_is_read_by_all_heads_in_every_seed(fitted):
    assert set(fitted.outputs) == {
        (task, head)
        for task in ("preference", "rated")
        for head in ("labels", "preference", "rated")
    }
    assert fitted.outputs["rated", "rated"].shape == (SEEDS, 30, 2)
    assert not np.isnan(fitted.outputs["preference", "labels"]).any()


def test_the_folds_of_texts_are_those_of_their_items(fitted):
    examples = tiny_prepared().examples
    items = {item for name in ("preference", "rated") for item in examples[name].items}
    for place, seed in enumerate((3, 4)):
        parts = fold_of_items(items, FOLDS, seed)
        wanted = [parts[item] for item in examples["rated"].items]
        assert fitted.folds["rated"][place].tolist() == wanted


def test_a_reader_has_learned_from_no_item_of_its_fold(start, tmp_path, monkeypatch):
    learned, read = [], []
    real_start, real_add = ReaderTrainee.__init__, FoldOutputs.add

    def start_training(self, model, examples, held, **named):
        opinions = [one for name, one in examples.items() if name != "labels"]
        learned.append({item for one in opinions for item in one.items})
        real_start(self, model, examples, held, **named)

    def add(self, seed, fold, model, examples, held):
        read.append({item for one in held.values() for item in one.items})
        real_add(self, seed, fold, model, examples, held)

    monkeypatch.setattr(ReaderTrainee, "__init__", start_training)
    monkeypatch.setattr(FoldOutputs, "add", add)
    cross_fit(
        workshop(start), folds=FOLDS, seeds=1, out=tmp_path / "o.npz", report=lambda line: None
    )
    # The first goes through the stage that all folds share, which looks at no opinion.
    assert len(read) == FOLDS
    for mine, asked in zip(learned[1:], read, strict=True):
        assert asked and not mine & asked


def test_more_seeds_may_be_added_later(start, tmp_path):
    out, lines = tmp_path / "outputs.npz", list[str]()
    cross_fit(workshop(start), folds=FOLDS, seeds=1, out=out, report=lambda line: None)
    found = cross_fit(workshop(start), folds=FOLDS, seeds=2, out=out, report=lines.append)
    assert not [line for line in lines if line.startswith("seed 3")]
    assert found.outputs["rated", "rated"].shape[0] == 2
