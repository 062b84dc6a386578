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
from fabula.learned.training.recipe import PAIRED, ReaderRecipe, Task
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
    rng, rows, recipe, frame = random.Random(0), list[Window](), model.recipe, model.body.frame
    for owner, number in enumerate(numbers):
        ids = examples.text(number)
        rows += text_windows(
            ids, owner, recipe.window, overlap=recipe.overlap, rng=rng, frame=frame
        )
    return _outputs(model, rows, len(numbers), heads)


def order_logits(model: ReaderModel, examples: ExampleSet, head: str, *, turned: bool) -> Array:
    """Give the logit of every pair of sentences, as they stand or turned round."""
    rows = []
    for owner, members in enumerate(examples.members.tolist()):
        first, second = members[::-1] if turned else members
        texts = examples.text(first), examples.text(second)
        rows.append(pair_window(*texts, owner, model.body.frame))
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
                outputs = model.apply_head(head, pooled)
                empty = outputs.new_zeros(texts, outputs.shape[1])
                sums[head] = sums.get(head, empty).index_add(0, owners, outputs)
    return {head: value.cpu().numpy() / np.maximum(counts, 1) for head, value in sums.items()}


def evaluate(
    model: ReaderModel, held: Mapping[str, ExampleSet], tasks: Mapping[str, Task]
) -> dict[str, float]:
    """Give one figure a task, the higher the better: accuracy, or mean rank correlation."""
    return {
        name: _figure(model, task_examples, tasks[name])
        for name, task_examples in held.items()
        if len(task_examples)
    }


def unseen_figures(
    crossed: CrossFitted, examples: Mapping[str, ExampleSet], recipe: ReaderRecipe
) -> dict[str, dict[str, Any]]:
    """Give a figure a task, over all stories as read by those who had not learned from them.

    It is the mean over seeds; `n` counts examples.
    """
    figures = {}
    for name, task_examples in examples.items():
        task = recipe.tasks[name]
        if (name, task.head) in crossed.outputs and len(task_examples):
            seeds = [
                _opinion_figure(values[task_examples.members], task_examples, task)
                for values in crossed.outputs[name, task.head]
            ]
            figures[name] = figure_row(seeds, len(task_examples), is_pair=task.kind in PAIRED)
    return figures


def figure_row(seeds: Sequence[float], count: int, *, is_pair: bool) -> dict[str, Any]:
    """Lay a figure out for the record; a value that is not defined is None."""
    figures = [None if np.isnan(figure) else float(figure) for figure in seeds]
    mean = None if None in figures or not figures else float(np.mean(seeds))
    return {
        "figure": "accuracy" if is_pair else "spearman",
        "value": mean,
        "seeds": figures,
        "n": count,
    }


def text_means(values: Array) -> Array:
    """Give the mean over seeds of every text's values; NaN where it has none."""
    known = ~np.isnan(values)
    counts = known.sum(axis=0)
    means: Array = np.full(values.shape[1], np.nan)
    np.divide(np.where(known, values, 0).sum(axis=0), counts, out=means, where=counts > 0)
    return means


def _figure(model: ReaderModel, examples: ExampleSet, task: Task) -> float:
    if task.kind == "order":
        right = order_logits(model, examples, task.head, turned=False) > 0
        wrong = order_logits(model, examples, task.head, turned=True) > 0
        return float(np.mean(right) + 1 - np.mean(wrong)) / 2
    numbers = sorted({text for texts in examples.members.tolist() for text in texts})
    values = text_outputs(model, examples, numbers, [task.head])[task.head]
    place = {number: at for at, number in enumerate(numbers)}
    outputs = values[np.vectorize(place.__getitem__)(examples.members)]
    return _opinion_figure(outputs, examples, task)


def _opinion_figure(outputs: Array, examples: ExampleSet, task: Task) -> float:
    """Compare what was said of every example's texts, (n, texts, outputs), with its targets."""
    if task.kind in PAIRED:
        return float(np.mean(outputs[:, 0, 0] > outputs[:, 1, 0]))
    return _mean_figure(outputs[:, 0], examples.targets, _FIGURES.get(task.kind, _accuracy))


def _mean_figure(values: Array, targets: Array, figure: Callable[[Array, Array], float]) -> float:
    figures = []
    for value, target in zip(values.T, targets.T, strict=True):
        said = ~np.isnan(target)
        if said.sum() > 2:
            figures.append(figure(value[said], target[said]))
    defined = [value for value in figures if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


def _accuracy(values: Array, targets: Array) -> float:
    return float(np.mean((values > 0) == (targets > 0.5)))


def _correlation(values: Array, targets: Array) -> float:
    return float(spearman(values, targets))


_FIGURES = {"ratings": _correlation, "shares": _correlation}
