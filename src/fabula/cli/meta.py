"""`fabula meta`: how far metrics agree with people."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli._inputs import dataset_arguments
from fabula.cli._output import paper_format_option

if TYPE_CHECKING:
    from fabula.meta.study import Study

_LEVELS = ("item", "system", "pooled")
_COEFFICIENTS = ("pearson", "spearman", "kendall", "kendall_c", "pairwise", "soft_pairwise")


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
def command(**options: Any) -> None:
    """Hold the scores of metrics against the ratings of people.

    SOURCE is a data set by name, a table of your own with ratings and scores, or a run folder with
    --gold RATINGS. Correlations are per item and then averaged, of the systems' means, or over all
    stories; with bootstrap intervals, the noise ceiling of the ratings, and the trivial baselines
    beside them.
    """
    from fabula.cli._output import StderrProgress
    from fabula.reports.correlations import render_correlations
    from fabula.scoring.evaluate import add_baselines

    dataset = options.pop("source").load()
    if options["baselines"]:
        dataset = add_baselines(dataset)
    study = _study(options)
    progress = None if options["quiet"] else StderrProgress("tables")
    found = study.run(dataset, progress)
    if dataset.preferences and not len(dataset.ratings):
        options |= {"levels": ("pooled",), "coefficients": ("accuracy",)}
    elif options["output"]:
        from fabula.reports.study import write_plain_study

        click.echo(write_plain_study(found, options["output"]), err=True)
    tables: list[Any] = [
        (a, b) for a in _shown(options, "levels") for b in _shown(options, "coefficients")
    ]
    click.echo(render_correlations(options["form"], found, tables))


def _study(options: dict[str, Any]) -> Study:
    from fabula.meta.study import Study

    # What is not given is left to the study, which then takes all.
    given = {field.name: options.get(field.name, ()) for field in fields(Study)}
    return Study(**{name: value for name, value in given.items() if value != ()})


def _shown(options: dict[str, Any], name: str) -> tuple[str, ...]:
    """What is printed as tables unless asked otherwise: Spearman's rho, level by level."""
    usual: dict[str, tuple[str, ...]] = {"levels": _LEVELS, "coefficients": ("spearman",)}
    return options[name] or usual[name]
