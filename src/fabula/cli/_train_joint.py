"""`fabula train storyer` by a recipe with a backbone: StoryER's whole model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.cli import echo
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.learned.training.grid import Trial
    from fabula.learned.training.joint_trials import MeanFigure

# What a figure of held-out data is called.
NAMES = {
    "accuracy": "accuracy",
    "distance": "distance",
    "recall_at_3": "recall@3 of aspects",
    "rating": "Spearman's ρ of ratings",
    "loss.comments": "comments' cross-entropy",
    "loss": "loss",
}


def train_joint_model(
    recipe: Path, data: Path | None, out: Path, *, grid: Path | None, seed: int | None, **how: Any
) -> None:
    """Train a backbone in StoryER's way; with a grid, by each of its settings."""
    from fabula.learned.training.joint_data import prepare_joint
    from fabula.learned.training.joint_recipe import JointRecipe
    from fabula.learned.training.joint_trials import average_figures, train_seeds, try_joints
    from fabula.learned.training.recipe import read_recipe

    if grid:
        trials = try_joints(recipe, grid, data, out=out, seed=seed, **how)
        _say_trials(trials)
        record = trials[0].record
    else:
        chosen = read_recipe(JointRecipe, recipe, seed=seed)
        learned = prepare_joint(chosen, data, report=how["report"])
        record = train_seeds(chosen, learned, out=out, **how)
        _say_figures(average_figures(record["figures"]))
        _say_intervals(record)
    echo(f"storyer(weights={record['best']!r})")


def _say_figures(figures: Mapping[str, MeanFigure]) -> None:
    from fabula.cli.train import _say, _say_rows

    if not figures:
        return _say("nothing was measured: say held_out in the recipe")
    count = next(iter(figures.values())).seeds
    _say(f"of held-out prompts, {_seeds_text(count)}:")
    return _say_rows([(NAMES[name], _figure_text(figure)) for name, figure in figures.items()])


def _say_intervals(record: Mapping[str, Any]) -> None:
    """Print the accuracy of every seed with its interval, where pairs were held out."""
    from fabula.cli.train import _say

    for seed, held in zip(record["seeds"], record["held_out_pairs"], strict=True):
        if held:
            ends = [] if held["low"] is None else [held["low"], held["high"]]
            reach = f" [{', '.join(f'{end:.3f}' for end in ends)}]" if ends else ""
            said = f"{count_text(held['pairs'], 'pair')} of {count_text(held['prompts'], 'prompt')}"
            _say(f"accuracy of seed {seed}: {held['value']:.3f}{reach}, {said}")


def _say_trials(trials: Sequence[Trial]) -> None:
    """Print a row a setting: its folder, its figures, what it is."""
    from fabula.cli.train import _say, _say_rows
    from fabula.learned.training.grid import describe
    from fabula.learned.training.joint_trials import average_figures

    averages = [average_figures(trial.record["figures"]) for trial in trials]
    names = [name for name in NAMES if name != "loss" and any(name in row for row in averages)]
    _say(f"of held-out prompts, {_seeds_text(len(trials[0].record['seeds']))}, the best first:")
    rows = [["", *(NAMES[name] for name in names), "setting"]]
    for trial, figures in zip(trials, averages, strict=True):
        told = [_figure_text(figures[name]) if name in figures else "–" for name in names]
        rows.append([trial.folder.name, *told, describe(trial.settings) or "the recipe as it is"])
    _say_rows(rows)


def _seeds_text(count: int) -> str:
    return f"mean of {count_text(count, 'seed')} ± standard deviation" if count > 1 else "one seed"


def _figure_text(figure: MeanFigure) -> str:
    deviation = "" if math.isnan(figure.deviation) else f" ± {figure.deviation:.3f}"
    return f"{figure.mean:.3f}{deviation}"
