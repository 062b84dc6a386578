"""`fabula data`: data sets with ratings by people: where they lie, and whether they are whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_datasets
from fabula.cli._data_games import games_command
from fabula.cli._inputs import COLUMN, GOLD, LOWER, column_option, dataset_arguments, path_option
from fabula.cli._options import FORMAT, OVERWRITE, PAPER_FORMAT, output_option, seed_option
from fabula.cli._output import print_rows
from fabula.core.errors import UnknownName, UserError, closest
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.core.dataset import DatasetCard
    from fabula.datasets import Place
    from fabula.datasets.tables.row_files import RowForm
    from fabula.learned.training.pairs import Pair
    from fabula.scoring.sources import DatasetSource


class _Day(click.DateTime):
    """A day, as its first moment in universal time."""

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        return super().convert(value, param, ctx).replace(tzinfo=UTC)


_DAY = _Day(["%Y-%m-%d"])


@click.group("data", short_help="List, keep, check and convert rated data sets.")
def command() -> None:
    """List, keep, check and convert data sets with ratings by people."""


command.add_command(games_command)


@command.command("list", short_help="List all data sets and where yours lie.")
@FORMAT
def list_command(form: str) -> None:
    """List all data sets: what a whole release holds, where yours lies, its licence."""
    from fabula.datasets import DATASETS, read_places

    known = read_places()
    sets = DATASETS.load_all()
    # A table of one's own is a form, and none that anybody could fetch.
    own = sets.pop("table").CARD
    rows = [_row(name, module.CARD, known.get(name)) for name, module in sets.items()]
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
@click.argument("name", shell_complete=complete_datasets)
def show_command(name: str) -> None:
    """Show the card of a data set and where it lies."""
    from fabula.datasets import DATASETS, find_place, load_dataset
    from fabula.reports.cards import dataset_page

    card = DATASETS.get(name).CARD if name in DATASETS else load_dataset(name).card
    echo(dataset_page(name, card))
    if (path := find_place(name)) is not None:
        echo(f"lies in {path}")


@command.command("add", short_help="Keep where a data set or a table of yours lies.")
@click.argument("name", shell_complete=complete_datasets)
@click.argument("path", type=click.Path(path_type=Path))
@GOLD
@COLUMN
@LOWER
def add_command(
    name: str, path: Path, *, gold: str | None, columns: dict[str, str], lower: tuple[str, ...]
) -> None:
    """Keep where the data set NAME lies, or under a new NAME a table of your own.

    PATH is the folder of a data set's files, or the file of a table. Afterwards every command
    finds it by its name.
    """
    from fabula.datasets import Place, add_place, list_findings, load_place
    from fabula.scoring.sources import split_names

    place = Place(str(path.absolute()), split_names(gold or ""), columns, lower)
    # It is loaded before it is noted, so that a mistake is found now.
    dataset = load_place(name, place)
    add_place(name, place)
    held = ", ".join(f"{count:,} {what}" for what, count in dataset.counts.items() if count)
    echo(f"{name}: {held}", err=True)
    for finding in list_findings(dataset):
        echo(finding, err=True)


@command.command("remove")
@click.argument("name", shell_complete=complete_datasets)
def remove_command(name: str) -> None:
    """Forget where a data set lies; its files are left alone."""
    from fabula.datasets import read_places, remove_place

    if not remove_place(name):
        raise UnknownName(f"{name!r} was not added", closest(name, read_places()))
    echo(f"{name}: forgotten", err=True)


@command.command("verify", short_help="Compare files with what the card says.")
@click.argument("name", shell_complete=complete_datasets)
@path_option()
@FORMAT
def verify_command(name: str, path: Path | None, form: str) -> None:
    """Compare the files of a data set with what its card says: checksums, counts, scales."""
    from fabula.datasets import find_place
    from fabula.datasets.releases.verify import verify_dataset

    checks = verify_dataset(name, path or find_place(name))
    print_rows([vars(check) for check in checks], form)
    if wrong := [check.what for check in checks if check.verdict == "wrong"]:
        raise UserError(f"{name}: not as its card says: {', '.join(wrong)}", "fetch it again")


@command.command("statistics", short_help="Count what games hold, as STORIUM's paper does.")
@click.argument("name", shell_complete=complete_datasets)
@path_option()
@PAPER_FORMAT
def statistics_command(name: str, path: Path | None, form: str) -> None:
    """Count what games hold: stories, characters, cards, tokens, a split, and histograms.

    NAME is storium, or storium_samples for the three games that come with Fabula. What the paper
    prints of its corpus stands beside. JSON, JSONL and CSV have every value of a histogram.
    """
    from fabula.core.protocols import watch
    from fabula.datasets import find_place, storium, storium_samples
    from fabula.datasets.story_games.statistics import statistics
    from fabula.replication.storium.overview import list_figures, tabulate
    from fabula.reports.tables import render

    games = {"storium": None, "storium_samples": storium_samples.FOLDER}
    if name not in games:
        raise UnknownName(f"{name!r} has no games to count", closest(name, games))
    with watch.get().during(f"counting {name}"):
        found = statistics(storium.games(path or find_place(name) or games[name]))
    if form in ("table", "latex"):
        echo(render(form, [], tabulate(found), {}))
    else:
        print_rows([vars(figure) for figure in list_figures(found)], form)


@command.command("convert", short_help="Write stories, ratings and scores as plain rows.")
@dataset_arguments
@output_option(metavar="FOLDER", required=True, help="Folder for the files.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    default="jsonl",
    show_default=True,
    help="Form of the files to write.",
)
@OVERWRITE
def convert_command(source: DatasetSource, output: Path, form: RowForm, overwrite: bool) -> None:
    """Write stories, ratings, scores and preferences as plain rows, a file each.

    SOURCE is a data set's name, a table of your own or a run folder.
    """
    from fabula.datasets.releases.convert import write_dataset

    dataset, inputs = source.load(rated=False), source.inputs()
    for path in write_dataset(dataset, output, form, inputs=inputs, overwrite=overwrite):
        echo(path)


@command.command("pairs", short_help="Pair liked with disliked posts on one prompt.")
@click.argument("posts", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@output_option(metavar="FILE", required=True, help="JSONL file for the pairs.")
@column_option(
    "Column of the posts that holds text, prompt, votes, written or updated: text=body; may be "
    "repeated."
)
@click.option(
    "--high",
    type=float,
    metavar="X",
    default=50,
    show_default=True,
    help="A post with at least so many votes is liked.",
)
@click.option(
    "--low",
    type=float,
    metavar="X",
    default=0,
    show_default=True,
    help="A post with at most so many votes is disliked.",
)
@click.option(
    "--words",
    nargs=2,
    type=int,
    metavar="N N",
    default=(200, 800),
    show_default=True,
    help="Take posts of at least and at most so many words.",
)
@click.option(
    "--per-prompt",
    type=click.IntRange(1),
    metavar="N",
    show_default="all",
    help="Draw at most so many pairs of each prompt.",
)
@click.option(
    "--before",
    type=_DAY,
    metavar="DAY",
    help="Take posts that were written before this day.",
)
@click.option(
    "--not-updated",
    nargs=2,
    type=_DAY,
    metavar="DAY DAY",
    help="Leave out posts that were updated from the one day on and before the other.",
)
@click.option(
    "--raw",
    "cleaned",
    is_flag=True,
    callback=lambda _context, _option, raw: not raw,
    help="Keep signatures, links and notes of posts.",
)
@click.option(
    "--split",
    nargs=3,
    type=click.FloatRange(0, min_open=True),
    metavar="X X X",
    help="Write three files that share no prompt, with these shares of the prompts: train, "
    "validation and test.",
)
@seed_option()
def pairs_command(
    posts: Path,
    *,
    output: Path,
    columns: dict[str, str],
    per_prompt: int | None,
    before: datetime | None,
    not_updated: tuple[datetime, datetime] | None,
    split: tuple[float, float, float] | None,
    seed: int,
    **bars: Any,
) -> None:
    """Pair liked with disliked posts on one prompt, for `fabula train storyer`.

    POSTS is a table with the columns text, prompt and votes, and dates where they are asked for.
    Posts are cleaned of signatures, links and notes. OUTPUT has the form of storyer: `fabula data
    add storyer OUTPUT`. StoryER's own: --before 2020-03-01 --not-updated 2019-12-01 2020-03-01
    --raw --split 5892 2280 2280.
    """
    from fabula.core.files import refuse_input
    from fabula.datasets.storyer import SPLITS
    from fabula.learned.training.pairs import pair_sides, part_posts, split_by_prompt
    from fabula.learned.training.posts import Period, read_posts

    files = [output.with_suffix(f".{part}{output.suffix}") for part in SPLITS if split] or [output]
    for file in files:
        refuse_input(file, [posts])
    read = read_posts(posts, columns=columns)
    chosen, undated = Period(before, not_updated).choose(read)
    sides = part_posts(chosen, **bars)
    sides = replace(sides, left_out={**undated, **sides.left_out})
    pairs = pair_sides(sides, seed=seed, per_prompt=per_prompt)
    _write_parts(split_by_prompt(pairs, split, seed=seed) if split else [pairs], files)
    left = f"; left out: {reasons}" if (reasons := sides.describe_left_out()) else ""
    echo(f"from {count_text(len(read), 'post')}{left}", err=True)


def _write_parts(parts: Sequence[Sequence[Pair]], files: Sequence[Path]) -> None:
    """Write pairs, a file a part, and say what each holds."""
    from fabula.datasets.storyer import write_pairs

    for file, part in zip(files, parts, strict=True):
        rows = ((one.better.prompt or one.item, one.better.text, one.worse.text) for one in part)
        write_pairs(rows, file)
        prompts = count_text(len({pair.item for pair in part}), "prompt")
        echo(f"{count_text(len(part), 'pair')} of {prompts}", err=True)
        echo(file)


@command.command("docs")
@output_option(metavar="FOLDER", required=True, help="Folder for the pages, in Markdown.")
@OVERWRITE
def docs_command(output: Path, overwrite: bool) -> None:
    """Write the page of every data set into a folder, from the cards."""
    from fabula.core.files import write_texts
    from fabula.datasets import DATASETS
    from fabula.reports.cards import dataset_index_page, dataset_page

    cards = {name: module.CARD for name, module in DATASETS.load_all().items()}
    pages = {f"{name}.md": dataset_page(name, card) for name, card in cards.items()}
    write_texts(output, pages | {"index.md": dataset_index_page(cards)}, overwrite=overwrite)
    echo(f"{count_text(len(cards), 'page')} in {output}")
