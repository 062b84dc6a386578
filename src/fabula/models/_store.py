"""The store: assets on disk, published whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fabula.core.pids import is_alive
from fabula.core.places import data_home
from fabula.models._asset import MANIFEST, Asset, AssetError, asset, file_hashes, tree_sha256
from fabula.models._places import FULL, fetch, is_offline, own_candidate, own_folder

Report = Callable[[str], None]
State = Literal["ok", "damaged", "absent"]
ELSEWHERE = "run: fabula models import FILE, or name a folder that has it in FABULA_ASSETS"
OTHER_HOME = "set FABULA_HOME to another folder"


@dataclass(frozen=True)
class Check:
    """What a look at an asset's files found; `detail` names the files that differ."""

    name: str
    state: State
    path: Path | None = None
    detail: str = ""


def store() -> Path:
    """Folder that holds the assets."""
    return data_home() / "assets"


def folder_of(wanted: Asset) -> Path:
    """Folder in the store where that content of the asset belongs."""
    return store() / f"{wanted.name}-{wanted.tree_sha256[:12]}"


def find(wanted: Asset) -> Path | None:
    """Folder with the asset's files, the user's own first; None when it is not here."""
    folder = own_folder(wanted) or folder_of(wanted)
    return folder if folder.is_dir() else None


def path_of(name: str) -> Path:
    """Folder with the files of an asset that is here."""
    folder = find(asset(name))
    if folder is None:
        raise AssetError(f"asset {name!r} is not here", f"run: fabula models pull {name}")
    return folder


def pull(name: str, report: Report | None = None) -> Path:
    """Fetch an asset unless it is here, and give its folder."""
    wanted, say = asset(name), report or say_nothing
    if (here := find(wanted)) is not None:
        say(f"{name}: already here")
        return here
    if is_offline():
        raise AssetError(f"asset {name!r} is not here and FABULA_OFFLINE is set", ELSEWHERE)
    with workshop(name) as work:
        return _pull_from_places(wanted, work, say)


def _pull_from_places(wanted: Asset, work: Path, say: Report) -> Path:
    problems = []
    for number, place in enumerate(wanted.places):
        content, parts = work / f"content-{number}", work / f"parts-{number}"
        content.mkdir()
        parts.mkdir()
        say(f"{wanted.name}: getting {megabytes(wanted.size)} from {place}")
        try:
            fetch(place, content, parts)
            return publish(wanted, content)
        except AssetError as error:
            problems.append(str(error))
            say(f"{wanted.name}: {error}")
        shutil.rmtree(content)
        shutil.rmtree(parts)
    raise AssetError(f"asset {wanted.name!r} could not be had: {'; '.join(problems)}", _try_again())


def publish(wanted: Asset, content: Path) -> Path:
    """Move a folder with the asset's whole content into the store; other content is refused."""
    hashes = file_hashes(content)
    if tree_sha256(hashes) != wanted.tree_sha256:
        raise AssetError(f"what came is not the pinned content of {wanted.name!r}")
    manifest = {"asset": wanted.name, "tree_sha256": wanted.tree_sha256, "files": hashes}
    (content / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
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
    wanted = asset(name)
    folder = own_candidate(wanted) or folder_of(wanted)
    if not folder.is_dir():
        return Check(name, "absent")
    with explained(folder):
        hashes = file_hashes(folder)
        if tree_sha256(hashes) == wanted.tree_sha256:
            return Check(name, "ok", folder)
        return Check(name, "damaged", folder, _differences(hashes, _read_manifest(folder, wanted)))


def remove(name: str) -> None:
    """Take an asset, whatever its version, out of the store; the user's folders are left."""
    wanted = asset(name)
    pattern = re.compile(re.escape(name) + "-[0-9a-f]{12}")
    found = [path for path in store().glob(f"{name}-*") if pattern.fullmatch(path.name)]
    if not found:
        own = own_candidate(wanted)
        remedy = f"it is your own folder {own}: remove it yourself" if own else ""
        raise AssetError(f"asset {name!r} is not in the store", remedy)
    with workshop(name) as work:
        for path in found:
            # Renamed first, so that a kill leaves no half of an asset in place.
            path.rename(work / path.name)


@contextmanager
def workshop(name: str) -> Iterator[Path]:
    """Give a folder of this process in the store, gone afterwards; disk errors are explained."""
    root = store()
    with explained(root):
        root.mkdir(parents=True, exist_ok=True)
        _sweep(root, name)
        prefix = f".{name}@{socket.gethostname()}@{os.getpid()}@"
        work = Path(tempfile.mkdtemp(prefix=prefix, dir=root))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)


@contextmanager
def explained(path: Path, *, instead: str = OTHER_HOME) -> Iterator[None]:
    """Turn an error of the disk into one that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise AssetError(f"the disk of {path} is full", f"make room, or {instead}") from error
        problem = f"cannot use {error.filename or path} ({error.strerror or error})"
        raise AssetError(problem, f"mend its permissions, or {instead}") from error


def replacing(*names: str) -> str:
    """Remedy for damaged assets of the store."""
    return f"run: fabula models rm {' '.join(names)} && fabula models pull {' '.join(names)}"


def megabytes(size: int) -> str:
    """Spell a size for people, in units of a million bytes."""
    return f"{size / 1e6:,.1f} MB"


def _sweep(root: Path, name: str) -> None:
    """Remove what a killed process of this machine left behind of that asset."""
    for left in root.glob(f".{name}@*@*@*"):
        _, host, pid, _ = left.name.split("@")
        if host == socket.gethostname() and pid.isdigit() and not is_alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _read_manifest(folder: Path, wanted: Asset) -> dict[str, str]:
    """Hashes by file as they were when published; none when the manifest cannot be trusted."""
    try:
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        return dict(files) if tree_sha256(files) == wanted.tree_sha256 else {}
    except (FileNotFoundError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _differences(found: Mapping[str, str], expected: Mapping[str, str]) -> str:
    if not expected:
        return "no manifest tells which file"
    kinds = {
        "changed": [name for name in found if expected.get(name, found[name]) != found[name]],
        "missing": [name for name in expected if name not in found],
        "extra": [name for name in found if name not in expected],
    }
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names)


def _try_again() -> str:
    return f"check the network and pip's settings and try again; without a network {ELSEWHERE}"


def say_nothing(message: str) -> None:
    """Take a report and keep it."""
