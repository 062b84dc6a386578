"""A reader in training: pooled windows, heads, and every loss by hand."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.learned.training.batches import Share, pack_texts, text_windows
from fabula.learned.training.bert import load_weights, read_shape
from fabula.learned.training.loop import StagePlan
from fabula.learned.training.reader_model import ReaderModel, ReaderTrainee, example_losses
from fabula.learned.training.recipe import Task
from fakes.tiny_tasks import FRAME, PLAIN_RECIPE, cut, tale, tiny_body, tiny_prepared, tiny_recipe

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

CPU = "cpu"
SIZES = {"labels": 1, "preference": 1, "rated": 2}


def model_of(start: Path, **changes) -> ReaderModel:
    shape = read_shape(start)
    return ReaderModel(
        load_weights(start, shape, seed=0),
        tiny_body(start),
        recipe=tiny_recipe(**changes),
        outputs=SIZES,
        device=torch.device(CPU),
    )


def plan_of(model: ReaderModel) -> StagePlan:
    """The plan of a model's first stage."""
    return ReaderTrainee(model, tiny_prepared().examples, {}, stages=range(1)).begin_stage(0)


def task(kind: str, **settings) -> Task:
    return Task(kind, ("made_up",), "head", **settings)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def loss_of(values, targets, one: Task) -> list[float]:
    found = example_losses(torch.tensor(values), torch.tensor(targets), one)
    return found.tolist()


PAIR = [[[1.5], [0.5]]]  # the better story's logit, and the other's


@pytest.mark.parametrize("kind", ["pairs", "spoiled"])
def test_the_logistic_loss_of_a_pair(kind):
    assert loss_of(PAIR, [[1.0]], task(kind)) == pytest.approx([math.log1p(math.exp(-1.0))])


def test_the_margin_loss_of_a_pair_is_on_probabilities():
    gap = sigmoid(1.5) - sigmoid(0.5)  # .8176 - .6225 = .1951
    one = task("pairs", loss="margin", margin=0.3)
    assert loss_of(PAIR, [[1.0]], one) == pytest.approx([0.3 - gap])
    assert loss_of([[[3.0], [-3.0]]], [[1.0]], one) == [0.0]


def test_the_cross_entropy_of_a_pair_and_its_smoothed_kind():
    plain = -math.log(sigmoid(1.5)) - math.log(1 - sigmoid(0.5))
    assert loss_of(PAIR, [[1.0]], task("pairs", loss="cross_entropy")) == pytest.approx([plain])
    smooth = -0.9 * math.log(sigmoid(1.5)) - 0.1 * math.log(1 - sigmoid(1.5))
    smooth += -0.1 * math.log(sigmoid(0.5)) - 0.9 * math.log(1 - sigmoid(0.5))
    assert loss_of(PAIR, [[1.0]], task("pairs", loss="smoothed")) == pytest.approx([smooth])


def test_the_loss_of_ratings_leaves_out_what_nobody_rated():
    values, targets = [[[1.0, 2.0]], [[0.0, 4.0]]], [[0.0, 4.0], [math.nan, 1.0]]
    # (1 + 4) / 2; then only the second output, 9.
    assert loss_of(values, targets, task("ratings", aspects=("a", "b"))) == pytest.approx([2.5, 9])
    none = [[math.nan, math.nan]]
    assert loss_of([[[1.0, 2.0]]], none, task("ratings", aspects=("a", "b"))) == [0.0]


def test_the_loss_of_shares_is_their_cross_entropy():
    total = math.exp(1) + math.exp(2)
    wanted = -0.25 * math.log(math.exp(1) / total) - 0.75 * math.log(math.exp(2) / total)
    one = task("shares", aspects=("a", "b"))
    assert loss_of([[[1.0, 2.0]]], [[0.25, 0.75]], one) == pytest.approx([wanted])


@pytest.mark.parametrize("kind", ["labels", "corrupted", "filled", "order"])
def test_the_loss_of_a_label_counts_positives_by_their_weight(kind):
    one = task(kind, positives=3.0)
    found = loss_of([[[0.7]], [[0.7]]], [[1.0], [0.0]], one)
    wanted = [-3 * math.log(sigmoid(0.7)), -math.log(1 - sigmoid(0.7))]
    assert found == pytest.approx(wanted)


def test_the_loss_of_a_batch_is_the_mean_of_each_group_by_the_weight_of_its_task(start):
    tasks = dict(tiny_recipe().tasks)
    tasks["labels"] = replace(tasks["labels"], weight=2.0)
    model = model_of(start)
    model.recipe = replace(model.recipe, tasks=tasks, dropout=0.0, head_dropout=0.0)
    texts = cut([tale(number) for number in range(4)])
    rng = random.Random(0)
    rows = [
        row
        for owner, ids in enumerate(texts)
        for row in text_windows(ids, owner, 24, rng=rng, frame=FRAME)
    ]
    shares = [
        Share("labels", 0, np.array([[0], [1]]), np.array([[1.0], [0.0]], dtype=np.float32)),
        Share("rated", 0, np.array([[2]]), np.array([[0.5, -0.5]], dtype=np.float32)),
        Share("preference", 1, np.array([[2, 3]]), np.array([[1.0]], dtype=np.float32)),
    ]
    batch = pack_texts(rows, 26, 4, shares)
    pooled = model.pool(batch.tokens)
    said = {head: model.read_texts(pooled, batch, head).detach() for head in SIZES}
    labels = loss_of(said["labels"][:2, None].tolist(), [[1.0], [0.0]], tasks["labels"])
    rated = loss_of(said["rated"][2:3, None].tolist(), [[0.5, -0.5]], tasks["rated"])
    pairs = loss_of(said["preference"][None, 2:].tolist(), [[1.0]], tasks["preference"])
    # Three examples in the first group, one in the second.
    wanted = (2 * sum(labels) + sum(rated)) / 3 + sum(pairs)
    assert float(model.loss(batch).detach()) == pytest.approx(wanted, rel=1e-5)


def test_windows_side_by_side_do_not_see_each_other(start):
    model = model_of(start)
    texts = [*cut([tale(1), tale(2)]), *cut(["the king rode home ."])]
    rng = random.Random(0)
    rows = [
        row
        for owner, ids in enumerate(texts)
        for row in text_windows(ids, owner, 24, rng=rng, frame=FRAME)
    ]
    together = pack_texts(rows, 26, 3)
    with torch.no_grad():
        found = model.read_texts(model.pool(together.tokens), together, "rated")
        for owner, ids in enumerate(texts):
            alone = pack_texts(text_windows(ids, 0, 24, rng=rng, frame=FRAME), 26, 1)
            one = model.read_texts(model.pool(alone.tokens), alone, "rated")
            torch.testing.assert_close(one[0], found[owner], rtol=0, atol=1e-5)


def test_a_windows_vector_is_its_first_state_and_the_mean_of_all(start):
    from fabula.learned.training.bert import encode

    model = model_of(start)
    [ids] = cut(["the king rode home ."])
    row = torch.tensor([[101, *ids, 102]])
    places = torch.arange(row.shape[1])[None]
    ones = torch.ones_like(row)
    with torch.no_grad():
        states = encode(model.weights, row, places, ones, shape=model.body.shape)[0]
        batch = pack_texts(text_windows(ids, 0, 24, rng=random.Random(0), frame=FRAME), 26, 1)
        [pooled] = model.pool(batch.tokens)
    wanted = torch.cat([states[0], states.mean(0)])
    torch.testing.assert_close(pooled, wanted, rtol=0, atol=1e-5)


def test_lower_layers_learn_more_slowly_and_biases_do_not_decay(start):
    stage = {**PLAIN_RECIPE["stages"][0], "rate": 1e-3, "layer_decay": 0.5}
    model = model_of(start, stages=[stage])
    groups = plan_of(model).optimiser.param_groups
    by_weight = {id(w): g for g in groups for w in g["params"]}
    name = "bert.encoder.layer.{}.output.dense.{}"
    # Two layers: the upper one is a step below the heads, the lower one two; heads learn thrice.
    for key, rate, decay in [
        (name.format(1, "weight"), 0.5e-3, 0.01),
        (name.format(0, "weight"), 0.25e-3, 0.01),
        (name.format(0, "bias"), 0.25e-3, 0.0),
        ("head.rated.weight", 3e-3, 0.01),
        ("head.rated.bias", 3e-3, 0.0),
    ]:
        group = by_weight[id(model.weights[key])]
        assert (group["scale"], group["weight_decay"]) == pytest.approx((rate, decay)), key


def test_frozen_layers_and_embeddings_do_not_learn(start):
    stage = {**PLAIN_RECIPE["stages"][0], "heads_only": True}
    model = model_of(start, frozen_layers=1, stages=[stage])
    assert not any(".layer.0." in name or "embeddings" in name for name in model.trained)
    assert any(".layer.1." in name for name in model.trained)
    learning = {id(weight) for weight in plan_of(model).parameters}
    assert learning == {id(w) for name, w in model.trained.items() if name.startswith("head.")}


def test_a_head_with_a_hidden_layer_is_two_maps_with_a_tanh(start):
    tasks = dict(tiny_recipe().tasks)
    tasks["rated"] = replace(tasks["rated"], hidden=5)
    shape = read_shape(start)
    model = ReaderModel(
        load_weights(start, shape, seed=0), tiny_body(start),
        recipe=replace(tiny_recipe(), tasks=tasks), outputs=SIZES, device=torch.device(CPU),
    )  # fmt: skip
    x = torch.randn(3, 64, generator=torch.Generator().manual_seed(0))
    w = model.weights
    inner = torch.tanh(x @ w["head.rated.inner.weight"].T + w["head.rated.inner.bias"])
    wanted = inner @ w["head.rated.outer.weight"].T + w["head.rated.outer.bias"]
    torch.testing.assert_close(model.apply_head("rated", x), wanted)


def test_a_copy_learns_on_its_own(start):
    model = model_of(start)
    other = model.copy()
    [ids] = cut([tale(1)])
    share = Share("labels", 0, np.array([[0]]), np.array([[1.0]], dtype=np.float32))
    batch = pack_texts(text_windows(ids, 0, 24, rng=random.Random(0), frame=FRAME), 26, 1, [share])
    before = {name: value.detach().clone() for name, value in model.weights.items()}
    ReaderTrainee(other, {}, {}, stages=range(1)).learn(batch, 1)
    plan = plan_of(other)
    plan.optimiser.step()
    assert all(torch.equal(before[name], model.weights[name]) for name in before)
    assert not torch.equal(before["head.labels.weight"], other.weights["head.labels.weight"])
