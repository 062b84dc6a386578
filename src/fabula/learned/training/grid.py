"""A grid: several settings of one recipe, each trained in a folder of its own, the best first."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, closest
from fabula.learned.training.reader_recipe import Stage
from fabula.learned.training.recipe_file import read_toml
from fabula.learned.training.run import Report, write_record

GRID = "grid.json"
Settings = Mapping[tuple[str, ...], Any]  # values by place in a recipe: ("stages", "0", "rate")
Train = Callable[[Mapping[str, Any], Path], Mapping[str, Any]]  # recipe and folder in, record out


@dataclass(frozen=True)
class Tried:
    """A setting that was trained: where it lies, and its mean figure, NaN where there is none."""

    settings: Settings
    folder: Path
    figure: float


def read_grid(path: Path) -> list[Settings]:
    """Read a TOML file that names settings of a recipe with a list of values each; all combine."""
    leaves = dict(_leaves(read_toml(path, "--grid")))
    for place, values in leaves.items():
        if not isinstance(values, list) or not values:
            remedy = "write a list of the values to try"
            raise SettingError(f"{path}: {spelled(place)} = {values!r} is no list", remedy)
    if not leaves:
        raise SettingError(f"{path} names no setting", "write, for example, rate = [5e-5, 1e-4]")
    return [dict(zip(leaves, chosen, strict=True)) for chosen in product(*leaves.values())]


def with_settings(recipe: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Give a recipe's plain values with some of them changed.

    A setting of stages that is said without a stage counts for all of them.
    """
    found = deepcopy(dict(recipe))
    of_stages = {one.name for one in fields(Stage)}
    for place, value in settings.items():
        if len(place) == 1 and place[0] in of_stages and "stages" in found:
            for stage in found["stages"]:
                stage[place[0]] = value
        else:
            _put(found, place, value)
    return found


def try_all(
    recipe: Mapping[str, Any],
    grid: Sequence[Settings],
    *,
    out: Path,
    train: Train,
    resume: bool = False,
    report: Report = print,
) -> list[Tried]:
    """Train every setting of a grid into out/01, out/02 …; give them, the best first.

    `train` must go on with a folder that holds a training; what is finished it gives back.
    """
    recipes = [with_settings(recipe, settings) for settings in grid]
    _open(out, recipe, grid, resume=resume)
    digits = max(2, len(str(len(grid))))
    found = []
    for number, (settings, changed) in enumerate(zip(grid, recipes, strict=True), 1):
        folder = out / f"{number:0{digits}}"
        report(f"{number} of {len(grid)}: {describe(settings)}")
        found.append(Tried(settings, folder, mean_figure(train(changed, folder))))
    return sorted(found, key=lambda one: math.inf if math.isnan(one.figure) else -one.figure)


def mean_figure(record: Mapping[str, Any]) -> float:
    """Give the mean over tasks of what unseen stories show; without folds, of held-out ones."""
    if rows := record.get("unseen"):
        values = [one["value"] for one in rows.values() if one["value"] is not None]
        return sum(values) / len(values) if values else math.nan
    if (best := record.get("best")) and record.get("history"):  # RUBER: the epoch that was kept
        return float(next(one["accuracy"] for one in record["history"] if one["epoch"] == best))
    return max((one["mean"] for one in record.get("history", ())), default=math.nan)


def describe(settings: Settings) -> str:
    """Say a setting in words."""
    return ", ".join(f"{spelled(place)} = {json.dumps(one)}" for place, one in settings.items())


def spelled(place: Sequence[str]) -> str:
    """Spell the place of a setting as TOML does."""
    return ".".join(f'"{part}"' if "." in part else part for part in place)


def _leaves(
    found: Mapping[str, Any], at: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*at, name))
        else:
            yield (*at, name), value


def _put(found: Any, place: tuple[str, ...], value: Any) -> None:
    here = found
    for name in place[:-1]:
        here = _below(here, name, place)
    if isinstance(here, list):
        _below(here, place[-1], place)
        here[int(place[-1])] = value
    elif isinstance(here, dict):
        here[place[-1]] = value
    else:
        raise _nowhere(place, ())


def _below(here: Any, name: str, place: Sequence[str]) -> Any:
    if isinstance(here, list):
        known = [str(number) for number in range(len(here))]
        if name in known:
            return here[int(name)]
        raise _nowhere(place, known)
    if isinstance(here, dict) and name in here:
        return here[name]
    raise _nowhere(place, here if isinstance(here, dict) else ())


def _nowhere(place: Sequence[str], known: Any) -> SettingError:
    problem = f"the grid names {spelled(place)}, which the recipe has not"
    return SettingError(problem, closest(place[-1], known) if known else "see the recipe")


def _open(out: Path, recipe: Mapping[str, Any], grid: Sequence[Settings], *, resume: bool) -> None:
    """Note what the folder is for; one that holds another grid is refused."""
    wanted = {"recipe": dict(recipe), "settings": [_plain(one) for one in grid]}
    file = out / GRID
    if file.exists():
        if not resume:
            raise InputError(f"{out} holds a grid", "say --resume, or name another folder")
        if json.loads(file.read_text(encoding="utf-8")) != json.loads(json.dumps(wanted)):
            raise InputError(f"{out} holds another grid", "name another folder")
        return
    out.mkdir(parents=True, exist_ok=True)
    write_record(file, wanted)


def _plain(settings: Settings) -> dict[str, Any]:
    return {spelled(place): value for place, value in settings.items()}
