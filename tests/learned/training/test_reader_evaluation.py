"""Figures of a reader on examples that it did not learn from."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from fabula.learned.training import reader_evaluation
from fabula.learned.training.bert import load_weights, read_shape
from fabula.learned.training.cross_fit import CrossFitted
from fabula.learned.training.examples import example_set
from fabula.learned.training.reader_evaluation import (
    evaluate,
    figure_row,
    order_logits,
    text_outputs,
    unseen_figures,
)
from fabula.learned.training.reader_model import ReaderModel
from fabula.learned.training.recipe import Task
from fakes.tiny_tasks import (
    cut,
    tale,
    tiny_body,
    tiny_prepared,
    tiny_recipe,
    write_tiny_encoder,
)

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

SIZES = {"labels": 1, "preference": 1, "rated": 2}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ReaderModel:
    start: Path = write_tiny_encoder(tmp_path_factory.mktemp("tiny") / "start")
    shape = read_shape(start)
    weights = load_weights(start, shape, seed=0)
    device = torch.device("cpu")
    return ReaderModel(
        weights, tiny_body(start), recipe=tiny_recipe(), outputs=SIZES, device=device
    )


def told(monkeypatch, values):
    """Heads say these values of the texts, (texts, outputs)."""

    def outputs(model, examples, numbers, heads):
        return {head: np.array(values, dtype=float)[list(numbers)] for head in heads}

    monkeypatch.setattr(reader_evaluation, "text_outputs", outputs)


def test_a_text_of_several_windows_gets_the_mean_of_them(model):
    texts = [*cut([tale(1, sentences=8)]), *cut(["the dog sang ."])]
    examples = example_set(texts, [[0], [1]], [[1.0]] * 2, items=["a", "b"], ids=["a", "b"])
    found = text_outputs(model, examples, [0, 1], ["rated"])["rated"]
    size, count = 24, len(texts[0])
    number = -(-count // size)
    ends = [i * count // number for i in range(number + 1)]
    parts = [texts[0][start:stop] for start, stop in pairwise(ends)]
    alone = example_set(
        parts, [[i] for i in range(number)], [[1.0]] * number, items=["a"] * number, ids=[]
    )
    wanted = text_outputs(model, alone, range(number), ["rated"])["rated"].mean(0)
    assert number == 3
    np.testing.assert_allclose(found[0], wanted, atol=1e-5)
    again = text_outputs(model, examples, [1], ["rated"])["rated"]
    np.testing.assert_allclose(found[1], again[0], atol=1e-5)


@pytest.mark.parametrize("kind", ["pairs", "spoiled"])
def test_accuracy_of_pairs_is_the_share_in_the_right_order(kind, monkeypatch):
    told(monkeypatch, [[1.0], [0.0], [2.0], [3.0]])
    examples = example_set(
        [[1]] * 4, [[0, 1], [2, 3], [3, 0]], [[1.0]] * 3, items=["a"] * 3, ids=["a"] * 4
    )
    task = Task(kind, ("made_up",), "head")
    # The second pair is the wrong way round.
    assert evaluate(None, {"a": examples}, {"a": task}) == {"a": pytest.approx(2 / 3)}


def test_ratings_are_compared_aspect_by_aspect_where_somebody_rated(monkeypatch):
    told(monkeypatch, [[1.0, 4.0], [2.0, 3.0], [3.0, 2.0], [4.0, 1.0]])
    nan = np.nan
    targets = [[1.0, 1.0], [2.0, nan], [4.0, 2.0], [3.0, 3.0]]
    examples = example_set([[1]] * 4, [[i] for i in range(4)], targets, items="abcd", ids="abcd")
    task = Task("ratings", ("made_up",), "head", aspects=("a", "b"))
    # Ranks 1 2 3 4 and 1 2 4 3: 1 - 6 · 2 / (4 · 15) = .8; the second aspect is upside down.
    assert evaluate(None, {"a": examples}, {"a": task})["a"] == pytest.approx((0.8 - 1) / 2)


def test_labels_are_told_by_the_sign(monkeypatch):
    told(monkeypatch, [[1.0], [-1.0], [2.0], [-3.0]])
    targets = [[1.0], [0.0], [0.0], [0.0]]
    examples = example_set([[1]] * 4, [[i] for i in range(4)], targets, items="abcd", ids="abcd")
    task = Task("labels", ("made_up",), "head", aspects=("a",))
    assert evaluate(None, {"a": examples}, {"a": task}) == {"a": 0.75}


def test_a_task_without_examples_has_no_figure_and_few_ratings_are_undefined(monkeypatch):
    told(monkeypatch, [[1.0]])
    none = example_set([[1]], [], [], items=[], ids=["a"])
    few = example_set([[1]], [[0]], [[3.0]], items=["a"], ids=["a"])
    task = Task("ratings", ("made_up",), "head", aspects=("a",))
    found = evaluate(None, {"none": none, "few": few}, {"none": task, "few": task})
    assert list(found) == ["few"]
    assert np.isnan(found["few"])


def test_order_is_judged_both_ways(model, monkeypatch):
    sentences = cut(["the king rode .", "the queen sang .", "a dog ."])
    examples = example_set(sentences, [[0, 1], [1, 2]], [[1.0]] * 2, items=["a", "a"], ids=[])
    forth = order_logits(model, examples, "labels", turned=False)
    back = order_logits(model, examples, "labels", turned=True)
    assert forth.shape == back.shape == (2,)
    assert not np.allclose(forth, back)
    task = Task("order", ("made_up",), "labels")
    wanted = (np.mean(forth > 0) + np.mean(back <= 0)) / 2
    assert evaluate(model, {"a": examples}, {"a": task})["a"] == pytest.approx(wanted)


def test_unseen_stories_give_a_figure_a_task_and_the_mean_over_seeds():
    prepared, recipe = tiny_prepared(), tiny_recipe()
    rated = prepared.examples["rated"].targets
    pairs = np.zeros((2, 48, 1))
    pairs[0, ::2] = 1.0  # all pairs right
    pairs[1, :24:2], pairs[1, 25::2] = 1.0, 1.0  # half of them
    outputs = {
        ("preference", "preference"): pairs,
        ("rated", "rated"): np.stack([rated, -rated]),
    }
    found = unseen_figures(CrossFitted(outputs, {}), prepared.examples, recipe)
    assert found["preference"] == {
        "figure": "accuracy", "value": 0.75, "seeds": [1.0, 0.5], "n": 24,
    }  # fmt: skip
    assert found["rated"]["seeds"] == pytest.approx([1.0, -1.0])
    assert (found["rated"]["value"], found["rated"]["n"]) == (pytest.approx(0.0), 30)
    assert "labels" not in found


def test_a_figure_that_is_not_defined_is_none_in_the_record():
    row = figure_row([0.5, float("nan")], 3, is_pair=False)
    assert (row["value"], row["seeds"]) == (None, [0.5, None])
