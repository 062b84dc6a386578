"""The store's folder: assets on disk, published whole or not at all; others are read in place."""

from __future__ import annotations

import errno
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from fabula.core.errors import UserError
from fabula.core.files import data_home
from fabula.core.installation import spell_weights_install
from fabula.core.machine import is_alive
from fabula.models.store.asset import (
    Asset,
    AssetError,
    FolderPlace,
    OursPlace,
    Place,
    file_hashes,
    find_damage,
    get_asset,
    is_whole,
    list_differences,
    read_manifest,
    tree_sha256,
    write_manifest,
)
from fabula.models.store.convert import Report, convert
from fabula.models.store.fetch import FULL, count_bytes, fetch, is_offline

SOURCE = Path(__file__).resolve().parents[3]


def own_candidate(wanted: Asset) -> Path | None:
    """First folder of that name in the user's `FABULA_ASSETS`, its content unchecked."""
    roots = os.environ.get("FABULA_ASSETS", "").split(os.pathsep)
    folders = (Path(root).expanduser().absolute() / wanted.name for root in roots if root)
    return next((folder for folder in folders if folder.is_dir()), None)


def own_folder(wanted: Asset) -> Path | None:
    """The user's own folder of an asset; one with other content is an error."""
    remedy = "mend that folder or take it out of FABULA_ASSETS"
    return _check_content(own_candidate(wanted), wanted, lambda: remedy)


def ours_candidate(wanted: Asset) -> Path | None:
    """Folder of an asset among the project's own weights, its content unchecked."""
    places = (place for place in wanted.places if isinstance(place, OursPlace))
    folders = (folder for place in places for folder in _list_candidates(place))
    return next((folder for folder in folders if folder.is_dir()), None)


def ours_folder(wanted: Asset) -> Path | None:
    """Folder of an asset among the project's own weights; other content is an error."""
    return _check_content(ours_candidate(wanted), wanted, lambda: _install_remedy(wanted))


def _install_remedy(wanted: Asset) -> str:
    """Say how to install the project's own weights; "" for an asset that is not among them."""
    place = next((place for place in wanted.places if isinstance(place, OursPlace)), None)
    return f"run: {spell_weights_install(place.distribution)}" if place else ""


def _list_candidates(place: OursPlace) -> list[Path]:
    """Where the project's own weights may be: in the clone that we run from, or installed."""
    clone = SOURCE.parent / "weights"
    roots = [clone / place.package, clone / "src" / place.package] if SOURCE.name == "src" else []
    if (installed := find_spec(place.package)) is not None:
        roots += map(Path, installed.submodule_search_locations or ())
    return [root / place.folder for root in roots]


def _check_content(folder: Path | None, wanted: Asset, remedy: Callable[[], str]) -> Path | None:
    if folder is None or is_whole(folder, wanted, fresh=False):
        return folder
    problem = f"{folder} is not the asset {wanted.name!r}: its content has another digest"
    raise AssetError(problem, remedy())


State = Literal["ok", "damaged", "absent"]
TRY_AGAIN = (
    "check the network and pip's settings and try again; without a network"
    " run: fabula models import FILE, or name a folder that has it in FABULA_ASSETS"
)
OTHER_HOME = "set FABULA_HOME to another folder"


@dataclass(frozen=True)
class Check:
    """What a look at an asset's files found; `detail` names the files that differ."""

    name: str
    state: State
    path: Path | None = None
    detail: str = ""


def store_folder() -> Path:
    """Folder that holds the assets."""
    return data_home() / "assets"


def folder_of(wanted: Asset) -> Path:
    """Folder in the store where that content of the asset belongs."""
    return store_folder() / f"{wanted.name}-{wanted.tree_sha256[:12]}"


def find(wanted: Asset) -> Path | None:
    """Folder with the asset's files, the user's own first; None when it is not here."""
    if (own := own_folder(wanted)) is not None:
        return own
    folder = folder_of(wanted)
    return folder if folder.is_dir() else ours_folder(wanted)


def path_of(name: str) -> Path:
    """Folder with the files of an asset that is here and, by size and time, as it was."""
    wanted = get_asset(name)
    folder = find(wanted)
    if folder is None:
        pull_remedy = _carrying_remedy(name) if is_offline() else f"run: fabula models pull {name}"
        remedy = _install_remedy(wanted) if wanted.is_ours else pull_remedy
        raise AssetError(f"asset {name!r} is not here", remedy)
    return _check_unharmed(wanted, folder)


def pull(name: str, report: Report | None = None, *, folder: Path | None = None) -> Path:
    """Fetch an asset unless it is here, and give its folder; look into `folder` first."""
    given = (FolderPlace(folder),) if folder else ()
    places = given if is_offline() else (*given, *get_asset(name).places)
    return _obtain(name, places, report or say_nothing)


def add(name: str, folder: Path, report: Report | None = None) -> Path:
    """Take an asset into the store from a folder of the user's, and give its folder there."""
    return _obtain(name, (FolderPlace(folder),), report or say_nothing)


def _obtain(name: str, places: Sequence[Place], say: Report) -> Path:
    wanted = get_asset(name)
    if (here := find(wanted)) is not None:
        say(f"{name}: already here")
        return _check_unharmed(wanted, here)
    if not places:
        raise AssetError(
            f"asset {name!r} is not here and FABULA_OFFLINE is set", _carrying_remedy(name)
        )
    with open_workspace(name) as work:
        return _pull_from(places, wanted, work, say=say)


def _pull_from(places: Sequence[Place], wanted: Asset, work: Path, *, say: Report) -> Path:
    problems = []
    for number, place in enumerate(places):
        bench = work / str(number)
        content, parts = bench / "content", bench / "parts"
        for path in (content, parts):
            path.mkdir(parents=True)
        say(f"{wanted.name}: getting {format_size(wanted.size)} from {place}")
        try:
            with count_bytes(wanted, content, parts):
                fetch(place, wanted, content=content, work=parts)
            shutil.rmtree(parts)
            return publish(wanted, content, report=say)
        except AssetError as error:
            problems.append(str(error))
            say(f"{wanted.name}: {error}")
        shutil.rmtree(bench)
    remedy = TRY_AGAIN if any(not isinstance(place, FolderPlace) for place in places) else ""
    raise AssetError(f"asset {wanted.name!r} could not be had: {'; '.join(problems)}", remedy)


def publish(wanted: Asset, content: Path, *, report: Report) -> Path:
    """Move a folder with the asset's whole content into the store; other content is refused."""
    made_with: Mapping[str, str] = {}
    if is_whole(content, wanted):
        # Made elsewhere, it is what is made here: its manifest is asked for no digest.
        manifest = read_manifest(content, wanted)
        made_with = manifest.made_with if manifest else {}
    elif not wanted.convert or tree_sha256(file_hashes(content)) != wanted.tree_sha256:
        raise AssetError(f"what came is not the pinned content of {wanted.name!r}")
    else:
        source, content = content, content.with_name("converted")
        content.mkdir()
        made_with = convert(wanted, source, content, report=report)
    write_manifest(content, wanted, made_with)
    final = folder_of(wanted)
    try:
        content.rename(final)
    except OSError as error:
        # Another process was faster; its content has the same digest.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    return final


def verify(name: str) -> Check:
    """Read all files of an asset again and compare them with the pinned digest."""
    wanted = get_asset(name)
    folder = own_candidate(wanted) or folder_of(wanted)
    if not folder.is_dir():
        folder = ours_candidate(wanted) or folder
    if not folder.is_dir():
        return Check(name, "absent")
    with explain_disk_errors(folder):
        if is_whole(folder, wanted):
            return Check(name, "ok", folder)
        return Check(name, "damaged", folder, list_differences(folder, wanted))


def remove(name: str) -> None:
    """Take an asset, whatever its version, out of the store; the user's folders are left."""
    wanted = get_asset(name)
    pattern = re.compile(re.escape(name) + "-[0-9a-f]{12}")
    folders = [path for path in store_folder().glob(f"{name}-*") if pattern.fullmatch(path.name)]
    if not folders:
        elsewhere = own_candidate(wanted) or ours_candidate(wanted)
        remedy = f"it lies in {elsewhere}: remove it yourself" if elsewhere else ""
        raise AssetError(f"asset {name!r} is not in the store", remedy)
    with open_workspace(name) as work:
        for path in folders:
            # Renamed first, so that a kill leaves no half of an asset in place.
            path.rename(work / path.name)


@contextmanager
def open_workspace(name: str) -> Iterator[Path]:
    """Give a folder of this process in the store, gone afterwards; disk errors are explained."""
    root = store_folder()
    with explain_disk_errors(root):
        root.mkdir(parents=True, exist_ok=True)
        _sweep_abandoned(root, name)
        prefix = f".{name}@{socket.gethostname()}@{os.getpid()}@"
        work = Path(tempfile.mkdtemp(prefix=prefix, dir=root))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)


@contextmanager
def explain_disk_errors(path: Path, *, instead: str = OTHER_HOME) -> Iterator[None]:
    """Turn an error of the disk into one that says what to do."""
    try:
        yield
    except AssetError:
        raise
    except (OSError, UserError) as error:
        # The writer of files has put the disk's error into words that know of no other home.
        cause = error.__cause__ if isinstance(error, UserError) else error
        if not isinstance(cause, OSError):
            raise
        if cause.errno in FULL:
            raise AssetError(f"the disk of {path} is full", f"make room, or {instead}") from error
        problem = f"cannot use {cause.filename or path} ({cause.strerror or cause})"
        raise AssetError(problem, f"mend its permissions, or {instead}") from error


def repull_command(*names: str) -> str:
    """Remedy for damaged assets of the store."""
    return f"run: fabula models remove {' '.join(names)} && fabula models pull {' '.join(names)}"


def format_size(size: int) -> str:
    """Spell a size for people, in units of a million bytes."""
    return f"{size / 1e6:,.1f} MB"


def _sweep_abandoned(root: Path, name: str) -> None:
    """Remove what a killed process of this machine left behind of that asset."""
    for left in root.glob(f".{name}@*@*@*"):
        _, host, pid, _ = left.name.split("@")
        if host == socket.gethostname() and pid.isdigit() and not is_alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _check_unharmed(wanted: Asset, folder: Path) -> Path:
    """Give back a folder of the store if it is sound; others were read when they were found."""
    if folder == folder_of(wanted):
        with explain_disk_errors(folder):
            harm = find_damage(folder, wanted)
        if harm:
            raise AssetError(
                f"asset {wanted.name!r} is damaged ({harm})", repull_command(wanted.name)
            )
    return folder


def _carrying_remedy(name: str) -> str:
    return (
        f"with a network run: fabula models pull {name} && fabula models export {name}.tar {name},"
        f" then here: fabula models import {name}.tar"
        " (or name a folder that has it in FABULA_ASSETS)"
    )


def say_nothing(message: str) -> None:
    """Take a report and keep it."""
