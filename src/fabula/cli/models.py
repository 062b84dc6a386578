"""`fabula models`: the files that metrics and models need, fetched and checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli._rows import format_option, print_rows

if TYPE_CHECKING:
    from fabula.models import Asset

NAMES = click.argument("names", nargs=-1, metavar="[NAMES]...")
QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
ALL = click.option("--all", "every", is_flag=True, help="Every asset.")


@click.group("models")
def command() -> None:
    """Fetch, check and carry the files that metrics need."""


@command.command("list")
@format_option
def list_command(form: str) -> None:
    """List all assets: licence, size, whether they are here, what they are for."""
    from fabula.models import asset, asset_names, megabytes

    rows = [_row(asset(name)) for name in asset_names()]
    if form == "table":
        rows = [row | {"size": megabytes(row["size"])} for row in rows]
    print_rows(rows, form)


@command.command("pull")
@NAMES
@ALL
@QUIET
def pull_command(names: tuple[str, ...], every: bool, quiet: bool) -> None:
    """Fetch assets that are not here and print their folders."""
    from fabula.models import asset, pull

    wanted = [asset(name) for name in _chosen(names, every)]
    for one in wanted:
        click.echo(pull(one.name, _report(quiet)))


@command.command("verify")
@NAMES
def verify_command(names: tuple[str, ...]) -> None:
    """Read the files again and compare them with their pinned digests (default: all assets)."""
    from fabula.models import AssetError, asset_names, replacing, verify

    checks = []
    for name in names or asset_names():
        checks.append(verify(name))
        click.echo("\t".join(filter(None, (name, checks[-1].state, checks[-1].detail))))
    damaged = [check.name for check in checks if check.state == "damaged"]
    absent = [check.name for check in checks if check.state == "absent" and names]
    if damaged:
        raise AssetError(f"damaged: {', '.join(damaged)}", replacing(*damaged))
    if absent:
        remedy = f"run: fabula models pull {' '.join(absent)}"
        raise AssetError(f"not here: {', '.join(absent)}", remedy)


@command.command("where")
@click.argument("name", required=False)
def where_command(name: str | None) -> None:
    """Print the folder of an asset, or of the store."""
    from fabula.models import path_of, store

    click.echo(path_of(name) if name else store())


@command.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="NAMES...")
def rm_command(names: tuple[str, ...]) -> None:
    """Take assets out of the store."""
    from fabula.models import asset, remove

    for one in [asset(name) for name in names]:
        remove(one.name)
        click.echo(f"{one.name}: removed", err=True)


@command.command("export")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@NAMES
@ALL
@QUIET
def export_command(file: Path, names: tuple[str, ...], every: bool, quiet: bool) -> None:
    """Write assets that are here into one tar file, for a machine without a network."""
    from fabula.models import export_assets

    export_assets(_chosen(names, every), file, _report(quiet))
    click.echo(file)


@command.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@QUIET
def import_command(file: Path, quiet: bool) -> None:
    """Take the assets of a tar file, made by `export`, into the store."""
    from fabula.models import import_assets, path_of

    for name in import_assets(file, _report(quiet)):
        click.echo(path_of(name))


def _chosen(names: tuple[str, ...], every: bool) -> tuple[str, ...]:
    from fabula.models import asset_names

    if bool(names) == every:
        raise click.UsageError("name the assets, or say --all")
    return tuple(asset_names()) if every else names


def _report(quiet: bool) -> Callable[[str], None] | None:
    return None if quiet else lambda message: click.echo(message, err=True)


def _row(one: Asset) -> dict[str, Any]:
    return {
        "name": one.name,
        "licence": one.licence,
        "size": one.size,
        "state": _state(one),
        "used_for": one.used_for,
    }


def _state(one: Asset) -> str:
    """Where an asset is: here, yours (in FABULA_ASSETS), damaged (there, and wrong) or absent."""
    from fabula.models import AssetError, find, store

    try:
        folder = find(one)
    except AssetError:
        return "damaged"
    if folder is None:
        return "absent"
    return "here" if folder.parent == store() else "yours"
