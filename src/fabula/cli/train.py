"""`fabula train`: weights of our own, from stories of yours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli._dataset import dataset_arguments, open_dataset

if TYPE_CHECKING:
    from fabula.learned.training.recipe import Recipe
    from fabula.learned.training.tokens import TokenCorpus

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.group("train")
def command() -> None:
    """Train the weights that learned metrics need."""


@command.command("encoder")
@click.option("--data", type=_FOLDER, help="Folder with a folder for each data set.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="For the weights.",
)
@click.option(
    "--tokens",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Texts as word pieces (.npz): read if it is there, else written.",
)
@click.option("--recipe", type=click.Path(path_type=Path), help="TOML file.  [default: built in]")
@click.option("--start", type=_FOLDER, help="Encoder to begin with.  [default: asset minilm]")
@click.option("--steps", type=click.IntRange(1), help="Instead of the recipe's.")
@click.option("--seed", type=click.IntRange(0), help="Instead of the recipe's.")
@click.option("--device", default="", metavar="NAME", help="cpu or cuda.  [default: what is there]")
@click.option("--resume", is_flag=True, help="Go on after a kill.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def encoder_command(
    out: Path, recipe: Path | None, start: Path | None, data: Path | None, **options: Any
) -> None:
    """Warm an encoder up on stories, by guessing hidden words.

    Leaves the weights that guess held-out stories best, with tokeniser and training.json.
    """
    from fabula.learned.training.encoder import train_encoder
    from fabula.models import path_of

    def report(line: str) -> None:
        if not options["quiet"]:
            click.echo(line, err=True)

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
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="JSON file."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
def s3_command(aspect: str, out: Path, seed: int, **options: Any) -> None:
    """Fit the regressor of the metric s3 to people's ratings.

    SOURCE is a table with stories, references and ratings, or a data set's name. The agreement that
    is printed is with ratings of items that a regressor has not seen.
    """
    from fabula.scoring.s3_training import fit_rated

    found = fit_rated(open_dataset(options), aspect, seed=seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    found.regressor.save(out)
    vectors = len(found.regressor.support)
    click.echo(f"{found.stories:,} stories, {vectors} support vectors", err=True)
    if found.unseen:
        said = f"r = {found.unseen.r:.3f}, ρ = {found.unseen.rho:.3f}"
        click.echo(f"with the ratings of unseen items: {said}, n = {found.unseen.n:,}", err=True)
    click.echo(f"s3(regressor={str(out)!r})")


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
