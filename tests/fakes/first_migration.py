"""The SQL of the first migration, from the tables as they are; run it to write the files again.

Only while no release has gone out with the first migration: afterwards a change of the tables is a
new revision beside it.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

import fabula.studio.tables as tables

FOLDER = Path(tables.__file__).parents[1] / "_migrations" / "tables"
DIALECTS = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}
COMMAND = "make migration"


def render_tables(name: str) -> str:
    """Write all tables and indices as statements of a dialect, each ended by a blank line."""
    statements = []
    for table in tables.METADATA.sorted_tables:
        indices = sorted(table.indexes, key=lambda index: str(index.name))
        statements += [CreateTable(table), *map(CreateIndex, indices)]
    lines = (str(statement.compile(dialect=DIALECTS[name])).strip() for statement in statements)
    tidy = ("\n".join(line.rstrip() for line in text.splitlines()) for text in lines)
    return "".join(f"{statement};\n\n" for statement in tidy)


def find_file(name: str) -> Path:
    """Where the statements of a dialect lie."""
    return FOLDER / f"0001.{name}.sql"


if __name__ == "__main__":
    for dialect in DIALECTS:
        find_file(dialect).write_text(render_tables(dialect), encoding="utf-8")
        print(find_file(dialect))
