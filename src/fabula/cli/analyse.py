"""`fabula analyse`: what people did with machines' texts, found out from an export."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo, show_progress
from fabula.cli._inputs import path_option
from fabula.cli._options import (
    OVERWRITE,
    PAPER_FORMAT,
    QUIET,
    output_option,
    resamples_option,
    seed_option,
)
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.studio.exported import ReadEdits

_COAUTHOR = "coauthor"


@click.group("analyse")
def command() -> None:
    """Find out what people made of machines' suggestions."""


@command.command("edits")
@click.argument("export", metavar="EXPORT")
@path_option()
@click.option(
    "--unit",
    type=click.Choice(["author", "game"]),
    default="author",
    show_default=True,
    help="What is drawn again for intervals: suggestions of one are not independent.",
)
@click.option(
    "--by",
    type=click.Choice(["day", "week", "month"]),
    default="month",
    show_default=True,
    help="Period over which suggestions are followed.",
)
@click.option(
    "--machine",
    "machines",
    multiple=True,
    metavar="NAME",
    help="Only suggestions of this machine; may be repeated.",
)
@output_option(
    metavar="FOLDER", help="Write a page with all figures, and each as a file, into this folder."
)
@OVERWRITE
@PAPER_FORMAT
@resamples_option()
@seed_option()
@QUIET
def edits_command(
    export: str,
    *,
    path: Path | None,
    machines: tuple[str, ...],
    output: Path | None,
    overwrite: bool,
    form: str,
    quiet: bool,
    **settings: Any,
) -> None:
    """Say what authors keep of suggestions: which words, names and sentences.

    EXPORT is a folder that `fabula studio export` wrote; a table with the columns generated and
    published, and perhaps machine, author, game, published_at; or the data set coauthor. Shares
    come with intervals, over all and by machine, and STORIUM's printed figures stand beside.
    """
    from fabula.reports.edit_page import write_edits
    from fabula.reports.edits import render_edits
    from fabula.studio.edit_kinds import analyse_edits
    from fabula.studio.printed import printed_figures

    read = _choose_machines(_read(export, path), machines)
    if read.unpublished and not quiet:
        told = count_text(read.unpublished, "row", "rows")
        echo(f"left out: {told} with nothing published or nothing generated", err=True)
    progress = show_progress("suggestions", quiet=quiet)
    analysis, printed = analyse_edits(read.edits, progress=progress, **settings), printed_figures()
    if not analysis.of("names") and not quiet:
        echo("of names nothing is known: an export's games say whom and what they have", err=True)
    echo(render_edits(form, analysis, printed))
    if output:
        source = Path(export)
        page = write_edits(
            output, analysis, printed, source=source.name, inputs=[source], overwrite=overwrite
        )
        if not quiet:
            echo(f"tables and figures are in {page}", err=True)


def _read(export: str, path: Path | None) -> ReadEdits:
    """Read an export; a folder that is called like the data set is ./coauthor, as everywhere."""
    from fabula.core.errors import SettingError
    from fabula.datasets import find_place
    from fabula.studio.exported import read_coauthor, read_export

    if export == _COAUTHOR:
        return read_coauthor(path or find_place(_COAUTHOR))
    if path is not None:
        raise SettingError("--path tells where the data set coauthor lies", "leave it out")
    return read_export(Path(export))


def _choose_machines(read: ReadEdits, machines: tuple[str, ...]) -> ReadEdits:
    from dataclasses import replace

    from fabula.core.errors import SettingError

    if not machines:
        return read
    known = {edit.machine for edit in read.edits}
    if strange := [name for name in machines if name not in known]:
        raise SettingError(
            f"--machine {strange[0]!r}: no suggestion is of it", f"take {', '.join(sorted(known))}"
        )
    return replace(read, edits=tuple(edit for edit in read.edits if edit.machine in machines))
