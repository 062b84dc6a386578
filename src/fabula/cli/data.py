"""`fabula data`: data sets with ratings by people: where they lie, and whether they are whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli._dataset import (
    COLUMN,
    GOLD,
    LOWER,
    columns_of,
    dataset_arguments,
    names_of,
    open_dataset,
)
from fabula.cli._rows import format_option, print_rows
from fabula.core.errors import SettingError, UnknownName, UserError, closest

if TYPE_CHECKING:
    from fabula.core.dataset import Dataset, DatasetCard
    from fabula.datasets import Place

PATH = click.option("--path", type=click.Path(path_type=Path), help="Where its files lie.")


@click.group("data")
def command() -> None:
    """List, keep, check and convert data sets with ratings by people."""


@command.command("list")
@format_option
def list_command(form: str) -> None:
    """List all data sets: what a whole release holds, where yours lies, its licence."""
    from fabula.datasets import DATASETS, read_places

    known = read_places()
    rows = [_row(name, DATASETS.get(name).CARD, known.get(name)) for name in DATASETS.names()]
    own = DATASETS.get("table").CARD
    rows += [_row(name, own, place) for name, place in known.items() if name not in DATASETS]
    print_rows(rows, form)


def _row(name: str, card: DatasetCard, place: Place | None) -> dict[str, Any]:
    return {
        "name": name,
        "title": card.title,
        "stories": card.counts.get("stories"),
        "ratings": card.counts.get("ratings"),
        "where": place.path if place else None,
        "licence": card.licence,
    }


@command.command("show")
@click.argument("name")
def show_command(name: str) -> None:
    """Show the card of a data set and where it lies."""
    from fabula.datasets import DATASETS, find_place, load_dataset
    from fabula.reports.dataset_card import dataset_page

    card = DATASETS.get(name).CARD if name in DATASETS else load_dataset(name).card
    click.echo(dataset_page(name, card))
    if (path := find_place(name)) is not None:
        click.echo(f"lies in {path}")


@command.command("add")
@click.argument("name")
@click.argument("path", type=click.Path(path_type=Path))
@GOLD
@COLUMN
@LOWER
def add_command(name: str, path: Path, **options: Any) -> None:
    """Keep where the data set NAME lies, or under a new NAME a table of your own.

    PATH is the folder of a data set's files, or the file of a table. Afterwards every command
    finds it by its name.
    """
    from fabula.datasets import Place, add_place

    place = Place(
        str(path.absolute()),
        names_of(options["gold"]),
        columns_of(options["column"]),
        names_of(options["lower"]),
    )
    dataset = _tried(name, place)
    add_place(name, place)
    click.echo(f"{name}: {_held(dataset)}", err=True)


def _tried(name: str, place: Place) -> Dataset:
    """Load what is to be kept, so that a mistake is found now."""
    from fabula.datasets import DATASETS, load_dataset
    from fabula.datasets.table import read_table

    path = Path(place.path)
    if name in DATASETS and name != "table":
        if place.gold or place.columns or place.lower:
            raise SettingError(f"--gold, --column and --lower are not for {name}", "leave them out")
        return load_dataset(name, path, partial=True)
    if path.is_dir():
        raise UnknownName(f"no data set is called {name!r}", closest(name, DATASETS.names()))
    if name == "table" or not name.isidentifier():
        raise SettingError(
            f"{name!r} will not do as a name", "take letters, digits and _, and another than table"
        )
    return read_table(path, gold=place.gold, columns=place.columns, lower=place.lower)


def _held(dataset: Dataset) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in dataset.counts.items() if count)


@command.command("remove")
@click.argument("name")
def remove_command(name: str) -> None:
    """Forget where a data set lies; its files are left alone."""
    from fabula.datasets import read_places, remove_place

    if not remove_place(name):
        raise UnknownName(f"{name!r} was not added", closest(name, read_places()))
    click.echo(f"{name}: forgotten", err=True)


@command.command("verify")
@click.argument("name")
@PATH
@format_option
def verify_command(name: str, path: Path | None, form: str) -> None:
    """Compare the files of a data set with what its card says: checksums, counts, scales."""
    from fabula.datasets import find_place
    from fabula.datasets.releases.verify import verify_dataset

    checks = verify_dataset(name, path or find_place(name))
    print_rows([vars(check) for check in checks], form)
    if wrong := [check.what for check in checks if check.verdict == "wrong"]:
        raise UserError(f"{name}: not as its card says: {', '.join(wrong)}", "fetch it again")


@command.command("convert")
@dataset_arguments
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    default="jsonl",
    show_default=True,
    help="How to write it.",
)
def convert_command(output: Path, form: str, **options: Any) -> None:
    """Write stories, ratings, scores and preferences as plain rows, a file each.

    SOURCE is a data set's name, a table of your own or a run folder.
    """
    from fabula.datasets.releases.convert import write_dataset

    for path in write_dataset(open_dataset(options, rated=False), output, form):
        click.echo(path)


@command.command("pairs")
@click.argument("posts", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="JSONL file.")
@click.option("-c", "--column", multiple=True, metavar="ROLE=NAME", help="As in text=body.")
@click.option("--high", type=float, default=50, show_default=True, help="Votes of a liked post.")
@click.option("--low", type=float, default=0, show_default=True, help="Votes of a disliked one.")
@click.option("--words", nargs=2, type=int, default=(200, 800), show_default=True)
@click.option("--per-prompt", type=click.IntRange(1), help="Most pairs of a prompt.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
def pairs_command(posts: Path, output: Path, column: tuple[str, ...], **bars: Any) -> None:
    """Pair liked with disliked posts on one prompt, for `fabula train storyer`.

    POSTS is a table with the columns text, prompt and votes. Posts are cleaned of signatures,
    links and notes. OUTPUT has the form of storyer: `fabula data add storyer OUTPUT`.
    """
    import json

    from fabula.cli._written import write_file
    from fabula.learned.training._posts import read_posts
    from fabula.learned.training.pairs import build_pairs

    found = read_posts(posts, columns=columns_of(column))
    pairs = build_pairs(found, **bars)
    rows = (
        {"prompt": one.better.prompt or one.item, "good": one.better.text, "poor": one.worse.text}
        for one in pairs
    )
    write_file(output, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    prompts = len({one.item for one in pairs})
    click.echo(f"{len(pairs):,} pairs of {prompts:,} prompts, from {len(found):,} posts", err=True)
    click.echo(output)


@command.command("docs")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
def docs_command(output: Path) -> None:
    """Write the page of every data set into a folder, from the cards."""
    from fabula.datasets import DATASETS
    from fabula.reports.dataset_card import dataset_index_page, dataset_page

    output.mkdir(parents=True, exist_ok=True)
    cards = {name: DATASETS.get(name).CARD for name in DATASETS.names()}
    for name, card in cards.items():
        (output / f"{name}.md").write_text(dataset_page(name, card), encoding="utf-8")
    (output / "index.md").write_text(dataset_index_page(cards), encoding="utf-8")
    click.echo(f"{len(cards)} pages in {output}")
