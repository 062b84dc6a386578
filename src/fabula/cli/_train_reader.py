"""`fabula train storyer`, `coherence`, `rovist_c` …: heads on the story encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli._train_words import grid_table, measured_lines, specs_of
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from fabula.learned.training.examples import Prepared
    from fabula.learned.training.reader_recipe import ReaderRecipe

# Without storyer, which has options of its own.
KINDS = {
    "coherence": "The judge of coherence, with UNION's and MANPLTS's heads.",
    "rovist_c": "Which of two neighbouring sentences comes first.",
    "union": "People's stories told from corrupted ones.",
    "manplts": "People's stories told from those of manipulated plots.",
}
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)
OUT = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="For weights."
)
RECIPE = click.option("--recipe", type=_FILE, help="TOML file.  [default: built in]")
DATA = click.option("--data", type=_FOLDER, help="Folder with a folder for each data set.")
SEED = click.option("--seed", type=click.IntRange(0), help="Instead of the recipe's.")
GRID = click.option("--grid", type=_FILE, help="TOML file of settings to try: all combine.")
DEVICE = click.option(
    "--device", default="", metavar="NAME", help="cpu or cuda.  [default: what is there]"
)
RESUME = click.option("--resume", is_flag=True, help="Go on after a kill.")
QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
_OPTIONS = (
    DATA, OUT, RECIPE,
    click.option(
        "--prepared", type=_FILE, help="Examples (.npz): read if there, else written."
    ),
    click.option("--start", type=_FOLDER, help="Where the encoder lies.  [default: the asset]"),
    SEED,
    click.option(
        "--folds", type=click.IntRange(2), help="So many more, each without a part of the items."
    ),
    click.option("--seeds", type=click.IntRange(1), default=1, show_default=True, help="Of folds."),
    GRID, DEVICE, RESUME, QUIET,
)  # fmt: skip
Report = Callable[[str], None]


def reader_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that the training of every reader has."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def train_kind(kind: str, options: Mapping[str, Any]) -> None:
    """Train a reader by its recipe, or all settings of a grid; say what was measured."""
    from fabula.learned.training.reader_recipe import built_in_recipe
    from fabula.learned.training.recipe_file import read_toml
    from fabula.learned.training.storyer_joint_recipe import is_joint_recipe

    path = options["recipe"] or built_in_recipe(kind)
    if is_joint_recipe(path):
        return _train_joint(path, options)
    plain = read_toml(path)
    if options["grid"]:
        return _train_grid(kind, plain, path, options)
    recipe = _recipe_of(plain, path, options)
    record = _Bench(options).train(recipe, options["out"])
    _close(kind, recipe, record, options["out"])
    return None


def reporter(*, quiet: bool) -> Report:
    """Give what tells progress."""

    def report(line: str) -> None:
        if not quiet:
            click.echo(line, err=True)

    return report


class _Bench:
    """What the trainings of one command share: the encoder's folder and the examples."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._report = reporter(quiet=options["quiet"])
        self._kept: tuple[Any, Prepared] | None = None

    def train(self, recipe: ReaderRecipe, out: Path, *, resume: bool = False) -> dict[str, Any]:
        from fabula.learned.training.encoder import RECORD, open_folder
        from fabula.learned.training.reader import train_reader

        resume = resume or self._options["resume"]
        if (out / RECORD).exists() and (done := open_folder(out, resume=resume)) is not None:
            return done
        start = _encoder_folder(recipe, self._options["start"])
        return train_reader(
            recipe,
            self._examples(recipe, start),
            start=start,
            out=out,
            device=self._options["device"],
            resume=resume,
            folds=self._options["folds"] or 0,
            seeds=self._options["seeds"],
            report=self._report,
        )

    def _examples(self, recipe: ReaderRecipe, start: Path) -> Prepared:
        """Read or make the examples, once for all recipes that need the same."""
        from fabula.learned.training.examples import describe, load_prepared, save_prepared
        from fabula.learned.training.reader_recipe import example_settings
        from fabula.learned.training.tasks import cut_by, prepare

        settings = example_settings(recipe)
        if self._kept and self._kept[0] == settings:
            return self._kept[1]
        file = None if self._kept else self._options["prepared"]
        if file and file.exists():
            found = load_prepared(file, list(recipe.tasks), settings)
        else:
            found = prepare(recipe, cut_by(start), self._options["data"])
            if file:
                save_prepared(found, file, settings)
        self._kept = settings, found
        for name, one in describe(found.examples).items():
            self._report(f"{name}: {one['examples']:,} examples, {one['texts']:,} texts")
        return found


def _recipe_of(plain: Mapping[str, Any], path: Path, options: Mapping[str, Any]) -> ReaderRecipe:
    from fabula.learned.training.reader_recipe import reader_recipe_of

    seed = {} if options["seed"] is None else {"seed": options["seed"]}
    return reader_recipe_of({**plain, **seed}, str(path))


def _encoder_folder(recipe: ReaderRecipe, start: Path | None) -> Path:
    """Give the folder of the encoder; another than the asset that the recipe names is refused."""
    from fabula.models import asset_names, get_asset, path_of
    from fabula.models.store.asset import is_whole

    if start is None:
        return path_of(recipe.encoder)
    if recipe.encoder in asset_names() and not is_whole(
        start, get_asset(recipe.encoder), fresh=False
    ):
        raise SettingError(
            f"{start} is not the asset {recipe.encoder!r}, which the reader will be read on",
            "leave --start out",
        )
    return start


def _train_grid(
    kind: str, plain: Mapping[str, Any], path: Path, options: Mapping[str, Any]
) -> None:
    from fabula.learned.training.grid import read_grid, try_all, with_settings

    grid = read_grid(options["grid"])
    recipes = [_recipe_of(with_settings(plain, one), path, options) for one in grid]
    if not options["folds"] and not all(one.held_out for one in recipes):
        problem = "nothing would tell which setting is best"
        raise SettingError(problem, "say --folds 5, or held_out = 0.1 in the recipe")
    bench = _Bench(options)

    def train(changed: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        return bench.train(_recipe_of(changed, path, options), folder, resume=True)

    report = reporter(quiet=options["quiet"])
    how = {"out": options["out"], "resume": options["resume"], "report": report}
    found = try_all(plain, grid, train=train, **how)
    click.echo(grid_table(found), err=True)
    click.echo(specs_of(kind, recipes[0].scales, found[0].folder)[0])


def _train_joint(path: Path, options: Mapping[str, Any]) -> None:
    """Train an encoder–decoder in StoryER's way, which has ways of its own."""
    from fabula.learned.training.storyer_joint import train_joint
    from fabula.learned.training.storyer_joint_data import prepare_joint
    from fabula.learned.training.storyer_joint_recipe import read_joint_recipe

    for name in ("prepared", "start", "folds", "grid"):
        if options[name]:
            problem = f"--{name} is not for a recipe with a backbone"
            raise SettingError(problem, "leave it out")
    recipe = read_joint_recipe(path, seed=options["seed"])
    train_joint(
        recipe,
        prepare_joint(recipe, options["data"]),
        out=options["out"],
        device=options["device"],
        resume=options["resume"],
        report=reporter(quiet=options["quiet"]),
    )
    click.echo(f"storyer(weights={str(options['out'])!r})")


def _close(kind: str, recipe: ReaderRecipe, record: Mapping[str, Any], out: Path) -> None:
    for line in measured_lines(record):
        click.echo(line, err=True)
    first, *others = specs_of(kind, recipe.scales, out)
    if others:
        click.echo(f"also: {', '.join(others)}", err=True)
    click.echo(first)


def commands() -> list[click.Command]:
    """Give the commands of the kinds that have no options of their own."""
    return [_command(kind, about) for kind, about in KINDS.items()]


def _command(kind: str, about: str) -> click.Command:
    def run(**options: Any) -> None:
        train_kind(kind, options)

    text = f"{about}\n\nThe recipe that is built in is recipes/{kind}.toml."
    return click.command(kind, help=text)(reader_options(run))
