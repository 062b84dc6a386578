"""`fabula verify`: check every figure we claim to reproduce and write the page of them."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli import echo
from fabula.cli._options import DATA, output_option
from fabula.core.errors import UserError
from fabula.core.files import write_text
from fabula.core.story import count_text


@click.command("verify", short_help="Check every figure we claim to reproduce.")
@DATA
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Run only the checks whose names begin so, such as learned or golden; may be repeated. "
    "Then no page is written unless -o names one.",
)
@output_option(metavar="FILE", show_default="VERIFIED.md", help="The page to write.")
def command(data: Path | None, only: tuple[str, ...], output: Path | None) -> None:
    """Check every figure we claim to reproduce and write VERIFIED.md.

    What needs data that is not here is said not to be checked here. Exits with 2 when a figure
    falls short.
    """
    from fabula.replication.checks import run_checks, verified_page

    page = output or (None if only else Path("VERIFIED.md"))
    if page and not output and page.is_file() and "`fabula verify`" not in page.read_text("utf-8"):
        raise UserError(f"{page} is there, and not by Fabula", "name the page with -o")
    results = []
    for result in run_checks(data, only):
        results.append(result)
        echo(f"{result.outcome:17} {result.claim}: {result.found}", err=True)
    if page:
        write_text(page, verified_page(results))
        echo(page)
    short = [result.claim for result in results if result.outcome == "short"]
    if short:
        where = f"see {page}" if page else "see above"
        raise UserError(
            f"{count_text(len(short), 'figure falls', 'figures fall')} short: {', '.join(short)}",
            where,
        )
