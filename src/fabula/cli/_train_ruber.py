"""`fabula train ruber`: a small network on the frozen story encoder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli._train_reader import DATA, GRID, OUT, QUIET, RECIPE, RESUME, SEED, reporter
from fabula.cli._train_words import grid_table

if TYPE_CHECKING:
    from fabula.learned.training.ruber_recipe import RuberRecipe


@click.command("ruber")
@DATA
@OUT
@RECIPE
@SEED
@GRID
@RESUME
@QUIET
def ruber_command(**options: Any) -> None:
    """Which story was written on a prompt.

    The recipe that is built in is recipes/ruber.toml. What is measured is on prompts that were
    held out.
    """
    from fabula.learned.training.reader_recipe import built_in_recipe
    from fabula.learned.training.recipe_file import read_toml

    path = options["recipe"] or built_in_recipe("ruber")
    plain = read_toml(path)
    if options["grid"]:
        return _train_grid(plain, path, options)
    record = _train(plain, path, options["out"], options=options, resume=options["resume"])
    test = record["test"]
    said = f"{test['accuracy']:.3f} ± {test['error']:.3f}, n = {test['prompts']:,.0f} prompts"
    click.echo(f"its own prompt rather than another, of held-out stories: {said}", err=True)
    click.echo(_spec(options["out"]))
    return None


def _train_grid(plain: Mapping[str, Any], path: Path, options: Mapping[str, Any]) -> None:
    from fabula.learned.training.grid import read_grid, try_all, with_settings

    grid = read_grid(options["grid"])
    for settings in grid:
        _recipe_of(with_settings(plain, settings), path, options)

    def train(changed: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        return _train(changed, path, folder, options=options, resume=True)

    report = reporter(quiet=options["quiet"])
    how = {"out": options["out"], "resume": options["resume"], "report": report}
    found = try_all(plain, grid, train=train, **how)
    click.echo(grid_table(found), err=True)
    click.echo(_spec(found[0].folder))


def _train(
    plain: Mapping[str, Any], path: Path, out: Path, *, options: Mapping[str, Any], resume: bool
) -> dict[str, Any]:
    from fabula.learned.training.ruber import train_on_data

    return train_on_data(
        _recipe_of(plain, path, options),
        options["data"],
        out=out,
        resume=resume,
        report=reporter(quiet=options["quiet"]),
    )


def _recipe_of(plain: Mapping[str, Any], path: Path, options: Mapping[str, Any]) -> RuberRecipe:
    from fabula.learned.training.recipe_file import settled
    from fabula.learned.training.ruber_recipe import RuberRecipe

    seed = {} if options["seed"] is None else {"seed": options["seed"]}
    return settled(RuberRecipe, {**plain, **seed}, str(path))


def _spec(out: Path) -> str:
    return f"ruber(weights={str(out)!r})"
