"""`fabula agree`: how far raters agree, aspect by aspect or rater by rater."""

from __future__ import annotations

from typing import Any

import click

from fabula.cli._inputs import dataset_arguments
from fabula.cli._output import paper_format_option
from fabula.core.errors import InputError


@click.command("agree")
@dataset_arguments
@click.option("-a", "--aspect", "aspects", multiple=True, help="Only this aspect; with all of it.")
@click.option("--by", type=click.Choice(["aspect", "rater"]), default="aspect", show_default=True)
@click.option(
    "--level",
    type=click.Choice(["ordinal", "interval", "ratio", "nominal"]),
    default="ordinal",
    show_default=True,
    help="What the values are.",
)
@click.option("--resamples", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@paper_format_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def command(**options: Any) -> None:
    """Say how far the raters of a data set agree.

    SOURCE is a data set by name, a table of your own, or a run folder with ratings (--gold).
    Intraclass correlations, Krippendorff's alpha, Fleiss', Cohen's and Gwet's coefficients and
    Kendall's W, with 95 % intervals. With one aspect the table shows them all.
    """
    from fabula.cli._output import StderrProgress
    from fabula.meta.raters.agreement import agree
    from fabula.reports.agreement import render_agreement

    dataset = options["source"].load()
    by_rater = options["by"] == "rater"
    if by_rater and not dataset.card.raters_known:
        raise InputError(
            f"{dataset.name} does not say who gave which rating", "leave out --by rater"
        )
    found = agree(
        dataset,
        level=options["level"],
        aspects=options["aspects"],
        resamples=options["resamples"],
        seed=options["seed"],
        progress=None if options["quiet"] else StderrProgress("aspects"),
    )
    click.echo(render_agreement(options["form"], found, by_rater=by_rater))
