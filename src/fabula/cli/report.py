"""`fabula report`: make one page to look at of a run folder."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli import echo
from fabula.cli._completion import complete_runs
from fabula.cli._options import OVERWRITE, QUIET, output_option, seed_option
from fabula.core.errors import SettingError


@click.command("report")
@click.argument("run", shell_complete=complete_runs)
@output_option(metavar="FILE", show_default="RUN/report.html", help="The page to write.")
@click.option(
    "--stories",
    "shown",
    default="400",
    show_default=True,
    metavar="N|all",
    help="How many stories the page shows with their texts.",
)
@seed_option()
@click.option(
    "--open", "opened", is_flag=True, help="Open the page in a browser once it is written."
)
@OVERWRITE
@QUIET
def command(
    run: str,
    output: Path | None,
    *,
    shown: str,
    seed: int,
    opened: bool,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Make a page of a run: one HTML file that needs nothing else.

    RUN is a folder that `fabula score -o` wrote, or its address (then say -o). The tables of the
    page are written beside it as CSV and LaTeX, into the folder `tables`. All scores are in the
    page; of long runs it shows the texts of some stories only, unless `--stories all` is given.
    """
    from fabula.cli import show_progress
    from fabula.core.addresses import drop_scheme, is_address
    from fabula.reports.report import write_report
    from fabula.scoring.fetched_run import fetch_run
    from fabula.scoring.lazy_run import say_held

    stories = _count(shown)
    if output is None and is_address(drop_scheme(run)):
        raise SettingError(
            f"{run} is an address, and the page is written here", "say where: -o FILE"
        )
    with fetch_run(run) as folder:
        if not quiet and (words := say_held(folder)):
            echo(words, err=True)
        progress = show_progress("stories read", quiet=quiet)
        path = write_report(
            folder, output, stories=stories, seed=seed, progress=progress, overwrite=overwrite
        )
    echo(path)
    if opened:
        click.launch(str(path.resolve()))


def _count(shown: str) -> int | None:
    if shown == "all":
        return None
    if not shown.isdecimal():
        raise SettingError(f"--stories {shown!r} will not do", "give a number, or all")
    return int(shown)
