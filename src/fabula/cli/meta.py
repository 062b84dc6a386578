"""`fabula meta`: how far metrics agree with people."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._inputs import dataset_arguments
from fabula.cli._options import (
    OVERWRITE,
    PAPER_FORMAT,
    QUIET,
    alpha_option,
    output_option,
    resamples_option,
    seed_option,
)
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from fabula.meta.study import Study
    from fabula.scoring.sources import DatasetSource

_LEVELS = ("item", "system", "pooled")
_COEFFICIENTS = ("pearson", "spearman", "kendall", "kendall_c", "pairwise", "soft_pairwise")


def _gather_study(command: Callable[..., None]) -> Callable[..., None]:
    """Give the command the study that its options declare, and the tables that are to be shown.

    Shown is Spearman's rho, level by level, unless other tables are asked for.
    """

    @functools.wraps(command)
    def gather(*, levels: tuple[str, ...], coefficients: tuple[str, ...], **options: Any) -> None:
        from fabula.meta.study import Study

        names = {field.name for field in fields(Study)} & set(options)
        given = {name: options.pop(name) for name in names}
        given |= {"levels": levels, "coefficients": coefficients}
        # What is not given is left to the study, which then takes all.
        study = Study(**{name: value for name, value in given.items() if value != ()})
        shown = {"levels": levels or _LEVELS, "coefficients": coefficients or ("spearman",)}
        command(study=study, **shown, **options)

    return gather


@click.command("meta")
@dataset_arguments
@click.option(
    "-m",
    "--metrics",
    "scorers",
    multiple=True,
    metavar="PATTERN",
    help="Only metrics of this name, such as 'ROUGE-*'; may be repeated.",
)
@click.option(
    "-a",
    "--aspect",
    "aspects",
    multiple=True,
    metavar="NAME",
    help="Only this aspect of the ratings; may be repeated.",
)
@click.option(
    "--level",
    "levels",
    multiple=True,
    type=click.Choice(_LEVELS),
    show_default="all",
    help="Over the systems of an item, over the means of systems, or over all stories; "
    "may be repeated.",
)
@click.option(
    "--coefficient",
    "coefficients",
    multiple=True,
    type=click.Choice(_COEFFICIENTS),
    show_default="spearman",
    help="Which correlation, or accuracy of pairs, to print; may be repeated.",
)
@click.option(
    "--sign",
    type=click.Choice(["oriented", "raw", "absolute"]),
    default="oriented",
    show_default=True,
    help="Turn metrics for which lower is better, leave all as they are, or drop signs as "
    "HANNA does.",
)
@click.option(
    "--draw",
    "drawn",
    type=click.Choice(["items", "both"]),
    default="items",
    show_default=True,
    help="What the intervals draw again: items, or systems and items.",
)
@click.option(
    "--control",
    default="",
    metavar="NAME",
    help="Hold this metric constant: --control words takes the length of stories out.",
)
@click.option(
    "--references",
    is_flag=True,
    help="Keep the stories of systems that wrote the references.",
)
@click.option(
    "--settle",
    is_flag=True,
    help="Count means of systems that are equal to 12 digits as ties.",
)
@click.option(
    "--baselines/--no-baselines",
    default=True,
    show_default=True,
    help="Put the trivial baselines (length, word variety, …) beside the metrics.",
)
@resamples_option()
@seed_option()
@alpha_option()
@output_option(metavar="FOLDER", help="Write a study report into this folder as well.")
@OVERWRITE
@PAPER_FORMAT
@QUIET
@_gather_study
def command(
    *,
    source: DatasetSource,
    study: Study,
    levels: tuple[str, ...],
    coefficients: tuple[str, ...],
    baselines: bool,
    output: Path | None,
    overwrite: bool,
    form: str,
    quiet: bool,
) -> None:
    """Hold the scores of metrics against the ratings of people.

    SOURCE is a data set by name, a table of your own with ratings and scores, or a run folder with
    --gold: ratings of its stories, choices between them, or a data set that they are from.
    Correlations are per item and then averaged, of the systems' means, or over all stories; with
    bootstrap intervals, the noise ceiling of the ratings, and the trivial baselines beside them.
    """
    from fabula.cli import show_progress
    from fabula.meta.results import CHOICE_FIGURES, asks_choices
    from fabula.reports.correlations import render_correlations
    from fabula.scoring.evaluate import add_baselines

    dataset = source.load()
    if baselines:
        dataset = add_baselines(dataset)
    chooses = asks_choices(dataset, study.aspects)
    if chooses and output:
        raise SettingError("-o reports ratings, and this gold is choices", "leave it out; see -f")
    result = study.run(dataset, show_progress("tables", quiet=quiet))
    if chooses:
        levels, coefficients = ("pooled",), CHOICE_FIGURES
    elif output:
        from fabula.reports.study import write_plain_study

        inputs = source.inputs()
        echo(write_plain_study(result, output, inputs=inputs, overwrite=overwrite), err=True)
    tables: list[Any] = [(level, name) for level in levels for name in coefficients]
    echo(render_correlations(form, result, tables))
