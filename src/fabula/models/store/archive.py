"""Assets in one tar file, to carry them to machines without a network."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fabula.core.files import write_atomically
from fabula.core.protocols import watch
from fabula.models.store.asset import (
    MANIFEST,
    Asset,
    AssetError,
    asset_names,
    file_hashes,
    get_asset,
    is_whole,
    resolve_inside,
)
from fabula.models.store.convert import Report
from fabula.models.store.folder import (
    explain_disk_errors,
    find,
    open_workspace,
    path_of,
    publish,
    repull_command,
    say_nothing,
)

INDEX = "fabula-assets.json"
LONGEST_INDEX = 1_000_000


def export_assets(names: Iterable[str], file: Path, report: Report | None = None) -> None:
    """Write assets that are here into an uncompressed tar file."""
    wanted = [get_asset(name) for name in names]
    if not wanted:
        raise AssetError("no asset is here to be exported", "run: fabula models pull NAMES")
    folders = {asset.name: _find_sound(asset) for asset in wanted}
    say = report or say_nothing
    with (
        explain_disk_errors(file.parent, instead="write to another folder"),
        write_atomically(file) as partial,
        tarfile.open(partial, "w") as tar,
    ):
        _add(tar, INDEX, json.dumps(_index(wanted), indent=1).encode())
        for asset in wanted:
            say(f"{asset.name}: writing")
            watch.get().tell(f"writing {asset.name}")
            _add_folder(tar, asset, folders[asset.name])


def import_assets(file: Path, report: Report | None = None) -> list[str]:
    """Take the known assets of a tar file into the store; give the names of those now here."""
    say = report or say_nothing
    with explain_disk_errors(file, instead="name another file"):
        stream = file.open("rb")
    try:
        with stream, tarfile.open(fileobj=stream, mode="r:") as tar:
            known = [row for row in _read_index(tar) if _is_known(row, say)]
            for row in known:
                _import(tar, get_asset(row["name"]), say)
    except (tarfile.TarError, EOFError) as error:
        raise AssetError(f"{file} is not a whole tar file ({error})", "export it again") from error
    if not known:
        raise AssetError(f"{file} holds no asset of this version", "export it again from this one")
    return [row["name"] for row in known]


def _find_sound(wanted: Asset) -> Path:
    folder = path_of(wanted.name)
    with explain_disk_errors(folder):
        if not is_whole(folder, wanted):
            raise AssetError(f"asset {wanted.name!r} is damaged", repull_command(wanted.name))
    return folder


def _index(assets: Iterable[Asset]) -> dict[str, Any]:
    rows = [
        {"name": a.name, "licence": a.licence, "size": a.size, "tree_sha256": a.tree_sha256}
        for a in assets
    ]
    return {"format": 1, "assets": rows}


def _add_folder(tar: tarfile.TarFile, wanted: Asset, folder: Path) -> None:
    # What was converted has no digest but that in its manifest; what was not needs none.
    names = [*file_hashes(folder, fresh=False), *([MANIFEST] if wanted.convert else [])]
    for name in names:
        path = folder / name
        with path.open("rb") as source:
            entry = tarfile.TarInfo(f"{wanted.name}/{name}")
            entry.size = path.stat().st_size
            tar.addfile(entry, source)


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data))


def _read_index(tar: tarfile.TarFile) -> list[dict[str, str]]:
    """Name and digest of every asset that the file says it holds."""
    first = tar.next()
    is_index = first is not None and first.name == INDEX and first.size <= LONGEST_INDEX
    source = tar.extractfile(first) if first is not None and is_index else None
    try:
        rows = json.load(source)["assets"] if source else []
        return [{key: str(row[key]) for key in ("name", "tree_sha256")} for row in rows]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise AssetError(f"{INDEX} in the file cannot be read", "export it again") from error


def _is_known(row: dict[str, str], report: Report) -> bool:
    name = row["name"]
    if name not in asset_names():
        report(f"{name}: left out, no asset of this version is called so")
        return False
    if get_asset(name).tree_sha256 != row["tree_sha256"]:
        report(f"{name}: left out, this version pins other content")
        return False
    return True


def _import(tar: tarfile.TarFile, wanted: Asset, report: Report) -> None:
    if find(wanted) is not None:
        report(f"{wanted.name}: already here")
        return
    report(f"{wanted.name}: importing")
    watch.get().tell(f"importing {wanted.name}")
    entries = [entry for entry in tar.getmembers() if entry.name.startswith(f"{wanted.name}/")]
    if sum(entry.size for entry in entries) > _most_bytes(wanted):
        raise AssetError(f"asset {wanted.name!r} in the file is larger than it should be")
    with open_workspace(wanted.name) as work:
        content = work / "content"
        content.mkdir()
        for entry in entries:
            _extract(
                tar, entry, resolve_inside(content, entry.name.removeprefix(f"{wanted.name}/"))
            )
        publish(wanted, content, report=report)


def _most_bytes(wanted: Asset) -> int:
    # Another version of the packages may write a little more, and there is the manifest.
    return int(wanted.converted_size * 1.1) + 100_000 if wanted.convert else wanted.size


def _extract(tar: tarfile.TarFile, entry: tarfile.TarInfo, target: Path) -> None:
    # Not tar.extract: nothing but bytes is taken from the file, no mode, owner or link.
    source = tar.extractfile(entry) if entry.isreg() else None
    if source is None:
        raise AssetError(f"{entry.name!r} in the file is not a plain file")
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as out:
        shutil.copyfileobj(source, out)
