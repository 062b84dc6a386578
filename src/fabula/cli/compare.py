"""`fabula compare`: systems of a run, or of several, on the items they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_runs, complete_specs
from fabula.cli._options import PAPER_FORMAT, QUIET, alpha_option, resamples_option, seed_option
from fabula.core.errors import UnknownName, closest

if TYPE_CHECKING:
    from fabula.scoring.large_pairing import LargePairs
    from fabula.scoring.pairing import PairedRuns


@click.command("compare", short_help="Compare systems on the items they share.")
@click.argument(
    "names",
    metavar="RUN [RUN|SYSTEM]...",
    nargs=-1,
    required=True,
    shell_complete=complete_runs,
)
@click.option(
    "-m",
    "--metrics",
    multiple=True,
    metavar="SPECS",
    shell_complete=complete_specs,
    help="Only these metrics of the run: specs or sets, separated by commas.",
)
@PAPER_FORMAT
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
    names: tuple[str, ...],
    *,
    metrics: tuple[str, ...],
    form: str,
    resamples: int,
    seed: int,
    correction: Any,
    alpha: float,
    quiet: bool,
) -> None:
    """Compare systems on the items they share: two of a run, or those of several runs.

    RUN is the folder of a run (`fabula score -o RUN`) or its address, SYSTEM one of its systems;
    none need be named where there are two, or of several runs. Of more than two the first is
    compared with each of the others. For every metric: the difference of the means with a bootstrap
    interval, turned so that positive favours the first; the p of a sign-flip test, corrected for
    the number of comparisons; and on how many items the first wins.
    """
    from fabula.cli import show_progress
    from fabula.meta.compare import Procedure, compare_several
    from fabula.reports.comparison import render_comparisons
    from fabula.scoring.lazy_run import say_held

    with _pair(names) as (paired, systems):
        remarks = filter(None, [*map(say_held, paired.folders), *paired.remarks])
        for remark in () if quiet else remarks:
            echo(remark, err=True)
        scorers = list(dict.fromkeys(scorer for scorer, _ in paired.keys))
        comparisons = compare_several(
            paired.select(_choose_scorers(metrics, scorers) if metrics else scorers),
            systems[0],
            systems[1:],
            directions={metric["spec"]: metric["direction"] for metric in paired.metrics},
            procedure=Procedure(resamples, seed, correction, alpha),
            progress=show_progress("comparisons", quiet=quiet),
        )
    signatures = {metric["spec"]: metric["signature"] for metric in paired.metrics}
    echo(render_comparisons(form, comparisons, signatures))


@contextmanager
def _pair(names: Sequence[str]) -> Iterator[tuple[PairedRuns | LargePairs, list[str]]]:
    """Tell runs from systems: a name that the first run knows as a system is one."""
    from fabula.core.addresses import drop_scheme, is_address
    from fabula.scoring.fetched_run import fetch_run
    from fabula.scoring.folder import RUN
    from fabula.scoring.large_pairing import open_pairs

    names = [drop_scheme(name) for name in names]
    with ExitStack() as fetched, ExitStack() as opened:
        # What is not at an address is a folder or a system.
        names = [
            str(fetched.enter_context(fetch_run(name))) if is_address(name) else name
            for name in names
        ]
        paired = opened.enter_context(open_pairs([Path(names[0])]))
        runs = [Path(names[0])]
        for name in names[1:]:
            if name in paired.systems or not (Path(name) / RUN).is_file():
                break
            runs.append(Path(name))
        if len(runs) > 1:
            opened.close()
            paired = opened.enter_context(open_pairs(runs))
        systems = list(names[len(runs) :])
        if len(runs) > 1 and not systems:
            systems = list(paired.systems)
        else:
            systems = paired.choose_systems(systems)
        yield paired, systems


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
