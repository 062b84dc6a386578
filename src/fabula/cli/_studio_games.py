"""`fabula studio game` and `fabula studio samples`: games in and out, for who runs the machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabula.cli import echo
from fabula.cli._options import FORMAT, OVERWRITE, output_option
from fabula.cli._output import print_rows
from fabula.cli._studio_people import on_studio, spell_moment

if TYPE_CHECKING:
    from fabula.studio.database import Studio

_USER = click.option(
    "--user", "name", metavar="NAME", required=True, help="Whose games they are to be."
)


@click.group("game")
def game() -> None:
    """List games, take them in and write them as STORIUM's JSON."""


@game.command("list")
@click.option("--archived", is_flag=True, help="List archived games too.")
@FORMAT
@on_studio
def list_command(*, studio: Studio, archived: bool, form: str) -> None:
    """List all games, the one that changed last first."""
    from fabula.studio.games import list_games
    from fabula.studio.people import Person

    # Who runs the machine sees what an admin sees.
    operator = Person("", "", frozenset({"admin"}))
    rows = [
        {
            "id": found.id,
            "title": found.title,
            "world": found.world,
            "changed": spell_moment(found.changed_at),
            "completed": found.completed_at is not None,
            "excluded": found.is_excluded,
        }
        for found in list_games(studio, operator, archived=archived)
    ]
    print_rows(rows, form)


@game.command("import", short_help="Take in games of STORIUM's export format.")
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@_USER
@on_studio
def import_command(*, studio: Studio, path: Path, name: str) -> None:
    """Take in the games of PATH: a file, or a folder of them, in STORIUM's export format.

    The same game again is the same game. What is wrong is named with its scene, entry and key.
    """
    from fabula.datasets.storium import read_exports
    from fabula.studio.people import find_person
    from fabula.studio.storium_json import import_game

    person = find_person(studio, name)
    for where, value in read_exports(path):
        echo(f"{import_game(studio, person, value, where=where)}\t{where}")


@game.command("export")
@click.argument("game_id", metavar="ID")
@output_option(metavar="FILE", required=True, help="JSON file for the game.")
@OVERWRITE
@on_studio
def export_command(*, studio: Studio, game_id: str, output: Path, overwrite: bool) -> None:
    """Write the game ID as STORIUM's JSON (export format 0.9.2)."""
    from fabula.core.files import write_texts
    from fabula.studio.storium_json import export_game

    with studio.read() as db:
        written = json.dumps(export_game(db, game_id), ensure_ascii=False, indent=1)
    write_texts(output.parent, {output.name: f"{written}\n"}, overwrite=overwrite)
    echo(output)


@click.command("samples")
@_USER
@on_studio
def samples(*, studio: Studio, name: str) -> None:
    """Take in the three sample games that come with Fabula.

    Those that are there already stay as they are.
    """
    from fabula.studio.games import find_game
    from fabula.studio.people import find_person
    from fabula.studio.storium_json import import_samples

    person = find_person(studio, name)
    ids = import_samples(studio, person)
    with studio.read() as db:
        for game_id in ids:
            echo(f"{game_id}\t{find_game(db, person, game_id).title}")
