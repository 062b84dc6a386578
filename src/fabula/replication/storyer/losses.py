"""Ranking by margin or logistic loss against cross-entropy, plain and smoothed."""

from __future__ import annotations

from typing import get_args

from fabula.learned.training.reader_recipe import Loss
from fabula.replication.storyer._comparison import Training, base_recipe, compare
from fabula.replication.storyer._findings import Finding, Table
from fabula.replication.storyer._material import Material
from fabula.replication.storyer._pairs import accuracy_rows, trivial_rows
from fabula.replication.storyer._variants import RANKING, by_loss

TITLE = "Losses: ranking against telling good from bad"
Settings = Training
_WORDS = {
    "margin": "ranking, margin 0.3 (the paper's)",
    "logistic": "ranking, logistic",
    "cross_entropy": "cross-entropy",
    "smoothed": "cross-entropy, smoothed",
}


def analyse(material: Material, settings: Training) -> Finding:
    """Train the preference head alone by every loss."""
    names = sorted(get_args(Loss), key=list(_WORDS).index)
    found = compare(material, by_loss(base_recipe(settings), names), settings)
    rows = accuracy_rows(material, found, names, first=names[0])
    rows = [[_WORDS[str(name)], *others] for name, *others in rows]
    table = Table(
        "losses",
        "Pairs of stories put in the right order",
        ("loss", "accuracy", "less than the margin loss", "pairs", "prompts"),
        [*rows, *trivial_rows(material, found.examples[RANKING])],
        "Cross-entropy learns each story by itself as liked or not; ranking the two of a pair.",
    )
    how = "heads on the frozen encoder" if settings.depth == "heads" else "all layers"
    words = [f"Preference alone, {how}, {settings.folds} folds by prompt × {settings.seeds} seeds."]
    return Finding("losses", TITLE, words, [table])
