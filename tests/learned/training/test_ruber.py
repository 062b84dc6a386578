"""Training RUBER: it learns, it stops, it goes on after a kill, and what it leaves can be read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.learned.ruber_model.network import (
    logits,
    probabilities,
    read_ruber_config,
    read_weights,
)
from fabula.learned.training import ruber
from fabula.learned.training.recipe import read_recipe
from fabula.learned.training.ruber import RuberRecipe, RuberTrainee, draw_others, evaluate
from fabula.learned.training.ruber_pairs import PARTS, plain_prompt, pool_pairs, split_pairs
from fakes.tiny_ruber import RECIPE, made_up_pairs

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

REPO = Path(__file__).resolve().parents[3]


def train(out: Path, recipe=RECIPE, pairs=None, **options):
    options = {"report": lambda line: None} | options
    return ruber.train_ruber(recipe, pairs or made_up_pairs(), out=out, **options)


def test_a_network_by_hand():
    weights = {
        "prompt.mean": np.array([1.0]),
        "prompt.deviation": np.array([2.0]),
        "story.mean": np.array([0.0]),
        "story.deviation": np.array([1.0]),
        "between": np.array([[0.5]]),
        "inner.prompt": np.array([[0.1]]),
        "inner.story": np.array([[0.2]]),
        "inner.between": np.array([0.3]),
        "inner.bias": np.array([0.05]),
        "outer.weight": np.array([[-1.0, 2.0]]),
        "outer.bias": np.array([0.1, 0.0]),
    }
    # q = (3 - 1) / 2 = 1, r = 2, q M r / √1 = 1; inner = 0.1 + 0.4 + 0.3 + 0.05 = 0.85.
    inner = np.tanh(0.85)
    q, r = np.array([[3.0]]), np.array([[2.0]])
    np.testing.assert_allclose(logits(weights, q, r), [[0.1 - inner, 2 * inner]])
    chance = 1 / (1 + np.exp(-(3 * inner - 0.1)))
    np.testing.assert_allclose(probabilities(weights, q, r), [chance])
    thin = {name: value for name, value in weights.items() if name != "between"}
    thin |= {"between.prompt": np.array([[0.5]]), "between.story": np.array([[1.0]])}
    np.testing.assert_allclose(logits(thin, q, r), logits(weights, q, r))


def test_it_learns_which_story_answers_a_prompt(tmp_path):
    record = train(tmp_path / "out")
    first, last = record["history"][0], record["history"][-1]
    assert last["trained"] < first["trained"]
    assert record["test"]["accuracy"] > 0.85
    assert record["test"]["prompts"] == 30


@pytest.mark.parametrize("changes", [{"rank": 3}, {"loss": "hinge"}, {"dropout": 0.2}])
def test_every_variant_learns(tmp_path, changes):
    assert train(tmp_path / "out", replace(RECIPE, **changes))["test"]["accuracy"] > 0.7


def test_what_is_left_is_read_as_it_was_trained(tmp_path):
    out = tmp_path / "out"
    record = train(out)
    assert sorted(path.name for path in out.iterdir()) == [
        "model.safetensors", "ruber.json", "training.json",
    ]  # fmt: skip
    about, weights, pairs = read_ruber_config(out), read_weights(out), made_up_pairs()
    assert (about.model, about.layer, about.pooling) == ("fake()", 1, "max")
    again = evaluate(weights, pairs, part="test", seed=RECIPE.seed)
    assert again == record["test"] == about.training["test"]
    found = probabilities(weights, pairs.prompts["train"], pairs.stories["train"])
    assert about.unreferenced.low <= found.min() < found.max() <= about.unreferenced.high
    assert -1 <= about.referenced.low < about.referenced.high <= 1


def test_a_killed_training_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    train(tmp_path / "whole")
    learn = RuberTrainee.learn

    def killed(self, batch, step):
        if self.sampler.epoch + 1 == 7:
            raise KeyboardInterrupt
        return learn(self, batch, step)

    monkeypatch.setattr(RuberTrainee, "learn", killed)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "killed")
    monkeypatch.setattr(RuberTrainee, "learn", learn)
    with pytest.raises(InputError, match="holds a training"):
        train(tmp_path / "killed")
    train(tmp_path / "killed", resume=True)
    whole, resumed = (read_weights(tmp_path / name) for name in ("whole", "killed"))
    assert all((whole[name] == resumed[name]).all() for name in whole)
    files = [tmp_path / name / "training.json" for name in ("whole", "killed")]
    histories = [json.loads(one.read_text())["history"] for one in files]
    assert histories[0] == histories[1]


def test_a_checkpoint_of_another_recipe_or_other_data_is_refused(tmp_path, monkeypatch):
    def killed(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(ruber, "_close", killed)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "out", replace(RECIPE, epochs=1))
    with pytest.raises(InputError, match="another recipe"):
        train(tmp_path / "out", replace(RECIPE, epochs=2), resume=True)
    with pytest.raises(InputError, match="other data"):
        train(tmp_path / "out", replace(RECIPE, epochs=1), made_up_pairs(3), resume=True)


def test_a_finished_training_gives_its_record_again(tmp_path):
    record = train(tmp_path / "out", replace(RECIPE, epochs=2))
    assert train(tmp_path / "out", replace(RECIPE, epochs=2), resume=True) == json.loads(
        json.dumps(record)
    )
    with pytest.raises(InputError, match=r"was trained by another recipe \(epochs\)"):
        train(tmp_path / "out", replace(RECIPE, epochs=3), resume=True)


def test_one_seed_gives_one_network_and_another_seed_another(tmp_path):
    def weights(name, seed):
        train(tmp_path / name, replace(RECIPE, epochs=2, seed=seed))
        return read_weights(tmp_path / name)["between"]

    first = weights("a", 1)
    assert (first == weights("b", 1)).all()
    assert (first != weights("c", 2)).any()


def test_patience_ends_a_training_that_gets_no_better(tmp_path):
    noise = made_up_pairs(noise=30.0)
    record = train(tmp_path / "out", replace(RECIPE, epochs=40, patience=3), noise)
    assert record["epochs"] == record["best"] + 3 < 40


def test_a_negative_is_never_of_the_same_prompt():
    items = np.repeat(np.arange(5), 7)
    for seed in range(20):
        other = draw_others(items, np.random.default_rng(seed))
        assert (items[other] != items).all()


def stories() -> list[Story]:
    return [
        Story(f"{n}-{k}", f"Tale {k} of a {n} and its lamp.", f"Write of {n}, the lamp!", ())
        for n in range(400)
        for k in range(1 + n % 2)
    ]


def test_parts_share_no_prompt_and_barred_prompts_are_in_none():
    barred = {plain_prompt("WRITE of 3 the lamp"), plain_prompt("write of 4 , the lamp")}
    pairs = split_pairs([*stories(), Story("x", "No prompt.")], barred, seed=0)
    prompts = [{prompt for prompt, _ in pairs.parts[name]} for name in PARTS]
    assert sum(map(len, prompts)) == len(set.union(*prompts)) == 398
    assert pairs.counts == {
        "stories": 601,
        "without a prompt": 1,
        "left out with their prompts": 3,
        "prompts left out": 2,
        "prompts": 398,
    }
    assert 340 < len(prompts[0]) < 375
    assert pairs == split_pairs([*stories(), Story("x", "No prompt.")], barred, seed=0)
    assert pairs != split_pairs([*stories(), Story("x", "No prompt.")], barred, seed=1)


def test_vectors_are_made_once_and_kept_for_the_next_start(tmp_path):
    pairs, lines = split_pairs(stories(), (), seed=0), []
    cache = tmp_path / "new" / "vectors.npz"
    first = pool_pairs(pairs, RECIPE, cache=cache, report=lines.append)
    assert lines[-1] == "encoded 1,000 texts"
    lines.clear()
    again = pool_pairs(pairs, RECIPE, cache=cache, report=lines.append)
    assert not lines
    np.testing.assert_array_equal(first.stories["train"], again.stories["train"])
    for change in ("PK broken", ""):
        lines.clear()
        if change:
            cache.write_text(change)
        pool_pairs(pairs, replace(RECIPE, pooling="mean"), cache=cache, report=lines.append)
        assert bool(lines) == bool(change)


def test_a_training_on_texts_from_beginning_to_end(tmp_path):
    pooled = pool_pairs(split_pairs(stories(), (), seed=0), RECIPE, report=lambda line: None)
    record = train(tmp_path / "out", replace(RECIPE, epochs=3), pooled)
    assert record["data"]["counts"]["stories"] == 600
    assert (
        read_ruber_config(tmp_path / "out").domain["stories"] == record["data"]["counts"]["train"]
    )


def test_the_recipe_in_the_repository_is_read():
    assert isinstance(read_recipe(RuberRecipe, REPO / "recipes" / "ruber.toml"), RuberRecipe)


def test_a_recipe_that_will_not_do_is_refused(tmp_path):
    file = tmp_path / "recipe.toml"
    cases = {
        "hiden = 3": "hiden",
        "pooling = 'sum'": "pooling",
        "rows = 'x'": "rows",
        "=": "line 1",
    }
    for text, named in cases.items():
        file.write_text(text)
        with pytest.raises(SettingError, match=named):
            read_recipe(RuberRecipe, file)
    with pytest.raises(SettingError, match="cannot be read"):
        read_recipe(RuberRecipe, tmp_path / "none.toml")
    with pytest.raises(SettingError, match="rows must be at least 2"):
        RuberRecipe(rows=1)
    assert read_recipe(RuberRecipe, REPO / "recipes" / "ruber.toml", seed=7, rows=None).seed == 7


def test_dropout_leaves_the_mean_as_it_is():
    rows = np.full((400, 50), 3.0, dtype=np.float32)
    found = ruber._drop(rows, np.ones(50), 0.25, rng=np.random.default_rng(0))
    # A quarter is 1, the rest 1 + 2 / 0.75; the mean stays 3, with an error of 0.01.
    assert sorted({round(float(value), 4) for value in found.ravel()}) == [1.0, 3.6667]
    assert found.mean() == pytest.approx(3.0, abs=0.05)


def test_it_begins_as_a_likeness_of_prompt_and_story():
    weights = ruber._draw_weights(RuberRecipe(hidden=32), 20)
    weights |= {f"{one}.mean": np.zeros(20) for one in ("prompt", "story")}
    weights |= {f"{one}.deviation": np.ones(20) for one in ("prompt", "story")}
    q = np.random.default_rng(0).normal(size=(50, 20))
    alike, opposite = (probabilities(weights, q, some).mean() for some in (q, -q))
    assert alike > 0.6 > 0.4 > opposite
