"""What an asset is: one TOML file that pins its content and names places to get it."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from fabula.core.errors import UnknownName, UserError, closest

FOLDER = Path(__file__).with_name("_assets")
MANIFEST = "fabula-manifest.json"


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
class HubPlace:
    """Files of a model hub's repository at one revision: path there → path in the asset."""

    repo: str
    revision: str
    files: Mapping[str, str]

    def __str__(self) -> str:
        return f"hub repository {self.repo}"


Place = WheelPlace | HubPlace


@dataclass(frozen=True)
class Asset:
    """A folder of files known by its digest, its licence and the places that have it."""

    name: str
    title: str
    licence: str
    source: str
    used_for: str
    tree_sha256: str
    size: int
    places: tuple[Place, ...]


def asset_names() -> list[str]:
    """Names of all assets, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def asset(name: str) -> Asset:
    """Read what is declared of the asset of that name."""
    if name not in asset_names():
        raise UnknownName(f"no asset is called {name!r}", closest(name, asset_names()))
    with (FOLDER / f"{name}.toml").open("rb") as file:
        fields = tomllib.load(file)
    fields["places"] = tuple(_read_place(place) for place in fields["places"])
    return Asset(**fields)


def _read_place(fields: dict[str, Any]) -> Place:
    kind = fields.pop("kind")
    if kind == "hub":
        return HubPlace(**fields)
    if kind == "wheel":
        members = tuple(Member(source=m.pop("from"), **m) for m in fields.pop("members"))
        return WheelPlace(**fields, members=members)
    raise ValueError(f"no kind of place is called {kind!r}")


def inside(root: Path, relative: str) -> Path:
    """Path of `relative` below `root`; one that leads elsewhere is refused."""
    parts = PurePosixPath(relative).parts
    if not parts or parts[0] == "/" or ".." in parts or any(sign in relative for sign in "\\:\0"):
        raise AssetError(f"{relative!r} leads out of the asset's folder")
    return root.joinpath(*parts)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_hashes(folder: Path, *, fresh: bool = True) -> dict[str, str]:
    """SHA-256 of every file below a folder, by relative path, the manifest left out.

    Unless `fresh`, a file that has not changed since this process read it is not read again.
    """
    digest = file_sha256 if fresh else _known_sha256
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {
        name: digest(path)
        for name, path in sorted(files.items())
        if path.is_file() and name != MANIFEST
    }


def tree_sha256(hashes: Mapping[str, str]) -> str:
    """SHA-256 over the sorted lines `<relative path> NUL <SHA-256 of the file>`."""
    lines = "".join(f"{name}\0{sha256}\n" for name, sha256 in sorted(hashes.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _known_sha256(path: Path) -> str:
    stat = path.stat()
    return _sha256_at(path, stat.st_size, stat.st_mtime_ns)


@cache
def _sha256_at(path: Path, size: int, mtime_ns: int) -> str:
    return file_sha256(path)
