"""`fabula agree`: how far raters agree, aspect by aspect or rater by rater."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._inputs import dataset_arguments
from fabula.cli._options import PAPER_FORMAT, QUIET, resamples_option, seed_option
from fabula.core.errors import InputError, SettingError

_MOST_SLOTS = 100

if TYPE_CHECKING:
    from fabula.scoring.sources import DatasetSource


@click.command("agree")
@dataset_arguments
@click.option(
    "-a",
    "--aspect",
    "aspects",
    multiple=True,
    metavar="NAME",
    help="Only this aspect, with every coefficient; may be repeated.",
)
@click.option(
    "--by",
    type=click.Choice(["aspect", "rater"]),
    default="aspect",
    show_default=True,
    help="One row for each aspect, or one for each rater.",
)
@click.option(
    "--level",
    type=click.Choice(["ordinal", "interval", "ratio", "nominal"]),
    default="ordinal",
    show_default=True,
    help="What kind of numbers the ratings are; Krippendorff's alpha depends on it.",
)
@click.option(
    "--slots",
    default="",
    metavar="N|NAMES",
    help="Give the N busiest raters, or those named, columns of their own in ICC(2) and ICC(3); "
    "all others fill the free places, as in HANNA's Table 3.",
)
@resamples_option()
@seed_option()
@PAPER_FORMAT
@QUIET
def command(
    *,
    source: DatasetSource,
    aspects: tuple[str, ...],
    by: str,
    level: Any,
    slots: str,
    resamples: int,
    seed: int,
    form: str,
    quiet: bool,
) -> None:
    """Say how far the raters of a data set agree.

    SOURCE is a data set by name, a table of your own, or a run folder with ratings (--gold).
    Intraclass correlations, Krippendorff's alpha, Fleiss', Cohen's and Gwet's coefficients and
    Kendall's W, with 95 % intervals. With one aspect the table shows them all.
    """
    from fabula.cli import show_progress
    from fabula.meta.raters.agreement import agree
    from fabula.reports.agreement import render_agreement

    dataset = source.load()
    by_rater = by == "rater"
    if by_rater and not dataset.card.raters_known:
        problem = f"{dataset.name} does not say who gave which rating"
        raise InputError(problem, "leave out --by rater")
    if slots and not dataset.card.raters_known:
        problem = f"{dataset.name} does not say who gave which rating"
        raise InputError(problem, "leave out --slots")
    agreement = agree(
        dataset,
        level=level,
        aspects=aspects,
        slots=_read_slots(slots),
        resamples=resamples,
        seed=seed,
        progress=show_progress("aspects", quiet=quiet),
    )
    echo(render_agreement(form, agreement, by_rater=by_rater))


def _read_slots(given: str) -> int | tuple[str, ...]:
    """Read a number of slots, or the raters that have one."""
    if given.isdecimal():
        if not 2 <= int(given) <= _MOST_SLOTS:
            raise SettingError(f"--slots {given} will not do", f"give 2 to {_MOST_SLOTS}")
        return int(given)
    names = tuple(name.strip() for name in given.split(",") if name.strip())
    if len(names) == 1 or len({*names}) < len(names):
        raise SettingError("--slots wants two different raters or more", "or a number of them")
    return names or 0
