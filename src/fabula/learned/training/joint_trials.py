"""Several joint trainings: the same with other seeds, and a recipe with settings of a grid.

StoryER's figures are means of three seeds; its margin and rate were chosen from a grid, and its
ablations are the recipe with one of its switches off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.core.plain import read_toml
from fabula.learned.training.folder import write_record
from fabula.learned.training.grid import Trial, read_grid, try_all
from fabula.learned.training.joint import train_joint
from fabula.learned.training.joint_data import JointData, prepare_joint
from fabula.learned.training.joint_recipe import JointRecipe
from fabula.learned.training.loop import Report
from fabula.learned.training.recipe import read_recipe

SEEDS = "seeds.json"
SHOWN = ("accuracy", "distance", "recall_at_3", "rating", "loss.comments", "loss")
_SEED = "seed-"


@dataclass(frozen=True)
class MeanFigure:
    """A figure of held-out data: its mean over seeds, and their standard deviation."""

    mean: float
    deviation: float  # NaN of one seed
    seeds: int


def train_seeds(
    recipe: JointRecipe,
    data: JointData,
    *,
    out: Path,
    seeds: int = 1,
    device: str = "",
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Train with a seed and those after it; give the figures by seed, and which one is best.

    One training is `out` itself; several are in its folders `seed-1`, `seed-2` …
    """
    numbers = [recipe.seed + number for number in range(seeds)]
    folders = [out / f"{_SEED}{number}" for number in numbers] if seeds > 1 else [out]
    if seeds > 1 and not resume and any(folder.exists() for folder in folders):
        raise InputError(f"{out} holds a training", "say --resume, or name another folder")
    how: Any = {"device": device, "resume": resume or seeds > 1, "report": report}
    best, held = list[dict[str, Any]](), list[dict[str, Any]]()
    for seed, folder in zip(numbers, folders, strict=True):
        report(f"seed {seed}")
        record = train_joint(replace(recipe, seed=seed), data, out=folder, **how)
        best.append(record["best"] or {})
        held.append(record.get("held_out_pairs", {}))
    values = np.array([float(row.get("figure", np.nan)) for row in best])
    kept = 0 if np.isnan(values).all() else int(np.nanargmax(values))
    summary = {
        "seeds": numbers,
        "folders": [folder.name for folder in folders],
        "figures": [row.get("held_out", {}) for row in best],
        "held_out_pairs": held,
        "figure": float(values.mean()),
        "best": str(folders[kept]),
    }
    if seeds > 1:
        write_record(out / SEEDS, summary)
    return summary


def try_joints(
    recipe: Path,
    grid: Path,
    data: Path | None,
    *,
    out: Path,
    seed: int | None = None,
    seeds: int = 1,
    device: str = "",
    resume: bool = False,
    report: Report = print,
) -> list[Trial]:
    """Train by every setting of a grid, with so many seeds each; the best mean comes first."""
    read_data: dict[tuple[Any, ...], JointData] = {}

    def read(plain: Mapping[str, Any]) -> JointRecipe:
        chosen = read_recipe(JointRecipe, plain, where=str(recipe), seed=seed)
        if not chosen.held_out:
            problem = "nothing would tell which setting is best"
            raise SettingError(problem, "say held_out = 0.1 in the recipe")
        return chosen

    def train(chosen: JointRecipe, folder: Path) -> dict[str, Any]:
        # Settings that change no data read it but once.
        turned = chosen.negatives and chosen.antonyms
        key = (chosen.pairs, chosen.items, chosen.augmented, chosen.cleaned, turned)
        if key not in read_data:
            read_data[key] = prepare_joint(chosen, data, report=report)
        how: Any = {"seeds": seeds, "device": device, "resume": True, "report": report}
        return train_seeds(chosen, read_data[key], out=folder, **how)

    plain = read_toml(recipe, error=SettingError)
    how: Any = {"out": out, "resume": resume, "report": report}
    return try_all(plain, read_grid(grid), read=read, train=train, **how)


def average_figures(figures: Sequence[Mapping[str, float]]) -> dict[str, MeanFigure]:
    """Average figures over seeds, name by name; one that a seed lacks is left out."""
    names = [name for name in SHOWN if figures and all(name in row for row in figures)]
    averages = {}
    for name in names:
        values = np.array([row[name] for row in figures])
        deviation = float(values.std(ddof=1)) if len(values) > 1 else np.nan
        averages[name] = MeanFigure(float(values.mean()), deviation, len(values))
    return averages
