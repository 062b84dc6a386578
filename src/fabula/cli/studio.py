"""`fabula studio`: look after a studio, by whom the machine is run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabula.cli import echo
from fabula.cli._options import OVERWRITE, QUIET, file_type, output_option
from fabula.cli._studio_games import game, samples
from fabula.cli._studio_machines import machine_group
from fabula.cli._studio_people import on_studio, token, user
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.datasets.tables.row_files import RowForm
    from fabula.studio.database import Studio


@click.group("studio")
def command() -> None:
    """Look after a studio: people, games, machines, data, backups."""


command.add_command(user)
command.add_command(token)
command.add_command(game)
command.add_command(samples)
command.add_command(machine_group)


@command.command("status")
@on_studio(current=False)
def status_command(*, studio: Studio) -> None:
    """Say where the studio is and what it holds."""
    from fabula.studio.status import read_status

    found = read_status(studio)
    tables = f"{found.schema.state} (revision {found.schema.database or 'none'}"
    tables += f", this version wants {found.schema.package})"
    facts = {"database": found.database, "tables": tables} | dict(found.counts)
    for name, value in facts.items():
        echo(f"{name:17} {value:,}" if isinstance(value, int) else f"{name:17} {value}")
    if found.schema.state in ("empty", "behind"):
        echo("Make its tables with: fabula studio migrate", err=True)


@command.command("migrate", short_help="Make the database's tables, or bring them up to date.")
@on_studio(current=False)
def migrate_command(*, studio: Studio) -> None:
    """Make the database's tables, or bring them up to date; `fabula serve` does so too.

    A file of SQLite is copied before it is changed.
    """
    from fabula.studio.migrations import migrate

    done = migrate(studio)
    if done.before == done.after:
        echo(f"the tables are up to date (revision {done.after.database})", err=True)
        return
    if done.copy:
        echo(f"as it was, it lies in {done.copy}", err=True)
    before = done.before.database or "none"
    echo(f"the tables went from revision {before} to {done.after.database}", err=True)


@command.command("backup")
@click.argument("file", type=file_type)
@OVERWRITE
@QUIET
@on_studio(current=False)
def backup_command(*, studio: Studio, file: Path, overwrite: bool, quiet: bool) -> None:
    """Write the whole studio into one FILE while others go on writing."""
    from fabula.studio.backup import backup

    made = backup(studio, file, overwrite=overwrite)
    echo(f"{count_text(made.rows, 'row')} of revision {made.revision}, read again", err=True)
    echo(file)


@command.command("restore", short_help="Put a backup into an empty database.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@QUIET
@on_studio(current=False)
def restore_command(*, studio: Studio, file: Path, quiet: bool) -> None:
    """Put the backup FILE into an empty database, all of it or nothing.

    It may be another kind of database than the one the backup is of: so a studio moves from SQLite
    to PostgreSQL.
    """
    from fabula.studio.backup import restore

    held = restore(studio, file)
    echo(f"{count_text(held.rows, 'row')} of {held.made_at} restored", err=True)


@command.command("export", short_help="Write suggestions, ratings, scores and edits as files.")
@output_option(metavar="FOLDER", required=True, help="Folder for the files.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["json", "csv", "parquet"]),
    default="json",
    show_default=True,
    help="Form of the rows.",
)
@click.option("--names", is_flag=True, help="Write people's names instead of pseudonyms.")
@click.option("--excluded", is_flag=True, help="Take games in that were excluded from evaluation.")
@OVERWRITE
@QUIET
@on_studio
def export_command(
    *,
    studio: Studio,
    output: Path,
    form: RowForm,
    names: bool,
    excluded: bool,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Write suggestions, ratings, scores, edits and assignments, and a table that `meta` reads.

    `fabula meta FOLDER` then holds metrics against what authors said, and `fabula score
    FOLDER/stories.jsonl` scores the suggestions with more metrics.
    """
    from fabula.studio.export import export_studio

    done = export_studio(
        studio, None, output, form=form, names=names, excluded=excluded, overwrite=overwrite
    )
    for name, rows in done.rows.items():
        echo(f"{output / name}\t{count_text(rows, 'row')}")
