"""`fabula studio machine`: the co-authors that a studio offers."""

from __future__ import annotations

from typing import Any

import click

from fabula.cli import echo
from fabula.cli._options import FORMAT, database_option
from fabula.cli._output import print_rows

# As in the studio's table; spelled out here, for which nothing heavy is imported.
_STATUS = click.option(
    "--status",
    type=click.Choice(["active", "draining", "inactive"]),
    help="Whether it gets new stories, finishes those it has, or rests.",
)
_QUOTA = click.option(
    "--quota",
    type=click.IntRange(-1, 2**31 - 1),
    metavar="N",
    help="Suggestions a month; -1 is without limit.",
)


@click.group("machine")
def machine_group() -> None:
    """Offer machine co-authors in the studio."""


@machine_group.command("list", short_help="List the machines and what they wrote this month.")
@database_option()
@FORMAT
def list_command(database: str | None, form: str) -> None:
    """List the machines: what they are, whether they are on offer, what they wrote this month."""
    from fabula.studio.machines import UNLIMITED, list_machines

    with _open(database) as studio:
        found = list_machines(studio, None)
    rows: list[dict[str, Any]] = [
        {
            "name": machine.name,
            "spec": machine.spec,
            "status": machine.status,
            "quota": machine.quota,
            "used": machine.used,
        }
        for machine in found
    ]
    if form == "table":
        rows = [
            row | {"quota": "no limit" if row["quota"] == UNLIMITED else row["quota"]}
            for row in rows
        ]
    print_rows(rows, form)


@machine_group.command("add", short_help="Offer a co-author.")
@click.argument("name")
@click.argument("spec")
@_STATUS
@_QUOTA
@database_option()
def add_command(
    name: str, spec: str, status: str | None, quota: int | None, database: str | None
) -> None:
    """Offer a co-author under a name; SPEC is such as `embedded` or `lorem`.

    It is active and without limit unless told otherwise. Added again, it stays as it is.
    """
    from fabula.studio.machines import UNLIMITED, add_machine

    with _open(database) as studio:
        machine = add_machine(
            studio,
            None,
            name=name,
            spec=spec,
            status=status or "active",
            quota=UNLIMITED if quota is None else quota,
        )
    echo(f"{machine.name} is {machine.spec}, {machine.status}")


@machine_group.command("change", short_help="Change whether and how much a machine writes.")
@click.argument("name")
@_STATUS
@_QUOTA
@database_option()
def change_command(name: str, status: str | None, quota: int | None, database: str | None) -> None:
    """Change whether and how much a machine writes; what is not named stays as it is."""
    from fabula.studio.machines import change_machine

    with _open(database) as studio:
        machine = change_machine(studio, None, name, status=status, quota=quota)
    limit = f"{machine.quota:,} suggestions a month" if machine.quota >= 0 else "no limit"
    echo(f"{machine.name} is {machine.status}, with {limit}")


def _open(database: str | None) -> Any:
    from contextlib import closing

    from fabula.studio.database import open_studio
    from fabula.studio.migrations import need_schema

    studio = open_studio(database)
    need_schema(studio)
    return closing(studio)
