"""What each part of StoryER is worth, and each loss: variants trained alike, unseen pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from fabula.learned.training.cross_fit import CrossFitted
from fabula.learned.training.examples import ExampleSet
from fabula.learned.training.recipe import Loss
from fabula.meta.coefficients import correlate
from fabula.meta.resampling import Estimate
from fabula.replication.findings import Findings, StudyCell, StudyTable
from fabula.replication.storyer.material import Material
from fabula.replication.storyer.unseen_ratings import centre_columns, recall_at
from fabula.replication.storyer.variants import (
    COMPONENTS,
    NEGATIVES,
    RANKING,
    ComparedVariants,
    Training,
    ablate,
    base_recipe,
    compare,
    vary_loss,
)
from fabula.text.features import FEATURE_NAMES

Array = np.ndarray[Any, np.dtype[Any]]
_TRIVIAL = {
    "words": "log_words",
    "unique words": "log_unique_words",
    "word length": "word_length",
    "moving type-token ratio": "moving_type_token_ratio",
}
_LOSSES = {
    "margin": "ranking, margin 0.3 (the paper's)",
    "logistic": "ranking, logistic",
    "cross_entropy": "cross-entropy",
    "smoothed": "cross-entropy, smoothed",
}


def analyse_parts(material: Material, settings: Training) -> Findings:
    """Train the recipe without each of its parts, and say what unseen stories lose by it."""
    variants = ablate(base_recipe(settings))
    compared = compare(material, variants, settings)
    pairs = compared.examples[RANKING]
    tables = [
        StudyTable(
            "ablation_preference",
            "Pairs of stories put in the right order",
            ("variant", "accuracy", "less than all", "pairs", "prompts"),
            accuracy_rows(material, compared, [variant.name for variant in variants], first="all")
            + trivial_rows(material, pairs),
            "Folds by prompt; intervals by drawing prompts anew.",
        ),
        _aspect_table(material, compared),
    ]
    return _ablation_words(compared, settings), tables


def _ablation_words(compared: ComparedVariants, settings: Training) -> list[str]:
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
    if compared.labels and (counts := compared.labels.counts):
        words.append(
            "The public data have no comments without an aspect. So the labels of half of the "
            "comments of the stories learned from are hidden, and augmentation (aspect classifier "
            "at .9 or more, 15 to 50 words, rating classifier) labels them again: of "
            f"{counts['hidden']:,} hidden comments over all trainings it kept "
            f"{counts['labelled']:,}, of which {counts['right']:,} with the right aspect."
        )
    return words


def _aspect_table(material: Material, compared: ComparedVariants) -> StudyTable:
    rows: list[list[StudyCell]] = []
    examples = compared.examples
    for name, fitted in compared.outputs.items():
        negatives, count = _estimate_negatives(material, examples[NEGATIVES], fitted)
        rating, ratings = _estimate_ratings(material, examples["aspects"], fitted)
        recall, stories = _estimate_recall(material, examples["confidence"], fitted)
        rows.append([name, negatives, count, rating, ratings, recall, stories])
    return StudyTable(
        "ablation_aspects",
        "Negatives told apart, aspect ratings, aspects chosen",
        ("variant", "story above its negative", "negatives", "rating ρ", "ratings",
         "recall@3", "stories"),
        rows,
        "Ratings: Spearman over all ratings, less the mean of their aspect. A part that a variant "
        "does not learn has no figure.",
    )  # fmt: skip


def _estimate_negatives(
    material: Material, examples: ExampleSet, fitted: CrossFitted
) -> tuple[Estimate, int]:
    """Share of stories that stand above their own negative."""
    if (NEGATIVES, RANKING) not in fitted.outputs:
        return Estimate(), 0
    right = correct_pairs(fitted.outputs[NEGATIVES, RANKING], examples)
    return material.estimate_mean(right, examples.items), len(examples)


def _estimate_ratings(
    material: Material, examples: ExampleSet, fitted: CrossFitted
) -> tuple[Estimate, int]:
    """Correlate ratings that a variant gives with people's, each less the mean of its aspect."""
    if ("aspects", "aspects") not in fitted.outputs:
        return Estimate(), 0
    values = fitted.outputs["aspects", "aspects"].mean(0)[examples.members[:, 0]]  # (n, aspects)
    there = ~np.isnan(examples.targets)
    ours, theirs = (
        centre_columns(np.where(there, side, np.nan)) for side in (values, examples.targets)
    )

    def figure(rows: Array) -> float:
        known = there[rows]
        return float(correlate(ours[rows][known], theirs[rows][known], "spearman"))

    return material.estimate_rows(figure, examples.items), int(there.sum())


def _estimate_recall(
    material: Material, examples: ExampleSet, fitted: CrossFitted
) -> tuple[Estimate, int]:
    """Recall@3 of the aspects that people chose to speak of."""
    if ("confidence", "confidence") not in fitted.outputs:
        return Estimate(), 0
    outputs = fitted.outputs["confidence", "confidence"][:, examples.members[:, 0]]
    recalls = np.mean([recall_at(3, seed, examples.targets > 0) for seed in outputs], axis=0)
    return material.estimate_mean(recalls, examples.items), len(examples)


def analyse_losses(material: Material, settings: Training) -> Findings:
    """Train the preference head alone by every loss."""
    names = sorted(get_args(Loss), key=list(_LOSSES).index)
    compared = compare(material, vary_loss(base_recipe(settings), names), settings)
    rows = accuracy_rows(material, compared, names, first=names[0])
    rows = [[_LOSSES[str(name)], *others] for name, *others in rows]
    table = StudyTable(
        "losses",
        "Pairs of stories put in the right order",
        ("loss", "accuracy", "less than the margin loss", "pairs", "prompts"),
        [*rows, *trivial_rows(material, compared.examples[RANKING])],
        "Cross-entropy learns each story by itself as liked or not; ranking the two of a pair.",
    )
    how = "heads on the frozen encoder" if settings.depth == "heads" else "all layers"
    words = [f"Preference alone, {how}, {settings.folds} folds by prompt × {settings.seeds} seeds."]
    return words, [table]


def correct_pairs(outputs: Array, examples: ExampleSet) -> Array:
    """Give for every pair the share of seeds in which its first text is ahead; a tie is wrong.

    `outputs` are (seeds, texts, outputs), of which the first counts.
    """
    first, second = examples.members.T
    ahead = outputs[:, first, 0] > outputs[:, second, 0]
    shares: Array = ahead.mean(0)
    return shares


def accuracy_rows(
    material: Material, compared: ComparedVariants, names: Sequence[str], *, first: str
) -> list[list[StudyCell]]:
    """Give the accuracy of every variant, and how far it stands below the first one."""
    pairs = compared.examples[RANKING]
    counts: tuple[int, int] = len(pairs), len(set(pairs.items))
    right = {
        name: correct_pairs(compared.outputs[name].outputs[RANKING, RANKING], pairs)
        for name in names
        if (RANKING, RANKING) in compared.outputs[name].outputs
    }
    rows: list[list[StudyCell]] = []
    for name, shares in right.items():
        ahead = material.estimate_mean(shares, pairs.items)
        less = material.estimate_mean(right[first] - shares, pairs.items)
        rows.append([name, ahead, None if name == first else less, *counts])
    return rows


def trivial_rows(material: Material, pairs: ExampleSet) -> list[list[StudyCell]]:
    """Give the accuracy of trivial baselines: the longer, the richer, the better."""
    rows: list[list[StudyCell]] = []
    for name, feature in _TRIVIAL.items():
        values = pairs.features[:, FEATURE_NAMES.index(feature)]
        right = correct_pairs(values[None, :, None], pairs)
        ahead = material.estimate_mean(right, pairs.items)
        rows.append([f"baseline: {name}", ahead, None, len(pairs), len(set(pairs.items))])
    return rows
