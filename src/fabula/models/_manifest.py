"""What a folder of the store says of its own files, and whether they are still so."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from fabula.models._asset import MANIFEST, Asset, file_hashes, file_sha256, tree_sha256

NO_MANIFEST = "no manifest tells which file"


@dataclass(frozen=True)
class Manifest:
    """Digests of the files as they were published, and size and time of each (`stamps`).

    `source_sha256` is the pinned digest; `tree_sha256` is that of the files, which is another
    only where they were converted, with the packages of `made_with`.
    """

    asset: str
    tree_sha256: str
    files: Mapping[str, str]
    source_sha256: str = ""
    stamps: Mapping[str, list[int]] = field(default_factory=dict)
    made_with: Mapping[str, str] = field(default_factory=dict)


def write_manifest(folder: Path, wanted: Asset, made_with: Mapping[str, str]) -> None:
    """Record the files of a folder as they are."""
    hashes = file_hashes(folder)
    stamps = {name: _stamp(folder / name) for name in hashes}
    digest = tree_sha256(hashes)
    made = Manifest(wanted.name, digest, hashes, wanted.tree_sha256, stamps, made_with)
    _write(folder, made)


def read_manifest(folder: Path, wanted: Asset) -> Manifest | None:
    """Give what was recorded; None when it is not there or cannot be trusted."""
    try:
        made = Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
        digest = tree_sha256(made.files)
        pinned = made.source_sha256 if wanted.convert else digest
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return None
    is_sound = digest == made.tree_sha256 and pinned == wanted.tree_sha256
    return made if is_sound else None


def expected_sha256(folder: Path, wanted: Asset) -> str:
    """Digest that a folder of the asset must have; empty when only a lost manifest knew."""
    if not wanted.convert:
        return wanted.tree_sha256
    made = read_manifest(folder, wanted)
    return made.tree_sha256 if made else ""


def is_whole(folder: Path, wanted: Asset, *, fresh: bool = True) -> bool:
    """Whether a folder holds exactly the asset's files; reads them all."""
    return tree_sha256(file_hashes(folder, fresh=fresh)) == expected_sha256(folder, wanted)


def differences(folder: Path, wanted: Asset) -> str:
    """Name the files that are not as they were published."""
    made, found = read_manifest(folder, wanted), file_hashes(folder)
    if made is None:
        return NO_MANIFEST
    kinds = {
        "changed": [name for name in found if made.files.get(name, found[name]) != found[name]],
        "missing": [name for name in made.files if name not in found],
        "extra": [name for name in found if name not in made.files],
    }
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names)


def damage(folder: Path, wanted: Asset) -> str:
    """Name files that are damaged; reads only those whose size or time is not the recorded one."""
    made = read_manifest(folder, wanted)
    if made is None:
        return "" if is_whole(folder, wanted, fresh=False) else NO_MANIFEST
    missing = [name for name in made.files if not (folder / name).is_file()]
    if missing:
        return f"missing: {', '.join(missing)}"
    moved = [name for name in made.files if made.stamps.get(name) != _stamp(folder / name)]
    changed = [name for name in moved if file_sha256(folder / name) != made.files[name]]
    if moved and not changed:
        _restamp(folder, made)
    return f"changed: {', '.join(changed)}" if changed else ""


def _restamp(folder: Path, made: Manifest) -> None:
    """Record the times of files that were read and found whole, so that they are not read again."""
    # A store that cannot be written is read again each time.
    with suppress(OSError):
        _write(folder, replace(made, stamps={name: _stamp(folder / name) for name in made.files}))


def _stamp(path: Path) -> list[int]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]


def _write(folder: Path, made: Manifest) -> None:
    partial = folder / f"{MANIFEST}.{os.getpid()}"
    partial.write_text(json.dumps(asdict(made), indent=1), encoding="utf-8")
    partial.replace(folder / MANIFEST)
