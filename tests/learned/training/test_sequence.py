"""How sentences follow one another, learned of made choices: the fit, its record, what is read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.reader.config import read_config
from fabula.learned.reader.sequence import describe_sequences, open_sequence
from fabula.learned.training import sequence
from fabula.learned.training.choices import Choices
from fabula.learned.training.recipe import is_reader, is_sequence, read_recipe
from fabula.learned.training.sequence import SequenceRecipe, train_sequence

pytest.importorskip("torch")
pytest.importorskip("transformers")

from fakes.tiny_reader import write_encoder

RECIPE = {
    "kind": "sequence", "made": ["spoiled"], "layer": 2, "window": 20, "penalty": 0.3, "folds": 3,
}  # fmt: skip


def make_choices(count: int) -> Choices:
    """Stories that begin with a cat, beside those that end with it; one has a single sentence."""
    rng = np.random.default_rng(0)
    first, then = "The cat sat.", ["A dog ran home.", "The old night saw a river.", "It sat."]
    texts = []
    for _ in range(count):
        rest = [then[place] for place in rng.permutation(3)]
        texts += [" ".join([first, *rest]), " ".join([*rest, first])]
    texts += ["The cat sat.", "A dog ran. It sat."]
    pairs = np.arange(len(texts)).reshape(-1, 2)
    units = np.arange(len(pairs))
    return Choices(
        "spoiled", "spoiled", tuple(texts), pairs, units, np.ones(len(pairs)),
        ("",) * len(texts), "made",
    )  # fmt: skip


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    _, found = write_encoder(tmp_path / "encoder")
    monkeypatch.setattr(sequence, "gather_made", lambda data, names: [make_choices(24)])
    monkeypatch.setattr(sequence, "load_pooled_bert", lambda name: found)
    pinned = SimpleNamespace(tree_sha256="0" * 64)
    monkeypatch.setattr(sequence, "get_asset", lambda name: pinned)
    monkeypatch.setattr("fabula.learned.training.reader_scales.get_asset", lambda name: pinned)
    monkeypatch.setattr(
        "fabula.learned.reader.sequence.load_pooled_bert", lambda name, dtype: found
    )
    return found


def train(out: Path, **changes: Any) -> dict[str, Any]:
    recipe = read_recipe(SequenceRecipe, {**RECIPE, **changes})
    return train_sequence(recipe, out=out, report=lambda line: None)


def test_what_was_fitted_is_what_is_read_and_what_was_written_is_at_0(encoder, tmp_path):
    record = train(tmp_path / "out")
    config = read_config(tmp_path / "out")
    assert (config.sequence, config.layer, config.window) == (True, 2, 20)
    assert config.beside is not None
    assert config.beside.name == "order"
    texts = make_choices(24).texts[:-2]
    judge = SimpleNamespace(pair_outputs=lambda pairs, head: np.zeros((len(pairs), 1)))
    network = open_sequence(tmp_path / "out", config, judge, "fp32")
    states = np.array([float(said["states"][0, 0]) for said in network.window_outputs(texts)])
    written, spoiled = states.reshape(-1, 2).T
    assert (written > spoiled).all()
    assert (written.mean(), written.std()) == pytest.approx((0, 1), abs=2e-3)
    # The pair with a single sentence is left out.
    assert record["data"] == {"spoiled": {"choices": 24}}
    assert record["unseen"]["spoiled"]["n"] == 24
    assert record["unseen"]["spoiled"]["value"]["value"] > 0.9
    assert config.training["validation"] == {"tasks": record["unseen"]}


def test_the_weights_are_those_of_a_logistic_regression(encoder, tmp_path):
    linear = pytest.importorskip("sklearn.linear_model")
    train(tmp_path / "out")
    choices = make_choices(24)
    rows = describe_sequences(encoder, choices.texts[:-2], layer=2, window=20)
    scaled = (rows - rows.mean(0)) / rows.std(0)
    gaps = scaled[::2] - scaled[1::2]
    # Our penalty is on a mean loss, theirs on a sum over both ways round.
    fit = linear.LogisticRegression(
        C=1 / (2 * len(gaps) * 0.3), fit_intercept=False, tol=1e-10, max_iter=10000
    ).fit(np.concatenate([gaps, -gaps]), [1] * len(gaps) + [0] * len(gaps))
    wanted = (scaled @ fit.coef_[0])[::2]
    config = read_config(tmp_path / "out")
    judge = SimpleNamespace(pair_outputs=lambda pairs, head: np.zeros((len(pairs), 1)))
    network = open_sequence(tmp_path / "out", config, judge, "fp32")
    found = [float(one["states"][0, 0]) for one in network.window_outputs(choices.texts[:-2:2])]
    np.testing.assert_allclose(found, (wanted - wanted.mean()) / wanted.std(), rtol=0, atol=5e-3)


def test_a_finished_training_is_not_given_for_another(encoder, tmp_path):
    train(tmp_path / "out")
    with pytest.raises(InputError, match="holds a training"):
        train(tmp_path / "out")
    recipe = read_recipe(SequenceRecipe, {**RECIPE, "layer": 1})
    with pytest.raises(InputError, match="another recipe"):
        train_sequence(recipe, out=tmp_path / "out", resume=True)


def test_recipes_are_told_apart_and_bounds_are_said(tmp_path):
    recipe = tmp_path / "r.toml"
    recipe.write_text('kind = "sequence"\nmade = ["spoiled"]\n')
    assert is_sequence(recipe)
    assert not is_reader(recipe)
    for changes in ({"layer": 0}, {"window": 2}, {"folds": 1}, {"penalty": 0.0}):
        with pytest.raises(SettingError, match=next(iter(changes))):
            read_recipe(SequenceRecipe, {**RECIPE, **changes})
