"""What commands on ratings take: a data set's name, a table of one's own, or a run folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.core.errors import InputError, SettingError, UserError, closest
from fabula.core.spec import split_specs

if TYPE_CHECKING:
    from fabula.core.dataset import Dataset, ScorerCard

COLUMN = click.option(
    "-c", "--column", multiple=True, metavar="ROLE=NAME", help="Column of a role in a table."
)
GOLD = click.option(
    "--gold",
    metavar="NAMES|FILE",
    help="Columns of a table that hold ratings, by commas; for a run, a table of ratings.",
)
LOWER = click.option(
    "--lower", metavar="NAMES", help="Metrics of a table for which lower is better, by commas."
)
_PARTS = (
    click.argument("source"),
    click.option("--path", type=click.Path(path_type=Path), help="Where the data set's files lie."),
    click.option("--partial", is_flag=True, help="Use an incomplete release."),
    GOLD,
    COLUMN,
    LOWER,
)
_NAMES = ("source", "path", "partial", "gold", "column", "lower")


def dataset_arguments(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument SOURCE and the options that say how to read it."""
    for part in reversed(_PARTS):
        command = part(command)
    return command


def open_dataset(options: dict[str, Any], *, rated: bool = True) -> Dataset:
    """Load what SOURCE names, taking its options out of those of the command.

    Without ratings and preferences it is refused, unless the command needs none.
    """
    given = {name: options.pop(name) for name in _NAMES}
    dataset = _opened(given)
    if rated and not len(dataset.ratings) and not dataset.preferences:
        remedy = "pass --gold with a table of ratings" if _is_folder(given["source"]) else ""
        raise InputError(f"{given['source']} holds no ratings by people", remedy)
    return dataset


def _opened(given: dict[str, Any]) -> Dataset:
    from fabula.datasets import DATASETS, is_added, load_dataset

    source, own = given["source"], given["gold"] or given["column"] or given["lower"]
    if source in DATASETS and source != "table":
        if own:
            raise SettingError(
                f"--gold, --column and --lower are not for {source}", "leave them out"
            )
        return load_dataset(source, given["path"], partial=given["partial"])
    if source == "table" and given["path"]:
        return _own_table(given | {"source": given["path"], "path": None})
    if given["path"]:
        raise SettingError(f"--path is for data sets by name, and {source} is none", "leave it out")
    if is_added(source) and not own:
        return _with_known(load_dataset(source))
    return _own_run(given) if _is_folder(source) else _own_table(given)


def _own_table(given: dict[str, Any]) -> Dataset:
    from fabula.datasets import DATASETS, list_added
    from fabula.datasets.table import read_table
    from fabula.datasets.tables.stories import is_there

    source = Path(given["source"])
    if not is_there(source):
        names = sorted({*DATASETS.names(), *list_added()} - {"table"})
        raise InputError(f"{source}: no such file or data set", closest(str(source), names))
    return _with_known(
        read_table(
            source,
            gold=names_of(given["gold"]),
            columns=columns_of(given["column"]),
            lower=names_of(given["lower"]),
        )
    )


def _own_run(given: dict[str, Any]) -> Dataset:
    from fabula.datasets.table import read_run_with

    folder = Path(given["source"])
    dataset = read_run_with(
        folder,
        given["gold"],
        columns=columns_of(given["column"]),
        scorers=_run_scorers(folder),
    )
    turned = {}
    for name in names_of(given["lower"]):
        if name not in dataset.scorers:
            raise InputError(f"{folder}: no metric {name!r}", closest(name, dataset.scorers))
        turned[name] = replace(dataset.scorers[name], direction="lower")
    return replace(dataset, scorers={**dataset.scorers, **turned}) if turned else dataset


def _run_scorers(folder: Path) -> dict[str, ScorerCard]:
    """Cards of a run's metrics by what its run.json says; a saved table has none."""
    from fabula.core.dataset import ScorerCard
    from fabula.scoring.folder import RUN, read_run

    if not (folder / RUN).exists():
        return {}
    return {
        one["spec"]: ScorerCard(one["family"], one["direction"], _reads(one["spec"]))
        for one in read_run(folder).get("metrics") or ()
    }


def _reads(spec: str) -> tuple[str, ...]:
    """What a metric reads besides the story, where it is installed here."""
    from fabula.scoring.catalogue import METRICS

    try:
        return METRICS.build(spec).card.reads
    except UserError:
        return ()


def _with_known(dataset: Dataset) -> Dataset:
    """Give columns that are called like metrics of ours these metrics' family and direction."""
    from fabula.core.dataset import ScorerCard
    from fabula.scoring.catalogue import METRICS

    known = {}
    for name, card in dataset.scorers.items():
        try:
            found = METRICS.build(name).card
        except UserError:
            continue
        direction = "lower" if card.direction == "lower" else found.direction
        known[name] = ScorerCard(found.family, direction, found.reads)
    return replace(dataset, scorers={**dataset.scorers, **known})


def columns_of(given: tuple[str, ...], example: str = "rater") -> dict[str, str]:
    """Read ROLE=NAME pairs."""
    pairs = [one.partition("=") for one in given]
    for role, sign, _ in pairs:
        if not sign:
            raise SettingError(f"--column {role!r} will not do", f"write --column {example}=NAME")
    return {role.strip(): name for role, _, name in pairs}


def names_of(given: str | None) -> tuple[str, ...]:
    """Part names at their commas, those within specs left alone."""
    text = given or ""
    parts = split_specs(text) if "(" in text else text.split(",")
    return tuple(name.strip() for name in parts if name.strip())


def _is_folder(source: str) -> bool:
    return Path(source).is_dir()
