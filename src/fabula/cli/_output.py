"""What commands print: rows in the format asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fabula.cli import echo


def print_rows(rows: Sequence[dict[str, Any]], form: str) -> None:
    """Print rows that share their keys."""
    from fabula.reports.tables import Table, render

    if form == "json":
        echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif rows or form == "table":
        columns = [name.replace("_", " ") for name in (rows[0] if rows else ())]
        table = Table(columns, [[_flatten(value) for value in row.values()] for row in rows])
        echo(render(form, rows, [table], {}))


def _flatten(value: Any) -> str | float | int | None:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value) if isinstance(value, bool) else value
