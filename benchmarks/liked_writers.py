"""Writers of liked and of disliked stories: how well each foresees held-out stories of both kinds.

    python benchmarks/liked_writers.py LIKED DISLIKED --data DATA [--device NAME]

LIKED and DISLIKED are folders that `fabula train author --recipe recipes/author_pref.toml --on
liked` (and `disliked`) wrote, DATA the folder of data sets that they learned from. It prints the
perplexity of stories that neither has learned from, with a 95 % interval over stories: by the model
that both began with, and by either writer. A folder of the other side, of another recipe, or whose
held-out stories are not those of DATA, is refused: it might be asked about what it has learned.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from math import exp
from pathlib import Path
from typing import Any, Literal

from fabula.core.errors import InputError, SettingError, UserError
from fabula.core.plain import from_plain, read_json
from fabula.learned.training.author import AuthorRecipe, AuthorTrainee, TrainedAuthor, open_model
from fabula.learned.training.author_data import AuthorData, prepare_author
from fabula.learned.training.folder import RECORD, plain_values
from fabula.learned.training.loop import choose_device

Side = Literal["liked", "disliked"]
SIDES: tuple[Side, ...] = ("liked", "disliked")


def main() -> None:
    """Print a line a writer, a column a side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("liked", type=Path)
    parser.add_argument("disliked", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--device", default="")
    given = parser.parse_args()
    folders: dict[Side, Path] = {"liked": given.liked, "disliked": given.disliked}
    try:
        show(folders, given.data, given.device)
    except UserError as error:
        parser.exit(2, f"{error}\n")


def show(folders: Mapping[Side, Path], data: Path, device: str) -> None:
    """Measure the model that both writers began with, then the writers, on both sides."""
    recipes = {side: read_side(folder, side) for side, folder in folders.items()}
    recipe, other = recipes["liked"], recipes["disliked"]
    if replace(recipe, on=other.on) != other:
        raise SettingError("the writers were trained by different recipes", "train both by one")
    stories = {side: gather_stories(folders[side], recipes[side], data) for side in SIDES}
    models = {"before": recipe.model} | {
        f"of {side} stories": f"huggingface({str(folder)!r})" for side, folder in folders.items()
    }
    for number, (writer, model) in enumerate(models.items()):
        # All weights as they are: differences are in them already.
        author = TrainedAuthor(open_model(model), replace(recipe, rank=0), choose_device(device))
        measured = {side: AuthorTrainee(author, stories[side]).measure() for side in SIDES}
        if not number:
            heads = (f"{part['stories']} {side} stories" for side, part in measured.items())
            print(f"{'perplexity':24}" + "".join(f"{head:>28}" for head in heads))
        cells = (describe_perplexity(part) for part in measured.values())
        print(f"{writer:24}" + "".join(f"{cell:>28}" for cell in cells), flush=True)


def read_side(folder: Path, side: Side) -> AuthorRecipe:
    """Read the recipe that a writer was trained by; refuse one of the other side."""
    record = read_json(folder / RECORD, remedy="name a folder of fabula train author")
    recipe = from_plain(AuthorRecipe, record.get("recipe"), str(folder / RECORD), error=InputError)
    if recipe.on != side:
        raise SettingError(
            f"{folder} has learned from {recipe.on} stories, not from {side} ones",
            "name the writer of liked stories first, then that of disliked ones",
        )
    return recipe


def gather_stories(folder: Path, recipe: AuthorRecipe, data: Path) -> AuthorData:
    """Read the stories of a writer's side; those held out must be the ones it has not seen."""
    stories = prepare_author(recipe, [str(data)])
    recorded = read_json(folder / RECORD)["data"]["held_out"]
    if not recorded or plain_values(stories.describe())["held_out"] != recorded:
        raise InputError(
            f"{data} does not hold the stories that were held out of {folder}",
            "name the data that it was trained with",
        )
    return stories


def describe_perplexity(measured: Mapping[str, Any]) -> str:
    """Write a perplexity with its interval, which is that of the loss."""
    low, high = (exp(measured["loss"] + sign * measured["error"]) for sign in (-1, 1))
    return f"{measured['perplexity']:.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    main()
