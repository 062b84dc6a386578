"""Training by other recipes than a reader's: with a backbone, probes, or choices made up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabula.cli import echo
from fabula.core.story import count_text


def train_other(
    recipe: Path,
    data: Path | None,
    out: Path,
    *,
    prepared: Path | None,
    start: Path | None,
    folds: int | None,
    grid: Path | None,
    seed: int | None,
    seeds: int,
    device: str,
    **how: Any,
) -> None:
    """Train by a recipe that is not a reader's."""
    from fabula.cli._train_joint import train_joint_model
    from fabula.cli.train import _refuse
    from fabula.learned.training.recipe import is_joint, is_sequence

    if is_joint(recipe):
        _refuse("a recipe with a backbone", prepared=prepared, start=start, folds=folds)
        many: Any = {"grid": grid, "seed": seed, "seeds": seeds, "device": device}
        return train_joint_model(recipe, data, out, **many, **how)
    if is_sequence(recipe):
        _refuse(
            "a recipe of made choices",
            prepared=prepared,
            start=start,
            folds=folds,
            grid=grid,
            seed=seed,
        )
        return _train_sequence(recipe, data, out, **how)
    _refuse("a recipe with probes", start=start, folds=folds, grid=grid, seed=seed)
    return _train_probes(recipe, data, out, states=prepared, **how)


def _train_probes(recipe: Path, data: Path | None, out: Path, **how: Any) -> None:
    """Fit linear heads to a model's states; say what was measured."""
    from fabula.learned.training.probe import ProbeRecipe
    from fabula.learned.training.probe_training import train_probes
    from fabula.learned.training.recipe import read_recipe

    record = train_probes(read_recipe(ProbeRecipe, recipe), out=out, data=data, **how)
    for name, figures in record["scales"].items():
        if "mean_gain" in figures:
            _say_choices(name, figures)
        else:
            [figure] = figures.values()
            echo(f"{name}: Spearman's ρ {figure['value']:.3f}, {figure['n']:,} unseen stories")
    metric = "storyer" if "preference" in record["scales"] else "coherence"
    echo(f"{metric}(weights={str(out)!r})")


def _train_sequence(recipe: Path, data: Path | None, out: Path, **how: Any) -> None:
    """Fit a head to stories beside the same spoiled; say how many it tells."""
    from fabula.learned.training.recipe import read_recipe
    from fabula.learned.training.sequence import SequenceRecipe, train_sequence

    record = train_sequence(read_recipe(SequenceRecipe, recipe), out=out, data=data, **how)
    for name, figure in record["unseen"].items():
        value = figure["value"]
        echo(
            f"{name}: {value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}] of "
            f"{figure['n']:,} unseen stretches are preferred to the same spoiled"
        )
    echo(f"beside = {str(out)!r} in a recipe of coherence asks it")


def _say_choices(name: str, figures: Mapping[str, Any]) -> None:
    from fabula.cli.train import _say_rows

    inside = {row["corpus"]: row for row in figures["unseen"]}
    echo(f"{name}: agreement with choices; unseen items, then the whole corpus left out")
    rows = []
    for row in figures["left_out"]:
        own = inside.get(row["corpus"])
        unseen = f"{own['accuracy']['value']:.3f}" if own else "never learned"
        gain = row["gain"]
        rows.append(
            (
                row["corpus"],
                f"{unseen}, {row['accuracy']['value']:.3f}; {row['baseline']} "
                f"{row['baseline_accuracy']:.3f}, gain {_interval(gain)} "
                f"({count_text(row['choices'], 'choice')})",
            )
        )
    _say_rows([*rows, ("mean gain", _interval(figures["mean_gain"]))])


def _interval(estimate: Mapping[str, Any]) -> str:
    return f"{estimate['value']:+.3f} [{estimate['low']:+.3f}, {estimate['high']:+.3f}]"
