from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.topics.dictionary import (
    RECIPES,
    TopicModel,
    TopicRecipe,
    TopicTrainee,
    average_vectors,
    train_topics,
)
from fabula.learned.topics.lda import count_words

SMALL = TopicRecipe(topics=3, rows=20, epochs=20, rate=1e-2)


def three_clouds(each: int = 60, seed: int = 1) -> np.ndarray:
    """Vectors around three axes of five, shifted to one side."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(3 * np.eye(5)[:3], each, axis=0)
    return centres + 4.0 + 0.3 * rng.normal(size=(3 * each, 5))


def test_a_passage_is_the_mean_of_its_known_words():
    counts = count_words([["a", "a", "b"], ["b", "c"], ["c"]], ["a", "b", "c"])
    vectors = np.array([[1.0, 0.0], [4.0, 3.0], [np.nan, np.nan]])
    means = average_vectors(counts, vectors)
    assert means[:2].tolist() == [[2.0, 1.0], [4.0, 3.0]]
    assert np.isnan(means[2]).all()


@pytest.mark.parametrize(
    "recipe", [SMALL, replace(SMALL, start="orthogonal")], ids=["clusters", "orthogonal"]
)
def test_clouds_of_passages_become_topics(recipe):
    vectors = three_clouds()
    model = train_topics(vectors, recipe)
    assigned = model.weigh(vectors).argmax(axis=1).reshape(3, -1)
    assert [len(set(row.tolist())) for row in assigned] == [1, 1, 1]
    assert len({int(row[0]) for row in assigned}) == 3
    assert np.allclose(np.linalg.norm(model.dictionary, axis=1), 1)


def test_training_lowers_the_loss_of_passages_that_were_held_out():
    rng = np.random.default_rng(0)
    mixed = rng.permutation(three_clouds())
    history = train_topics(mixed, replace(SMALL, start="orthogonal")).history
    assert history[-1]["loss"] < history[0]["loss"]
    assert [row["epoch"] for row in history] == list(range(1, 21))


def test_the_same_seed_gives_the_same_topics_and_another_does_not():
    vectors = three_clouds()
    recipe = replace(SMALL, start="orthogonal", network="layers", epochs=2)
    first, again = (train_topics(vectors, recipe).dictionary for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.allclose(first, train_topics(vectors, replace(recipe, seed=1)).dictionary)


def test_the_loss_is_the_papers_by_hand():
    vectors = np.array([[3.0, 0.0], [0.0, 2.0]], dtype=np.float32)
    recipe = TopicRecipe(topics=2, start="orthogonal", held_out=0, negatives=1, rows=2)
    trainee = TopicTrainee(recipe, vectors)
    with_rows = [[2.0, 0.0], [0.0, 5.0]]
    trainee.weights["dictionary"].data.copy_(trainee.weights["dictionary"].new_tensor(with_rows))
    losses = trainee.learn(trainee.batch(0), 1)
    # Of two passages each is the other's negative; x asks for topics by its own numbers.
    margins = []
    for length in (3.0, 2.0):
        own = math.exp(length) / (math.exp(length) + 1)
        r = np.array([own, 1 - own])
        margins.append(max(0.0, 1 + (r[1] - r[0]) / np.linalg.norm(r)))
    assert losses["margin"].item() == pytest.approx(np.mean(margins), abs=1e-6)
    assert losses["alike"].item() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("normalise", "alike"), [("rows", 2.0), ("columns", 1.0)])
def test_alike_topics_cost_by_rows_or_as_in_the_code_by_columns(normalise, alike):
    recipe = TopicRecipe(
        topics=2, start="orthogonal", held_out=0, orthogonal=1.0, normalise=normalise, rows=2
    )
    trainee = TopicTrainee(recipe, np.ones((4, 2), dtype=np.float32))
    rows = trainee.weights["dictionary"]
    rows.data.copy_(rows.new_tensor([[1.0, 0.0], [1.0, 0.0]]))
    # By rows XXᵀ is all ones: two cells off by one. By columns both rows are (√½, 0): all halves,
    # so four cells are off by a half, of which the squares add up to one.
    assert trainee.learn(trainee.batch(0), 1)["alike"].item() == pytest.approx(alike)


def test_layers_stand_between_a_passage_and_the_topics():
    layers = {
        "in.weight": np.array([[1.0, -1.0], [0.0, 0.0]]),
        "in.bias": np.zeros(2),
        "out.weight": np.array([[0.0, 2.0], [1.0, 0.0]]),
        "out.bias": np.array([0.0, 1.0]),
    }
    model = TopicModel(np.eye(2), np.zeros(2), layers)
    # (3, 9) → (3, −3) → (3, 0) → (0, 6 + 1) → (0, 7).
    assert model.query(np.array([[3.0, 9.0]])).tolist() == [[0.0, 7.0]]
    assert model.weigh(np.array([[3.0, 9.0]]))[0, 1] == pytest.approx(1 / (1 + math.exp(-7)))


def test_the_codes_recipe_trains_layers_with_dropout():
    recipe = replace(RECIPES["code"], topics=3, epochs=2, rows=20)
    model = train_topics(three_clouds(), recipe)
    assert {*model.layers} == {"in.weight", "in.bias", "out.weight", "out.bias"}
    assert model.layers["in.weight"].shape == (5, 100)
    assert not model.centre.any()


def test_recipes_of_paper_and_code_differ_as_the_two_do():
    paper, code = RECIPES["paper"], RECIPES["code"]
    assert (paper.network, code.network) == ("direct", "layers")
    assert (paper.topics, paper.rate, paper.rows, paper.epochs, paper.seed) == (
        50,
        1e-4,
        200,
        400,
        42,
    )
    assert (code.normalise, code.redraw, code.held_out_dropout) == ("columns", False, True)


def test_too_few_passages_are_refused():
    with pytest.raises(InputError, match="5 passages are too few for 3 topics"):
        train_topics(np.ones((5, 2)), TopicRecipe(topics=3))


@pytest.mark.parametrize(
    "settings", [{"topics": 1}, {"rate": 0}, {"dropout": 1}, {"held_out": -0.1}], ids=str
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(SettingError):
        TopicRecipe(**settings)
