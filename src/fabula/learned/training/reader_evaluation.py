"""How a reader does on examples it did not learn from."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.learned.training.batches import (
    Window,
    pair_window,
    reading_batches,
    text_windows,
)
from fabula.learned.training.examples import ExampleSet
from fabula.learned.training.recipe import ReaderRecipe, Task
from fabula.meta.coefficients import spearman

if TYPE_CHECKING:
    from torch import Tensor

    from fabula.learned.training.cross_fit import CrossFitted
    from fabula.learned.training.reader_model import ReaderModel

Array = np.ndarray[Any, np.dtype[Any]]


def text_outputs(
    model: ReaderModel, examples: ExampleSet, numbers: Sequence[int], heads: Sequence[str]
) -> dict[str, Array]:
    """Give what heads say of some texts: the mean over all windows: (texts, outputs)."""
    rng, rows, recipe = random.Random(0), list[Window](), model.recipe
    for owner, number in enumerate(numbers):
        ids = examples.text(number)
        rows += text_windows(ids, owner, recipe.window, overlap=recipe.overlap, rng=rng)
    return _outputs(model, rows, len(numbers), heads)


def order_logits(model: ReaderModel, examples: ExampleSet, head: str, *, turned: bool) -> Array:
    """Give the logit of every pair of sentences, as they stand or turned round."""
    rows = []
    for owner, members in enumerate(examples.members.tolist()):
        first, second = members[::-1] if turned else members
        rows.append(pair_window(examples.text(first), examples.text(second), owner))
    return _outputs(model, rows, len(rows), [head])[head][:, 0]


def _outputs(
    model: ReaderModel, rows: Sequence[Window], texts: int, heads: Sequence[str]
) -> dict[str, Array]:
    import torch

    sums: dict[str, Tensor] = {}
    counts = np.zeros((texts, 1))
    ordered = sorted(rows, key=lambda row: len(row.ids))
    with torch.no_grad():
        for batch in reading_batches(ordered, model.recipe.window, texts):
            pooled = model.pool(batch.tokens)
            np.add.at(counts, batch.tokens.owners, 1)
            owners = torch.from_numpy(batch.tokens.owners).to(model.device)
            for head in heads:
                found = model.apply_head(head, pooled)
                empty = found.new_zeros(texts, found.shape[1])
                sums[head] = sums.get(head, empty).index_add(0, owners, found)
    return {head: value.cpu().numpy() / np.maximum(counts, 1) for head, value in sums.items()}


def evaluate(
    model: ReaderModel, held: Mapping[str, ExampleSet], tasks: Mapping[str, Task]
) -> dict[str, float]:
    """Give one figure a task, the higher the better: accuracy, or mean rank correlation."""
    return {name: _figure(model, one, tasks[name]) for name, one in held.items() if len(one)}


def unseen_figures(
    crossed: CrossFitted, examples: Mapping[str, ExampleSet], recipe: ReaderRecipe
) -> dict[str, dict[str, Any]]:
    """Give a figure a task, over all stories as read by those who had not learned from them.

    It is the mean over seeds; `n` counts examples.
    """
    found = {}
    for name, one in examples.items():
        task = recipe.tasks[name]
        if (name, task.head) in crossed.outputs and len(one):
            seeds = [
                _opinion_figure(values[one.members], one, task)
                for values in crossed.outputs[name, task.head]
            ]
            found[name] = figure_row(seeds, len(one), is_pair=task.kind == "pairs")
    return found


def figure_row(seeds: Sequence[float], count: int, *, is_pair: bool) -> dict[str, Any]:
    """Lay a figure out for the record; a value that is not defined is None."""
    known = [None if np.isnan(one) else float(one) for one in seeds]
    value = None if None in known or not known else float(np.mean(seeds))
    return {
        "figure": "accuracy" if is_pair else "spearman",
        "value": value,
        "seeds": known,
        "n": count,
    }


def text_means(values: Array) -> Array:
    """Give the mean over seeds of every text's values; NaN where it has none."""
    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    found: Array = np.full(values.shape[1], np.nan)
    np.divide(np.where(known, values, 0).sum(axis=0), counts, out=found, where=counts > 0)
    return found


def _figure(model: ReaderModel, examples: ExampleSet, task: Task) -> float:
    if task.kind == "order":
        right = order_logits(model, examples, task.head, turned=False) > 0
        wrong = order_logits(model, examples, task.head, turned=True) > 0
        return float(np.mean(right) + 1 - np.mean(wrong)) / 2
    numbers = sorted({one for some in examples.members.tolist() for one in some})
    values = text_outputs(model, examples, numbers, [task.head])[task.head]
    place = {number: at for at, number in enumerate(numbers)}
    found = values[np.vectorize(place.__getitem__)(examples.members)]
    return _opinion_figure(found, examples, task)


def _opinion_figure(found: Array, examples: ExampleSet, task: Task) -> float:
    """Compare what was said of every example's texts, (n, texts, outputs), with its targets."""
    if task.kind == "pairs":
        return float(np.mean(found[:, 0, 0] > found[:, 1, 0]))
    return _mean_figure(found[:, 0], examples.targets, _FIGURES.get(task.kind, _accuracy))


def _mean_figure(values: Array, targets: Array, figure: Callable[[Array, Array], float]) -> float:
    found = []
    for value, target in zip(values.T, targets.T, strict=True):
        said = ~np.isnan(target)
        if said.sum() > 2:
            found.append(figure(value[said], target[said]))
    known = [one for one in found if not np.isnan(one)]
    return float(np.mean(known)) if known else float("nan")


def _accuracy(values: Array, targets: Array) -> float:
    return float(np.mean((values > 0) == (targets > 0.5)))


def _correlation(values: Array, targets: Array) -> float:
    return float(spearman(values, targets))


_FIGURES = {"ratings": _correlation, "shares": _correlation}
