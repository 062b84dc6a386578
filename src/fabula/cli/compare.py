"""`fabula compare`: two systems of a run on the items they share, metric by metric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_runs, complete_specs
from fabula.cli._options import QUIET, alpha_option, resamples_option, seed_option
from fabula.cli._output import paper_format_option
from fabula.core.errors import InputError, UnknownName, closest

if TYPE_CHECKING:
    from fabula.core.table import ScoreTable


@click.command("compare")
@click.argument("run", type=click.Path(path_type=Path), shell_complete=complete_runs)
@click.argument("a")
@click.argument("b")
@click.option(
    "-m",
    "--metrics",
    multiple=True,
    metavar="SPECS",
    shell_complete=complete_specs,
    help="Only these metrics of the run: specs or sets, separated by commas.",
)
@paper_format_option
@resamples_option(default=10_000, help="How often items are drawn again for intervals and tests.")
@seed_option()
@click.option(
    "--correction",
    type=click.Choice(["holm", "bh"]),
    default="holm",
    show_default=True,
    help="How p is corrected for many comparisons: by Holm, or by Benjamini and Hochberg.",
)
@alpha_option(type=float)
@QUIET
def command(
    run: Path,
    a: str,
    b: str,
    *,
    metrics: tuple[str, ...],
    form: str,
    resamples: int,
    seed: int,
    correction: Any,
    alpha: float,
    quiet: bool,
) -> None:
    """Compare the systems A and B of a run on the items they share.

    RUN is the folder of a run (`fabula score -o RUN`). For every metric: the difference of the
    means with a bootstrap interval, turned so that positive favours A; the p of a sign-flip test,
    corrected for the number of comparisons; and on how many items A wins.
    """
    from fabula.cli import show_progress
    from fabula.core.table import ScoreTable
    from fabula.meta.compare import Procedure, compare
    from fabula.reports.comparison import render_comparison

    known = _metrics(run)
    table = ScoreTable.load(run)
    if metrics:
        table = _only(table, _choose_scorers(metrics, table.scorers))
    comparison = compare(
        table,
        a,
        b,
        directions={metric["spec"]: metric["direction"] for metric in known},
        procedure=Procedure(resamples, seed, correction, alpha),
        progress=show_progress("comparisons", quiet=quiet),
    )
    signatures = {metric["spec"]: metric["signature"] for metric in known}
    echo(render_comparison(form, comparison, signatures))


def _metrics(run: Path) -> list[dict[str, Any]]:
    """Give what the run says of its metrics."""
    from fabula.scoring.folder import read_run

    metrics: list[dict[str, Any]] | None = read_run(run).get("metrics")
    if metrics is None:
        raise InputError(f"{run} does not name its metrics", "score the stories again")
    return metrics


def _only(table: ScoreTable, scorers: set[str]) -> ScoreTable:
    return type(table)(table.stories, [score for score in table if score.scorer in scorers])


def _choose_scorers(given: Sequence[str], scorers: Sequence[str]) -> set[str]:
    """Scorers of the run that are named, by their specs or by sets."""
    from fabula.core.settings import split_specs

    return {
        scorer
        for text in given
        for part in split_specs(text)
        for scorer in _match_scorers(part, scorers)
    }


def _match_scorers(part: str, scorers: Sequence[str]) -> set[str]:
    from fabula.scoring.catalogue import choose_metrics

    # A run may hold metrics of a package that is not installed here: their names still count.
    if part in scorers:
        return {part}
    shared = {metric.spec for metric in choose_metrics(part)} & set(scorers)
    if not shared:
        raise UnknownName(f"the run has no scores of {part}", closest(part, scorers))
    return shared
