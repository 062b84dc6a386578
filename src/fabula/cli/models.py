"""`fabula models`: the files that metrics and models need, fetched and checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_assets
from fabula.cli._options import FORMAT, QUIET, existing_folder_type
from fabula.cli._output import print_rows

if TYPE_CHECKING:
    from fabula.models import Asset

NAMES = click.argument("names", nargs=-1, metavar="[NAMES]...", shell_complete=complete_assets)
ALL = click.option("--all", "every", is_flag=True, help="Take every asset that there is.")


@click.group("models")
def command() -> None:
    """Fetch, check and carry the files that metrics need."""


@command.command("list", short_help="List all assets, and which are here.")
@FORMAT
def list_command(form: str) -> None:
    """List all assets: licence, size, whether they are here, which metrics use them."""
    from fabula.models import asset_names, format_size, get_asset

    users = _metrics_by_asset()
    rows = [_describe_row(get_asset(name), users.get(name, [])) for name in asset_names()]
    if form == "table":
        rows = [row | {"size": format_size(row["size"])} for row in rows]
    if form == "csv":
        rows = [row | {"metrics": " ".join(row["metrics"])} for row in rows]
    print_rows(rows, form)


@command.command("show", short_help="Show all that is known of an asset.")
@click.argument("name", shell_complete=complete_assets)
def show_command(name: str) -> None:
    """Show all that is known of an asset: licence, source, digest, places, where it lies."""
    from fabula.models import format_size, get_asset

    asset = get_asset(name)
    state, folder = _find_state(asset)
    echo(asset.title)
    facts = {
        "licence": asset.licence,
        "source": asset.source,
        "used for": asset.used_for,
        "metrics": ", ".join(_metrics_by_asset().get(name, [])),
        "size": format_size(asset.size_here),
        "state": state,
        "lies in": folder,
        "SHA-256": asset.tree_sha256,
        "places": ", then ".join(map(str, asset.places)),
        "converted": f"when pulled, from {asset.convert.upper()}" if asset.convert else "",
        "needs": _name_missing_package(asset),
    }
    for key, value in facts.items():
        if value:
            echo(f"  {key:10} {value}")


@command.command("pull")
@NAMES
@ALL
@click.option(
    "--except",
    "excepted",
    shell_complete=complete_assets,
    multiple=True,
    metavar="NAME",
    help="With --all, leave this asset out; may be repeated.",
)
@click.option(
    "--from",
    "folder",
    type=existing_folder_type,
    metavar="FOLDER",
    help="Look for the files in this folder before anything is fetched.",
)
@QUIET
def pull_command(
    names: tuple[str, ...],
    every: bool,
    excepted: tuple[str, ...],
    folder: Path | None,
    quiet: bool,
) -> None:
    """Fetch assets that are not here and print their folders.

    With --all, an asset that needs a package which is not installed is left out, with a note.
    """
    from fabula.models import get_asset, pull

    left_out = [get_asset(name).name for name in excepted]
    wanted = [get_asset(name) for name in _choose_names(names, every) if name not in left_out]
    for asset in wanted:
        if every and (why := _name_missing_package(asset)):
            echo(f"{asset.name}: left out, {why}", err=True)
            continue
        echo(pull(asset.name, _make_report(quiet), folder=folder))


@command.command("add", short_help="Take an asset into the store from a folder of yours.")
@click.argument("name", shell_complete=complete_assets)
@click.argument("folder", type=existing_folder_type)
@QUIET
def add_command(name: str, folder: Path, quiet: bool) -> None:
    """Take the asset NAME into the store from a FOLDER of yours that has its files."""
    from fabula.models import add

    echo(add(name, folder, _make_report(quiet)))


@command.command("verify", short_help="Compare the files here with their pinned digests.")
@NAMES
def verify_command(names: tuple[str, ...]) -> None:
    """Read the files again and compare them with their pinned digests (default: all assets)."""
    from fabula.models import AssetError, asset_names, repull_command, verify

    checks = []
    for name in names or asset_names():
        checks.append(verify(name))
        echo("\t".join(filter(None, (name, checks[-1].state, checks[-1].detail))))
    damaged = [check.name for check in checks if check.state == "damaged"]
    absent = [check.name for check in checks if check.state == "absent" and names]
    if damaged:
        raise AssetError(f"damaged: {', '.join(damaged)}", repull_command(*damaged))
    if absent:
        remedy = f"run: fabula models pull {' '.join(absent)}"
        raise AssetError(f"not here: {', '.join(absent)}", remedy)


@command.command("where")
@click.argument("name", required=False, shell_complete=complete_assets)
def where_command(name: str | None) -> None:
    """Print the folder of an asset, or of the store."""
    from fabula.models import path_of, store_folder

    echo(path_of(name) if name else store_folder())


@command.command("remove")
@click.argument(
    "names", nargs=-1, required=True, metavar="NAMES...", shell_complete=complete_assets
)
def remove_command(names: tuple[str, ...]) -> None:
    """Take assets out of the store."""
    from fabula.models import get_asset, remove

    for asset in [get_asset(name) for name in names]:
        remove(asset.name)
        echo(f"{asset.name}: removed", err=True)


@command.command("export", short_help="Write assets into one tar file, to carry them.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@NAMES
@ALL
@QUIET
def export_command(file: Path, names: tuple[str, ...], every: bool, quiet: bool) -> None:
    """Write assets that are here into one tar file, for a machine without a network.

    With --all, assets that are not here are left out, with a note.
    """
    from fabula.models import export_assets, get_asset

    wanted = list(_choose_names(names, every))
    if every:
        for name in [name for name in wanted if _find_state(get_asset(name))[0] == "absent"]:
            echo(f"{name}: left out, it is not here", err=True)
            wanted.remove(name)
    export_assets(wanted, file, _make_report(quiet))
    echo(file)


@command.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@QUIET
def import_command(file: Path, quiet: bool) -> None:
    """Take the assets of a tar file, made by `export`, into the store."""
    from fabula.models import import_assets, path_of

    for name in import_assets(file, _make_report(quiet)):
        echo(path_of(name))


def _choose_names(names: tuple[str, ...], every: bool) -> tuple[str, ...]:
    from fabula.models import asset_names

    if bool(names) == every:
        raise click.UsageError("name the assets, or say --all")
    return tuple(asset_names()) if every else names


def _make_report(quiet: bool) -> Callable[[str], None] | None:
    return None if quiet else lambda message: echo(message, err=True)


def _metrics_by_asset() -> dict[str, list[str]]:
    """Metrics by the asset that some of their settings need."""
    from fabula.scoring.catalogue import METRICS

    users: dict[str, list[str]] = {}
    for metric, cls in METRICS.load_all().items():
        for name in cls.card.assets:
            users.setdefault(name, []).append(metric)
    return users


def _describe_row(asset: Asset, metrics: list[str]) -> dict[str, Any]:
    return {
        "name": asset.name,
        "licence": asset.licence,
        "size": asset.size_here,
        "state": _find_state(asset)[0],
        "metrics": metrics,
        "used_for": asset.used_for,
    }


def _find_state(asset: Asset) -> tuple[str, Path | None]:
    """State and folder: here, yours, ours (among our weights), damaged or absent."""
    from fabula.models import AssetError, find, path_of, store_folder
    from fabula.models.store.folder import own_candidate

    try:
        if find(asset) is None:
            return "absent", None
        folder = path_of(asset.name)
    except AssetError:
        return "damaged", None
    if folder.parent == store_folder():
        return "here", folder
    return "yours" if folder == own_candidate(asset) else "ours", folder


def _name_missing_package(asset: Asset) -> str:
    """Say what an asset that is not here needs installed to be pulled; nothing when all is."""
    from fabula.models import missing_package

    return str(missing_package(asset) or "") if _find_state(asset)[0] == "absent" else ""
