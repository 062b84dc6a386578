"""`fabula view`: look through run folders in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from fabula.cli import Display, echo
from fabula.cli._options import existing_folder_type, port_option


@click.command("view", short_help="Look through run folders in a browser.")
@click.argument("folder", type=existing_folder_type, default="runs", required=False)
@port_option(default=8010)
@click.option("--open", "opened", is_flag=True, help="Open it in a browser.")
def command(folder: Path, port: int, opened: bool) -> None:
    """Look through the runs in FOLDER (runs, unless one is named) in a browser.

    All runs in the folder and below it, with filters; the report of each; two runs item by item;
    and runs that are going on, as they go on. It is for this machine alone, and writes nothing.
    Ctrl-C ends it.
    """
    from fabula.core.errors import PackageMissing
    from fabula.core.machine import find_port, spell_address

    try:
        from fabula.web.serving import serve_app
        from fabula.web.view import create_view
    except ModuleNotFoundError as error:
        raise PackageMissing(error.name or "fastapi", "web") from None

    host = "127.0.0.1"
    port = find_port(host, port)
    address = spell_address(host, port)
    echo(f"The runs in {folder} are at {address} (Ctrl-C ends it)", err=True)
    if Display.current:
        Display.current.silent = True
    if opened:
        click.launch(address)
    serve_app(create_view(folder), host, port)
