"""`fabula train`: weights of our own, from stories of yours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import _train_reader
from fabula.cli._inputs import dataset_arguments, parse_columns
from fabula.cli._train_reader import DATA, DEVICE, OUT, QUIET, RECIPE, RESUME, SEED, reporter
from fabula.cli._train_ruber import ruber_command
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from fabula.learned.training.recipe import Recipe
    from fabula.learned.training.tokens import TokenCorpus
    from fabula.scoring.sources import DatasetSource

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.group("train")
def command() -> None:
    """Train the weights that learned metrics need."""


for _one in (*_train_reader.commands(), ruber_command):
    command.add_command(_one)


@command.command("storyer")
@_train_reader.reader_options
@click.option("--ratings", type=_FILE, help="Table of your own ratings: makes a reader personal.")
@click.option("--gold", metavar="NAME", help="Column of --ratings that holds them.")
@click.option("-c", "--column", multiple=True, metavar="ROLE=NAME", help="Column of --ratings.")
@click.option("--aspect", default="", help="Which ratings, where there are several.")
def storyer_command(ratings: Path | None, **options: Any) -> None:
    """Preference, HANNA's criteria and StoryER's aspects.

    The recipe that is built in is recipes/storyer.toml. With --ratings nothing is trained but the
    weight of what a reader says: that of the asset, or the one in the folder --start.
    """
    own = {name: options.pop(name) for name in ("gold", "column", "aspect")}
    if ratings is None:
        if any(own.values()):
            raise SettingError("--gold, --column and --aspect are for --ratings", "leave them out")
        return _train_reader.train_kind("storyer", options)
    return _personalise(ratings, own, options)


@command.command("encoder")
@DATA
@OUT
@click.option("--tokens", type=_FILE, help="Word pieces (.npz): read if there, else written.")
@RECIPE
@click.option("--start", type=_FOLDER, help="Encoder to begin with.  [default: asset minilm]")
@click.option("--steps", type=click.IntRange(1), help="Instead of the recipe's.")
@SEED
@DEVICE
@RESUME
@QUIET
def encoder_command(
    out: Path, recipe: Path | None, start: Path | None, data: Path | None, **options: Any
) -> None:
    """Warm an encoder up on stories, by guessing hidden words.

    Leaves the weights that guess held-out stories best, with tokeniser and training.json.
    """
    from fabula.learned.training.encoder import train_encoder
    from fabula.models import path_of

    report = reporter(quiet=options["quiet"])
    chosen = _recipe(recipe, steps=options["steps"], seed=options["seed"])
    begin = start or path_of("minilm")
    corpus = _corpus(chosen, begin, data=data, tokens=options["tokens"])
    for source, counts in corpus.counts.items():
        report(f"{source}: " + ", ".join(f"{count:,} {fate}" for fate, count in counts.items()))
    how = {name: options[name] for name in ("device", "resume")}
    train_encoder(chosen, corpus, start=begin, out=out, report=report, **how)
    click.echo(out)


@command.command("s3")
@dataset_arguments
@click.option("--aspect", default="", help="Which ratings, where there are several.")
@click.option("--out", type=_FILE, required=True, help="JSON file.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
def s3_command(source: DatasetSource, aspect: str, out: Path, seed: int) -> None:
    """Fit the regressor of the metric s3 to people's ratings.

    SOURCE is a table with stories, references and ratings, or a data set's name. The agreement that
    is printed is with ratings of items that a regressor has not seen.
    """
    from fabula.scoring.s3_training import fit_rated

    found = fit_rated(source.load(), aspect, seed=seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    found.regressor.save(out)
    vectors = len(found.regressor.support)
    click.echo(f"{found.stories:,} stories, {vectors} support vectors", err=True)
    if found.unseen:
        said = f"r = {found.unseen.r:.3f}, ρ = {found.unseen.rho:.3f}"
        click.echo(f"with the ratings of unseen items: {said}, n = {found.unseen.n:,}", err=True)
    click.echo(f"s3(regressor={str(out)!r})")


def _personalise(ratings: Path, own: dict[str, Any], options: dict[str, Any]) -> None:
    from fabula.cli._train_words import personal_lines
    from fabula.learned.training._personal_table import read_own_opinions
    from fabula.learned.training.personal import FEW, personalise
    from fabula.scoring.sources import split_names

    for name in ("data", "recipe", "prepared", "folds", "grid", "resume"):
        if options[name]:
            raise SettingError(f"--{name} is not for --ratings", "leave it out")
    columns = parse_columns(own["column"], "text")
    opinions = read_own_opinions(
        ratings, gold=split_names(own["gold"] or ""), columns=columns, aspect=own["aspect"]
    )
    if len(opinions.items) < FEW:
        count = len(opinions.items)
        click.echo(f"{count} opinions are few: from {FEW} on the figures mean more", err=True)
    found = personalise(
        opinions,
        out=options["out"],
        reader=str(options["start"] or "reader"),
        seed=options["seed"] or 0,
    )
    for line in personal_lines(found):
        click.echo(line, err=True)
    click.echo(f"storyer(weights={str(options['out'])!r})")


def _recipe(path: Path | None, **changes: int | None) -> Recipe:
    from fabula.learned.training.recipe import read_recipe, recipe_of

    if path:
        return read_recipe(path, **changes)
    return recipe_of({name: value for name, value in changes.items() if value is not None})


def _corpus(recipe: Recipe, start: Path, *, data: Path | None, tokens: Path | None) -> TokenCorpus:
    from fabula.learned.training.corpus import read_split
    from fabula.learned.training.tokens import load_corpus, save_corpus, tokenise

    if tokens and tokens.exists():
        return load_corpus(tokens, recipe)
    corpus = tokenise(read_split(recipe, data), start)
    if tokens:
        save_corpus(corpus, tokens)
    return corpus
