"""`fabula meta`: how far metrics agree with people."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli._inputs import dataset_arguments
from fabula.cli._output import paper_format_option

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
    "-m", "--metrics", "scorers", multiple=True, metavar="NAME", help="Only these; * fits."
)
@click.option(
    "-a", "--aspect", "aspects", multiple=True, metavar="NAME", help="Only these aspects."
)
@click.option("--level", "levels", multiple=True, type=click.Choice(_LEVELS))
@click.option("--coefficient", "coefficients", multiple=True, type=click.Choice(_COEFFICIENTS))
@click.option(
    "--sign",
    type=click.Choice(["oriented", "raw", "absolute"]),
    default="oriented",
    show_default=True,
    help="Turn scorers for which lower is better, leave all, or drop signs as HANNA does.",
)
@click.option(
    "--draw",
    "drawn",
    type=click.Choice(["items", "both"]),
    default="items",
    show_default=True,
    help="What the bootstrap draws: items, or systems and items.",
)
@click.option(
    "--control", default="", metavar="NAME", help="Hold a scorer constant, such as words."
)
@click.option("--references", is_flag=True, help="Keep the systems that wrote the references.")
@click.option("--settle", is_flag=True, help="Means of systems equal to 12 digits are ties.")
@click.option("--baselines/--no-baselines", default=True, show_default=True)
@click.option("--resamples", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for a study report.")
@paper_format_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@_gather_study
def command(
    *,
    source: DatasetSource,
    study: Study,
    levels: tuple[str, ...],
    coefficients: tuple[str, ...],
    baselines: bool,
    output: Path | None,
    form: str,
    quiet: bool,
) -> None:
    """Hold the scores of metrics against the ratings of people.

    SOURCE is a data set by name, a table of your own with ratings and scores, or a run folder with
    --gold RATINGS. Correlations are per item and then averaged, of the systems' means, or over all
    stories; with bootstrap intervals, the noise ceiling of the ratings, and the trivial baselines
    beside them.
    """
    from fabula.cli._output import StderrProgress
    from fabula.reports.correlations import render_correlations
    from fabula.scoring.evaluate import add_baselines

    dataset = source.load()
    if baselines:
        dataset = add_baselines(dataset)
    result = study.run(dataset, None if quiet else StderrProgress("tables"))
    if dataset.preferences and not len(dataset.ratings):
        levels, coefficients = ("pooled",), ("accuracy",)
    elif output:
        from fabula.reports.study import write_plain_study

        click.echo(write_plain_study(result, output), err=True)
    tables: list[Any] = [(level, name) for level in levels for name in coefficients]
    click.echo(render_correlations(form, result, tables))
