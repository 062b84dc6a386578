"""`fabula metrics`: the catalogue of metrics, their cards, and a skeleton for a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_datasets, complete_sets, complete_specs
from fabula.cli._inputs import OutputPath, path_option
from fabula.cli._options import FORMAT, JOBS, OVERWRITE, QUIET, output_option
from fabula.cli._output import print_rows
from fabula.core.card import ARROWS
from fabula.core.errors import UnknownName, closest
from fabula.core.story import count_text


@click.group("metrics")
def command() -> None:
    """List metrics, show their cards, begin a new one."""


@command.command("list", short_help="List all metrics, what they need and measure.")
@click.option(
    "--set",
    "chosen",
    metavar="NAME",
    shell_complete=complete_sets,
    help="Only the specs that a set stands for; of hanna, its columns.",
)
@FORMAT
def list_metrics(chosen: str | None, form: str) -> None:
    """List all metrics: what they need, which way is better, what they measure."""
    from fabula.scoring.catalogue import METRICS, SETS

    if chosen:
        print_rows(_rows_of_set(chosen), form)
        return
    print_rows([_row(name, metric) for name, metric in METRICS.load_all().items()], form)
    if form == "table":
        for name, about in SETS.items():
            echo(f"  -m {name}: {about}")


def _rows_of_set(name: str) -> list[dict[str, Any]]:
    """Columns of a release with the spec of each; specs alone for other sets."""
    from fabula.datasets import DATASETS
    from fabula.scoring.catalogue import METRICS, SETS, choose_metrics, columns_of_release

    if name not in SETS:
        raise UnknownName(f"no set is called {name!r}", closest(name, SETS))
    if name not in DATASETS:
        metrics = choose_metrics(name)
        return [{"spec": metric.spec, "better": ARROWS[metric.direction]} for metric in metrics]
    return [
        {
            "column": column,
            "spec": spec,
            "aspect": aspect,
            "better": ARROWS[METRICS.build(spec).direction],
            "family": METRICS.build(spec).card.family,
        }
        for column, (spec, aspect) in columns_of_release(name).items()
    ]


def _row(name: str, cls: Any) -> dict[str, Any]:
    card = cls.card
    return {
        "metric": name,
        "better": card.arrow,
        "family": card.family,
        "needs": list(card.needs),
        "aspects": [aspect for aspect in card.aspects if aspect],
        "about": (cls.__doc__ or "").strip().partition("\n")[0],
    }


@command.command("show")
@click.argument("spec", shell_complete=complete_specs)
def show(spec: str) -> None:
    """Show the card of a metric and the signature of SPEC."""
    from fabula.reports.cards import card_page
    from fabula.scoring.catalogue import METRICS

    metric = METRICS.build(spec)
    echo(card_page(type(metric)))
    echo(f"signature of {metric.spec}: {metric.signature()}")
    echo(f"short: {metric.signature(short=True)}")


@command.command("new")
@click.argument("name")
@click.option(
    "-o",
    "--output",
    "root",
    type=OutputPath(path_type=Path, file_okay=False),
    default=Path(),
    metavar="FOLDER",
    show_default="here",
    help="Root of the project: a clone of Fabula, or a package of your own.",
)
@click.option(
    "--model", is_flag=True, help="Begin a metric that asks a model, not one that counts."
)
def new(name: str, root: Path, *, model: bool) -> None:
    """Write the skeleton of the metric NAME and of its test."""
    from fabula.cli._skeleton import write_skeleton
    from fabula.core.installation import spell_command

    for path in write_skeleton(name, root, model=model):
        echo(path)
    command = spell_command(f"score examples -m {name} --no-cache")
    echo(f"while you change it: {command}", err=True)


@command.command("regenerate", short_help="Make the columns of a release again.")
@click.argument("release", default="hanna", shell_complete=complete_datasets)
@path_option()
@click.option(
    "-o",
    "--output",
    type=OutputPath(path_type=Path, file_okay=False),
    required=True,
    metavar="FOLDER",
    help="Folder for columns.csv (our values), columns.json and columns.md (the table).",
)
@click.option(
    "--sample",
    type=click.IntRange(0),
    metavar="N",
    default=96,
    show_default=True,
    help="How many stories slow metrics (InfoLM, BLANC's tune and golden) read; 0 is all of them.",
)
@JOBS
@OVERWRITE
@QUIET
@FORMAT
def regenerate(
    release: str,
    *,
    path: Path | None,
    output: Path,
    sample: int,
    jobs: int,
    overwrite: bool,
    quiet: bool,
    form: str,
) -> None:
    """Make the columns of a RELEASE again from its stories, beside the published ones.

    Scores are kept as they come: a run that was stopped goes on where it was. A metric whose
    model is not at hand says how to get it.
    """
    from fabula.cli import show_progress
    from fabula.core.files import refuse_foreign
    from fabula.datasets import load_dataset
    from fabula.replication.hanna import columns as hanna
    from fabula.scoring.cache import ScoreCache

    refuse_foreign(output, hanna.COLUMN_FILES, overwrite=overwrite)
    dataset = load_dataset(release, path)
    with ScoreCache() as cache, hanna.record_seconds(output) as spent:
        columns = hanna.make_columns(
            dataset,
            release,
            sample=sample,
            cache=cache,
            spent=spent,
            jobs=jobs,
            progress=show_progress("scores", quiet=quiet),
        )
    hanna.write_columns(columns, output)
    print_rows(hanna.column_rows(columns), form)
    missing = sum(not column.values for column in columns)
    echo(f"{len(columns) - missing} of {count_text(len(columns), 'column')} made", err=True)


@command.command("docs")
@output_option(metavar="FOLDER", required=True, help="Folder for the pages, in Markdown.")
@OVERWRITE
def docs(output: Path, overwrite: bool) -> None:
    """Write the page of every metric into a folder, from the cards."""
    from fabula.core.files import write_texts
    from fabula.reports.cards import card_page, index_page
    from fabula.scoring.catalogue import METRICS

    classes = METRICS.load_all()
    pages = {f"{name}.md": card_page(cls) for name, cls in classes.items()}
    write_texts(output, pages | {"index.md": index_page(classes)}, overwrite=overwrite)
    echo(f"{count_text(len(classes), 'page')} in {output}")
