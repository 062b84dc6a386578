"""What ranking, aspects, comments, negatives and augmentation are each worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabula.datasets.storyer_ratings import ASPECTS as NAMES
from fabula.learned.training.cross_fit import CrossFitted
from fabula.learned.training.examples import ExampleSet
from fabula.meta.coefficients import correlate
from fabula.meta.resampling import Estimate, estimate_mean, estimate_rows
from fabula.replication.storyer._comparison import (
    COMPONENTS,
    Compared,
    Training,
    base_recipe,
    compare,
)
from fabula.replication.storyer._findings import Cell, Finding, Table
from fabula.replication.storyer._material import Material
from fabula.replication.storyer._pairs import accuracy_rows, correct_pairs, trivial_rows
from fabula.replication.storyer._recall import recalls
from fabula.replication.storyer._variants import NEGATIVES, RANKING, ablated

Array = np.ndarray[Any, np.dtype[Any]]
TITLE = "Ablation: what each part of StoryER is worth"
Settings = Training


def analyse(material: Material, settings: Training) -> Finding:
    """Train the recipe without each of its parts, and say what unseen stories lose by it."""
    variants = ablated(base_recipe(settings))
    found = compare(material, variants, settings)
    pairs = found.examples[RANKING]
    tables = [
        Table(
            "ablation_preference",
            "Pairs of stories put in the right order",
            ("variant", "accuracy", "less than all", "pairs", "prompts"),
            accuracy_rows(material, found, [one.name for one in variants], first="all")
            + trivial_rows(material, pairs),
            "Folds by prompt; intervals by drawing prompts anew.",
        ),
        _aspect_table(material, found, settings),
    ]
    return Finding("ablation", TITLE, _words(found, settings), tables)


def _words(found: Compared, settings: Training) -> list[str]:
    how = f"{settings.folds} folds by prompt × {settings.seeds} seeds"
    if settings.depth == "full":
        return [
            f"All layers are trained ({how}). Comments and augmentation need a decoder or the "
            "heads setting, and are left out here."
        ]
    words = [
        f"Heads on the frozen story encoder ({how}): every story is one vector, and only a shared "
        f"layer of {settings.hidden} units and the heads are trained. Comments enter as a head "
        "that predicts the mean encoder vector of a story's comments, along its first "
        f"{COMPONENTS} principal components; no decoder is trained.",
    ]
    if found.labels and (seen := found.labels.seen):
        words.append(
            "The public data have no comments without an aspect. So the labels of half of the "
            "comments of the stories learned from are hidden, and augmentation (aspect classifier "
            "at .9 or more, 15 to 50 words, rating classifier) labels them again: of "
            f"{seen['hidden']:,} hidden comments over all trainings it kept {seen['kept']:,}, of "
            f"which {seen['right']:,} with the right aspect."
        )
    return words


def _aspect_table(material: Material, found: Compared, settings: Training) -> Table:
    rows: list[list[Cell]] = []
    for name, said in found.said.items():
        negatives, count = _told_apart(material, found, said)
        rating, ratings = _rating(material, found.examples["aspects"], said)
        recall, stories = _recall(material, found.examples["confidence"], said)
        rows.append([name, negatives, count, rating, ratings, recall, stories])
    return Table(
        "ablation_aspects",
        "Negatives told apart, aspect ratings, aspects chosen",
        ("variant", "story above its negative", "negatives", "rating ρ", "ratings",
         "recall@3", "stories"),
        rows,
        "Ratings: Spearman over all ratings, less the mean of their aspect. A part that a variant "
        "does not learn has no figure.",
    )  # fmt: skip


def _told_apart(material: Material, found: Compared, said: CrossFitted) -> tuple[Estimate, int]:
    """Share of stories that stand above their own negative."""
    examples = found.examples[NEGATIVES]
    if (NEGATIVES, RANKING) not in said.outputs:
        return Estimate(np.nan), 0
    right = correct_pairs(said.outputs[NEGATIVES, RANKING], examples)
    return estimate_mean(right, examples.items, resamples=material.resamples), len(examples)


def _rating(material: Material, examples: ExampleSet, said: CrossFitted) -> tuple[Estimate, int]:
    if ("aspects", "aspects") not in said.outputs:
        return Estimate(np.nan), 0
    values = said.outputs["aspects", "aspects"].mean(0)[examples.members[:, 0]]  # (n, aspects)
    targets = np.where(np.isnan(examples.targets), np.nan, examples.targets)
    there = ~np.isnan(targets)
    told, wanted = (_centred(np.where(there, one, np.nan)) for one in (values, targets))

    def figure(rows: Array) -> float:
        kept = there[rows]
        return float(correlate(told[rows][kept], wanted[rows][kept], "spearman"))

    found = estimate_rows(figure, examples.items, resamples=material.resamples)
    return found, int(there.sum())


def _centred(values: Array) -> Array:
    counts = np.maximum((~np.isnan(values)).sum(0), 1)
    found: Array = values - np.nansum(values, axis=0) / counts
    return found


def _recall(material: Material, examples: ExampleSet, said: CrossFitted) -> tuple[Estimate, int]:
    if ("confidence", "confidence") not in said.outputs:
        return Estimate(np.nan), 0
    outputs = said.outputs["confidence", "confidence"][:, examples.members[:, 0]]
    found = np.mean([recalls(one, examples.targets > 0, 3) for one in outputs], axis=0)
    assert examples.targets.shape[1] == len(NAMES)
    return estimate_mean(found, examples.items, resamples=material.resamples), len(examples)
