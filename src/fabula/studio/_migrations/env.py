"""How Alembic meets a studio: on the connection that `migrate` holds, inside its transaction.

There is no address of a database here and no alembic.ini: who wants to migrate calls
`fabula studio migrate`, or `migrate(studio)`.
"""

from __future__ import annotations

from alembic import context

from fabula.studio.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    compare_type=True,
    # SQLite changes a column by making the table anew.
    render_as_batch=True,
)
context.run_migrations()
