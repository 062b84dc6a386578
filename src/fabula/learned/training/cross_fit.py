"""What readers say of stories that they did not learn from: folds by item, for every seed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.training.examples import ExampleSet, describe
from fabula.learned.training.folds import (
    fold_alone,
    fold_of_items,
    opinion_tasks,
    without_fold,
)
from fabula.learned.training.members import learn_members
from fabula.learned.training.reader_course import Course, plain
from fabula.learned.training.reader_evaluation import evaluate, text_outputs
from fabula.learned.training.reader_model import ReaderModel
from fabula.learned.training.run import Report

if TYPE_CHECKING:
    from fabula.learned.training.reader import Bench

Array = np.ndarray[Any, np.dtype[Any]]
_ABOUT, _PART = "about", "part"


@dataclass(frozen=True)
class CrossFitted:
    """Outputs by task and head, (seeds, texts, outputs), and each text's fold, (seeds, texts)."""

    outputs: Mapping[tuple[str, str], Array]
    folds: Mapping[str, Array]


def cross_fit(bench: Bench, *, folds: int, seeds: int, out: Path, report: Report) -> CrossFitted:
    """Train folds × seeds readers; what is on disk already is not made again."""
    recipe = bench.recipe
    tasks = opinion_tasks(recipe)
    kept = _load(out, _about(bench, folds))
    # The first seed comes last: the training on everything goes on from its start.
    for seed in reversed(range(recipe.seed, recipe.seed + seeds)):
        if f"{seed}/done" not in kept:
            _fit_seed(bench, seed, folds=folds, kept=kept, out=out, report=report)
    return _stacked(kept, range(recipe.seed, recipe.seed + seeds), tasks)


def _fit_seed(
    bench: Bench, seed: int, *, folds: int, kept: dict[str, Array], out: Path, report: Report
) -> None:
    """Train the readers of a seed; each leaves what it says on disk, for a kill."""
    tasks, examples = opinion_tasks(bench.recipe), bench.examples(seed)
    parts = fold_of_items({i for name in tasks for i in examples[name].items}, folds, seed)
    before, part = f"{seed}/", f"{seed}/{_PART}"
    begun = int(kept.pop(part, 0))
    found = {k.removeprefix(before): v for k, v in kept.items() if k.startswith(before)}
    start, first = bench.shared_start(seed, report)
    for fold in range(begun, folds):
        course = Course(start.recipe, {}, report, first=first, seed_shift=fold)
        lessons = without_fold(examples, parts, fold)
        model = learn_members(course, lambda _: start.copied(), lessons, {})
        _gather(found, model, examples, parts=parts, fold=fold)
        held = {name: fold_alone(examples[name], parts, fold) for name in tasks}
        figures = evaluate(model, held, bench.recipe.tasks)
        said = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
        report(f"seed {seed}, fold {fold + 1} of {folds}: {said}")
        kept |= {f"{before}{name}": value for name, value in found.items()}
        _save(out, kept | {part: np.array(fold + 1)})
    kept[f"{before}done"] = np.array(1)
    _save(out, kept)


def _about(bench: Bench, folds: int) -> str:
    """Say what outputs follow from; scales may change without any reader being trained again."""
    recipe = plain(bench.recipe)
    for name in ("kind", "scales", "licence", "report_every", "checkpoint_every"):
        del recipe[name]
    return json.dumps({"recipe": recipe, "folds": folds, "data": describe(bench.given)})


def _gather(
    found: dict[str, Array],
    model: ReaderModel,
    examples: Mapping[str, ExampleSet],
    *,
    parts: Mapping[str, int],
    fold: int,
) -> None:
    """Add what a reader says of the texts of its own fold."""
    for name in opinion_tasks(model.recipe):
        one = examples[name]
        chosen = fold_alone(one, parts, fold)
        numbers = sorted({number for some in chosen.members.tolist() for number in some})
        folds = found.setdefault(f"{name}/folds", np.full(len(one.texts), -1))
        folds[numbers] = fold
        outputs = text_outputs(model, one, numbers, list(model.recipe.heads))
        for head, values in outputs.items():
            shape = (len(one.texts), values.shape[1])
            kept = found.setdefault(f"{name}/{head}", np.full(shape, np.nan, dtype=np.float32))
            kept[numbers] = values


def _stacked(kept: Mapping[str, Array], seeds: range, tasks: list[str]) -> CrossFitted:
    outputs: dict[tuple[str, str], Array] = {}
    folds: dict[str, Array] = {}
    for name in tasks:
        folds[name] = np.stack([kept[f"{seed}/{name}/folds"] for seed in seeds])
        before = f"{seeds[0]}/{name}/"
        heads = [key.removeprefix(before) for key in kept if key.startswith(before)]
        for head in heads:
            if head != "folds":
                outputs[name, head] = np.stack([kept[f"{seed}/{name}/{head}"] for seed in seeds])
    return CrossFitted(outputs, folds)


def _load(path: Path, about: str) -> dict[str, Array]:
    if not path.is_file():
        return {_ABOUT: np.array(about)}
    with np.load(path, allow_pickle=False) as found:
        kept = dict(found)
    if str(kept.setdefault(_ABOUT, np.array(about))) != about:
        problem = f"{path} is of another recipe, other data or another number of folds"
        raise InputError(problem, "train into another folder")
    return kept


def _save(path: Path, kept: Mapping[str, Array]) -> None:
    partial = path.with_name(f".{path.name}.part")
    with partial.open("wb") as file:
        np.savez_compressed(file, **kept)  # type: ignore[arg-type]
    partial.replace(path)
