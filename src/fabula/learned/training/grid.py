"""A grid: several settings of one recipe, each trained in a folder of its own, the best first."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from fabula.core.errors import InputError, SettingError, closest
from fabula.core.plain import read_toml
from fabula.learned.training import ruber
from fabula.learned.training.folder import write_record
from fabula.learned.training.loop import Report
from fabula.learned.training.reader import ExampleSource, train_reader
from fabula.learned.training.recipe import ReaderRecipe, Stage, read_recipe
from fabula.learned.training.ruber import RuberRecipe

T = TypeVar("T")
GRID, VARIANTS = "grid.json", "variants"
Settings = Mapping[tuple[str, ...], Any]  # values by place in a recipe: ("stages", "0", "rate")


@dataclass(frozen=True)
class Trial:
    """A setting that was trained: where it lies, and its mean figure, NaN where there is none."""

    settings: Settings
    folder: Path
    figure: float
    record: Mapping[str, Any] = field(default_factory=dict, repr=False)


def read_grid(path: Path) -> list[Settings]:
    """Read a TOML file that names settings of a recipe with a list of values each; all combine.

    Tables called `[[variants]]` are settings by themselves instead: they do not combine.
    """
    plain = read_toml(path, error=SettingError)
    if VARIANTS in plain:
        return _read_variants(path, plain)
    leaves = dict(_leaves(plain))
    for place, values in leaves.items():
        if not isinstance(values, list) or not values:
            remedy = "write a list of the values to try"
            raise SettingError(f"{path}: {spell(place)} = {values!r} is no list", remedy)
    if not leaves:
        raise SettingError(f"{path} names no setting", "write, for example, rate = [5e-5, 1e-4]")
    return [dict(zip(leaves, chosen, strict=True)) for chosen in product(*leaves.values())]


def _read_variants(path: Path, plain: Mapping[str, Any]) -> list[Settings]:
    tables = plain[VARIANTS]
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise SettingError(f"{path}: {VARIANTS} are no tables", f"write [[{VARIANTS}]] above each")
    if others := sorted(plain.keys() - {VARIANTS}):
        problem = f"{path}: {others[0]} stands beside [[{VARIANTS}]]"
        raise SettingError(problem, "put it into each of them, or into a grid of its own")
    return [dict(_leaves(table)) for table in tables]


def apply_settings(recipe: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Give a recipe's plain values with some of them changed.

    A setting of stages that is said without a stage counts for all of them.
    """
    changed = deepcopy(dict(recipe))
    of_stages = {setting.name for setting in fields(Stage)}
    for place, value in settings.items():
        if len(place) == 1 and place[0] in of_stages and "stages" in changed:
            for stage in changed["stages"]:
                stage[place[0]] = value
        else:
            _put(changed, place, value)
    return changed


def try_all(
    plain: Mapping[str, Any],
    grid: Sequence[Settings],
    *,
    read: Callable[[Mapping[str, Any]], T],
    train: Callable[[T, Path], Mapping[str, Any]],
    out: Path,
    resume: bool = False,
    report: Report = print,
) -> list[Trial]:
    """Train every setting of a grid into out/01, out/02 …; give them, the best first.

    `read` makes a recipe of plain values; all are read before the first is trained. `train` gives
    the record, and must go on with a folder that holds a training.
    """
    recipes = [read(apply_settings(plain, settings)) for settings in grid]
    _open(out, plain, grid, resume=resume)
    digits = max(2, len(str(len(grid))))
    trials = []
    for number, (settings, recipe) in enumerate(zip(grid, recipes, strict=True), 1):
        folder = out / f"{number:0{digits}}"
        report(f"{number} of {len(grid)}: {describe(settings)}")
        record = train(recipe, folder)
        trials.append(Trial(settings, folder, mean_figure(record), record))
    return sorted(trials, key=lambda trial: math.inf if math.isnan(trial.figure) else -trial.figure)


def try_readers(
    recipe: Path,
    grid: Path,
    source: ExampleSource,
    *,
    out: Path,
    seed: int | None,
    device: str,
    folds: int,
    seeds: int,
    resume: bool,
    report: Report,
) -> list[Trial]:
    """Train readers by every setting of a grid."""

    def read(plain: Mapping[str, Any]) -> ReaderRecipe:
        chosen = read_recipe(ReaderRecipe, plain, where=str(recipe), seed=seed)
        if not folds and not chosen.held_out:
            problem = "nothing would tell which setting is best"
            raise SettingError(problem, "say --folds 5, or held_out = 0.1 in the recipe")
        return chosen

    def train(chosen: ReaderRecipe, folder: Path) -> dict[str, Any]:
        return train_reader(
            chosen, source, out=folder,
            device=device, folds=folds, seeds=seeds, resume=True, report=report,
        )  # fmt: skip

    plain = read_toml(recipe, error=SettingError)
    how: Any = {"out": out, "resume": resume, "report": report}
    return try_all(plain, read_grid(grid), read=read, train=train, **how)


def try_rubers(
    recipe: Path,
    grid: Path,
    data: Path | None,
    *,
    out: Path,
    seed: int | None,
    resume: bool,
    report: Report,
) -> list[Trial]:
    """Train RUBER by every setting of a grid."""

    def read(plain: Mapping[str, Any]) -> RuberRecipe:
        return read_recipe(RuberRecipe, plain, where=str(recipe), seed=seed)

    def train(chosen: RuberRecipe, folder: Path) -> dict[str, Any]:
        return ruber.train_on_data(chosen, data, out=folder, resume=True, report=report)

    plain = read_toml(recipe, error=SettingError)
    how: Any = {"out": out, "resume": resume, "report": report}
    return try_all(plain, read_grid(grid), read=read, train=train, **how)


def mean_figure(record: Mapping[str, Any]) -> float:
    """Give the mean over tasks of what unseen stories show; without folds, of held-out ones.

    A record that says its own figure is taken at its word.
    """
    if "figure" in record:
        return float(record["figure"])
    if rows := record.get("unseen"):
        values = [row["value"] for row in rows.values() if row["value"] is not None]
        return sum(values) / len(values) if values else math.nan
    if (best := record.get("best")) and record.get("history"):  # RUBER: the epoch that was kept
        return float(next(row["accuracy"] for row in record["history"] if row["epoch"] == best))
    return max((row["mean"] for row in record.get("history", ())), default=math.nan)


def describe(settings: Settings) -> str:
    """Say a setting in words."""
    return ", ".join(f"{spell(place)} = {json.dumps(value)}" for place, value in settings.items())


def spell(place: Sequence[str]) -> str:
    """Spell the place of a setting as TOML does."""
    return ".".join(f'"{part}"' if "." in part else part for part in place)


def _leaves(
    table: Mapping[str, Any], at: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*at, name))
        else:
            yield (*at, name), value


def _put(recipe: Any, place: tuple[str, ...], value: Any) -> None:
    here = recipe
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
    problem = f"the grid names {spell(place)}, which the recipe has not"
    return SettingError(problem, closest(place[-1], known) if known else "see the recipe")


def _open(out: Path, recipe: Mapping[str, Any], grid: Sequence[Settings], *, resume: bool) -> None:
    """Note what the folder is for; one that holds another grid is refused."""
    wanted = {"recipe": dict(recipe), "settings": [_plain(settings) for settings in grid]}
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
    return {spell(place): value for place, value in settings.items()}
