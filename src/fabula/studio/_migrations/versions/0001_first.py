"""The first tables, and the triggers that keep logs append-only.

The tables are in `tables/0001.DIALECT.sql`, written from `studio/tables` by `make migration`.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision, down_revision = "0001", None

_FOLDER = Path(__file__).parents[1] / "tables"
_APPEND_ONLY = ("edits", "audit", "assignments", "campaign_verdicts")
# Who may go out of a log: edits of a draft whose author had it erased. Nothing else, ever.
_ERASED = "EXISTS (SELECT 1 FROM erasures WHERE erasures.draft_id = OLD.draft_id)"


def upgrade() -> None:
    """Make all tables and triggers."""
    dialect = op.get_bind().dialect.name
    statements = (_FOLDER / f"{revision}.{dialect}.sql").read_text(encoding="utf-8").split(";\n\n")
    make_triggers = _make_sqlite_triggers if dialect == "sqlite" else _make_postgres_triggers
    for statement in (*statements, *(sql for name in _APPEND_ONLY for sql in make_triggers(name))):
        if statement.strip():
            op.get_bind().exec_driver_sql(statement)


def downgrade() -> None:
    """Nothing leads back from the first tables: restore a backup."""
    raise NotImplementedError("restore a backup instead")


def _make_sqlite_triggers(table: str) -> list[str]:
    refusal = f"SELECT RAISE(ABORT, '{table} is append-only'); END"
    unless = f"WHEN NOT {_ERASED} " if table == "edits" else ""
    return [
        f"CREATE TRIGGER {table}_keep_rows BEFORE UPDATE ON {table} BEGIN {refusal}",
        f"CREATE TRIGGER {table}_keep_all BEFORE DELETE ON {table} {unless}BEGIN {refusal}",
    ]


def _make_postgres_triggers(table: str) -> list[str]:
    erased = f"IF TG_OP = 'DELETE' AND {_ERASED} THEN RETURN OLD; END IF; "
    body = f"RAISE EXCEPTION '{table} is append-only';"
    if table == "edits":
        # Only a row has an OLD; a truncated table has none.
        body = f"IF TG_LEVEL = 'ROW' THEN {erased}END IF; {body}"
    function = f"{table}_refuse_change"
    return [
        f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} END $$",
        f"CREATE TRIGGER {table}_keep_rows BEFORE UPDATE OR DELETE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION {function}()",
        f"CREATE TRIGGER {table}_keep_all BEFORE TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {function}()",
    ]
