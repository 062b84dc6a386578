"""Open the studio."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from fabula.cli import Display, echo
from fabula.cli._options import HOST, database_option, need_web, port_option

if TYPE_CHECKING:
    from fabula.studio.database import Studio


@click.command()
@HOST
@port_option(default=8000)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    metavar="N",
    help="Processes that answer requests; they share the database.",
)
@database_option()
@click.option(
    "--no-worker",
    is_flag=True,
    help="Start no worker beside it; co-authors write where `fabula worker` runs.",
)
@click.option(
    "--local",
    is_flag=True,
    envvar="FABULA_LOCAL",
    help="For one person on this machine: no password, and nobody else can reach it.",
)
@click.option("--open", "is_opened", is_flag=True, help="Open a browser once it answers.")
@click.option("--openapi", is_flag=True, help="Print the API's description, and exit.")
def command(
    host: str,
    port: int,
    *,
    workers: int,
    database: str | None,
    no_worker: bool,
    local: bool,
    is_opened: bool,
    openapi: bool,
) -> None:
    """Open the studio, where people write with co-authors.

    One command is the whole studio: its database is made or brought up to date, a worker runs the
    co-authors in a process of its own, and the first start prints a link that makes the first
    admin. With --local there is no sign-in: the studio is yours. Ctrl-C ends it all.
    """
    need_web()
    if openapi:
        _print_openapi()
        return
    from fabula.core.machine import find_port, spell_address
    from fabula.web.serving import serve, work_beside
    from fabula.web.settings import read_settings

    if local:
        _keep_to_machine(host)
    settings = read_settings()
    port = find_port(host, port)
    address = settings.public_url or spell_address(host, port)
    _prepare(database, address, is_local=local)
    _warn_others(host, settings.public_url)
    _announce(address, is_opened=is_opened)
    with work_beside(is_wanted=not no_worker):
        serve(host, port, workers=workers)
    echo("The studio is closed.", err=True)


def _keep_to_machine(host: str) -> None:
    """Refuse to let the network in where nobody is asked for a password; tell all processes."""
    from fabula.core.errors import SettingError
    from fabula.web.serving import is_open_to_others
    from fabula.web.settings import LOCAL_VARIABLE

    if is_open_to_others(host):
        raise SettingError(
            f"--local is for this machine alone, and others reach {host}",
            "leave --host out, or --local",
        )
    os.environ[LOCAL_VARIABLE] = "1"


def _prepare(database: str | None, address: str, *, is_local: bool) -> None:
    """Bring the database up to date, and see to it that somebody can come in and write."""
    from fabula.studio.database import VARIABLE, open_studio
    from fabula.studio.migrations import migrate

    if database:
        os.environ[VARIABLE] = database
    studio = open_studio()
    done = migrate(studio)
    if done.copy:
        echo(f"The database was brought up to date; as it was, it lies in {done.copy}", err=True)
    if is_local:
        _welcome_owner(studio)
    else:
        _invite_first_person(studio, address)
    _offer_first_machine(studio)
    studio.close()


def _welcome_owner(studio: Studio) -> None:
    """Make the one person of a local studio, and say who may come in."""
    from fabula.studio.local import name_system_user, welcome_owner

    person = welcome_owner(studio, name_system_user())
    echo(
        f"You are {person.name}, without a password: whoever uses this machine can open it.",
        err=True,
    )


def _announce(address: str, *, is_opened: bool) -> None:
    from fabula.web.serving import open_browser

    echo(f"The studio is at {address} (Ctrl-C ends it)", err=True)
    if is_opened:
        open_browser(address)
    if Display.current:
        # It is at work for as long as nobody ends it: no news.
        Display.current.silent = True


def _warn_others(host: str, public_url: str) -> None:
    from fabula.web.serving import is_open_to_others

    if is_open_to_others(host) and not public_url.startswith("https:"):
        echo("Others sign in over https only: docs/studio/security.md says how.", err=True)


def _invite_first_person(studio: Studio, address: str) -> None:
    """Print the one way into an empty studio, or into one that was local until now."""
    from fabula.core.installation import spell_command
    from fabula.studio.links import is_empty, make_link
    from fabula.studio.local import end_own_sessions

    if is_empty(studio):
        secret = make_link(studio, None, purpose="first")
        echo("Nobody is here yet. This link makes the first admin, once, within a day:", err=True)
        echo(f"  {address}/account/link/{secret}")
    elif person := end_own_sessions(studio):
        way = spell_command(f"studio user link {person.name}")
        echo(f"{person.name} has no password yet; a link for one is printed by: {way}", err=True)


def _offer_first_machine(studio: Studio) -> None:
    """Offer the co-author that every machine can run, where there is none; say what it needs."""
    from fabula.models.store.asset import AssetError
    from fabula.models.store.folder import path_of
    from fabula.studio.machines import add_machine, list_machines

    if list_machines(studio, None):
        return
    add_machine(studio, None, name="embedded", spec="embedded")
    echo("The co-author `embedded` is on offer.", err=True)
    try:
        path_of("smollm2")
    except AssetError as error:
        echo(f"It cannot write yet: {error}", err=True)


def _print_openapi() -> None:
    """Print the document that docs/studio/openapi.json holds."""
    import json
    import tempfile

    from fabula.studio.database import open_studio
    from fabula.web.app import create_app

    with tempfile.TemporaryDirectory() as folder:
        app = create_app(open_studio(f"sqlite:///{folder}/studio.sqlite"))
        echo(json.dumps(app.openapi(), indent=1, ensure_ascii=False, sort_keys=True))
