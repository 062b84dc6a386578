"""`fabula judge`: what a judge is worth, and which biases it has."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_specs
from fabula.cli._inputs import COLUMN, form_options, pop_form
from fabula.cli._options import (
    CACHE,
    NO_CACHE,
    PARTIAL,
    QUIET,
    alpha_option,
    output_option,
    path_option,
    resamples_option,
    seed_option,
)
from fabula.cli._output import format_option, paper_format_option

if TYPE_CHECKING:
    from fabula.core.dataset import Dataset
    from fabula.meta.study import Study

_COEFFICIENTS = ("spearman", "pearson", "kendall")


def _gather_study(command: Callable[..., None]) -> Callable[..., None]:
    """Give the command the study that its options declare: the verdicts' coefficient first."""

    @functools.wraps(command)
    def gather(*, coefficient: str, resamples: int, seed: int, alpha: float, **rest: Any) -> None:
        from fabula.meta.study import Study

        named: Any = sorted(_COEFFICIENTS, key=lambda name: name != coefficient)
        how: Any = {"resamples": resamples, "seed": seed, "alpha": alpha}
        command(study=Study(coefficients=tuple(named), settle=True, **how), **rest)

    return gather


@click.group(
    "judge", short_help="Certify judges: how far they agree with people, and their biases."
)
def command() -> None:
    """Judges are scorers that claim to rate as people do: language models above all."""


@command.command("certify", short_help="Hold a judge against people's ratings.")
@click.argument("judge", shell_complete=complete_specs)
@click.option(
    "--gold",
    required=True,
    metavar="NAMES|FILE",
    help="People's ratings: a data set by name, or a table of your own, as a campaign exports it.",
)
@click.option(
    "--ratings",
    metavar="NAMES",
    help="Columns of such a table that hold ratings, separated by commas.",
)
@click.option(
    "--run",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Take what the judge said from this run, and ask nothing.",
)
@click.option(
    "--items",
    type=click.IntRange(1),
    metavar="N",
    show_default="all",
    help="Take so many items (prompts) of the gold, at even distances, with all their stories.",
)
@click.option(
    "--coefficient",
    type=click.Choice(_COEFFICIENTS),
    default="spearman",
    show_default=True,
    help="Which correlation the verdicts go by; the file has all three.",
)
@click.option(
    "--reader/--no-reader",
    "with_reader",
    default=True,
    show_default=True,
    help="Put the learned reader of HANNA's criteria beside it.",
)
@path_option()
@PARTIAL
@COLUMN
@form_options
@resamples_option()
@seed_option()
@alpha_option()
@output_option(metavar="FILE", help="Write the certificate here, and not where reports find it.")
@paper_format_option
@CACHE
@NO_CACHE
@QUIET
@_gather_study
def certify(
    judge: str,
    *,
    run: Path | None,
    study: Study,
    items: int | None,
    with_reader: bool,
    output: Path | None,
    form: str,
    cache: Path | None,
    no_cache: bool,
    quiet: bool,
    **gold: Any,
) -> None:
    """Hold a judge against people's ratings and keep what is found as its certificate.

    JUDGE is a spec, such as "judge(model='embedded()')", or a scorer whose scores came with the
    gold, such as judge:ChatGPT/1 with --gold hanna. For every criterion: how far it agrees, with an
    interval, beside the best trivial baseline, the best column that came with the gold, the learned
    reader, and what the raters' own noise allows; and a verdict.
    """
    from fabula.cli import show_progress
    from fabula.reports.certificates import render_certificate
    from fabula.scoring.certificates import make_certificate, save_certificate

    certificate = make_certificate(
        judge,
        _open_gold(judge, run, quiet=quiet, **gold),
        study,
        items=items or 0,
        with_reader=with_reader,
        cache=not no_cache and (cache or True),
        progress=show_progress("scores", quiet=quiet),
    )
    place = save_certificate(certificate, output)
    echo(render_certificate(form, certificate))
    if not quiet:
        echo(f"the certificate is {place}", err=True)


def _open_gold(
    judge: str,
    run: Path | None,
    *,
    gold: str,
    ratings: str | None,
    path: Path | None,
    partial: bool,
    columns: dict[str, str],
    quiet: bool,
    **form: Any,
) -> Dataset:
    """Open the rated stories, with what a run holds of the judge."""
    from fabula.datasets.tables.text_file import FileForm
    from fabula.scoring.certificates import join_run
    from fabula.scoring.sources import DatasetSource

    file_form = FileForm(**pop_form({**form, "quiet": quiet}))
    source = DatasetSource(gold, path, partial, ratings, columns, form=file_form)
    dataset = source.load()
    return join_run(dataset, judge, run) if run else dataset


@command.command("list", short_help="List the certificates that are here.")
@format_option
def list_command(*, form: str) -> None:
    """List certificates: those that you made, then those that came with Fabula."""
    from fabula.reports.certificates import list_table
    from fabula.reports.tables import render
    from fabula.scoring.certificates import list_certificates

    certificates = list_certificates()
    if not certificates and form == "table":
        echo("no certificates yet; make one: fabula judge certify JUDGE --gold NAME", err=True)
        return
    rows = [
        {
            "judge": one.judge,
            "gold": one.gold,
            "made": one.made,
            "stories": one.answered,
            "aspect": aspect,
            "verdict": verdict,
            "signature": one.signature,
        }
        for one in certificates
        for aspect, verdict in one.verdicts.items()
    ]
    echo(render(form, rows, [list_table(certificates)], {}))


@command.command("show", short_help="Show a certificate.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@paper_format_option
def show(file: Path, *, form: str) -> None:
    """Show a certificate as it was printed when it was made."""
    from fabula.reports.certificates import render_certificate
    from fabula.scoring.certificates import read_certificate

    echo(render_certificate(form, read_certificate(file)))
