"""The folder that a studio's export writes: its tables, and the games in one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError
from fabula.datasets.releases.reading import Placed
from fabula.datasets.tables.row_files import ROW_FORMS
from fabula.datasets.tables.rows import read_rows
from fabula.datasets.tables.text_file import TextFile

SUGGESTIONS, GAMES = "suggestions", "games"


def find_table(folder: Path, name: str) -> Path | None:
    """Give the file of a table of an export, in whatever form; None where there is none."""
    files = [folder / f"{name}.{form}{packed}" for form in ROW_FORMS for packed in ("", ".gz")]
    return next((file for file in files if file.is_file()), None)


def find_games_table(path: Path) -> Path | None:
    """Give the table of games where a path is an export of a studio, or that table itself."""
    folder = path if path.is_dir() else path.parent
    table = find_table(folder, GAMES) if find_table(folder, SUGGESTIONS) else None
    return table if path in (folder, table) else None


def read_exported_games(table: Path) -> Iterator[Placed[Mapping[str, Any]]]:
    """Go through the games of an export, each as STORIUM's JSON with where it stands.

    A platform uploads a story again when it has grown: of those with one `game_pid` the last one
    counts, in the place of the first.
    """
    games: dict[object, Placed[Mapping[str, Any]]] = {}
    for number, (where, row) in enumerate(read_rows(TextFile(table, table.name))):
        game = read_json_cell(row.get("json"), where)
        games[game.get("game_pid") or number] = where, game
    return iter(games.values())


def read_json_cell(value: Any, where: str) -> Mapping[str, Any]:
    """Read an object that CSV and Parquet hold as JSON; what is none is empty."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except ValueError as error:
            raise InputError(f"{where}: a cell is no JSON ({error})", "export it again") from None
    return value if isinstance(value, Mapping) else {}
