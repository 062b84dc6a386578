"""Pictures of stories by their names: where they lie, in which order, and what they hold.

A name in a file of stories is relative to the file's folder; in a `Story` it can be opened from
where one is. What names no file, such as the number of a picture in VIST, stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PurePath

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
# Larger files are no pictures that anybody here reads.
_MOST_BYTES = 64_000_000
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|data:")
_SIGNS = re.compile(r"\s*[;|\n]\s*")


def split_images(text: str) -> list[str]:
    """Give the names in a cell: a list in JSON, or names with ; or | or line ends between them.

    Commas part names only where each part is the name of a picture: a name may hold some.
    """
    if text.lstrip().startswith("["):
        try:
            names = json.loads(text)
        except json.JSONDecodeError:
            names = None
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
    names = [name for name in _SIGNS.split(text.strip()) if name]
    by_commas = [part.strip() for part in text.split(",")]
    are_pictures = all(PurePath(part).suffix.lower() in SUFFIXES for part in by_commas)
    return by_commas if len(names) == 1 and are_pictures else names


def find_images(names: Iterable[str], folder: Path) -> tuple[str, ...]:
    """Give names of a file that lies in the folder as they can be opened from here.

    The name of a folder stands for the pictures in it.
    """
    found: list[str] = []
    for name in names:
        place = os.path.normpath(folder / name)
        # Path.is_dir raises on names that are too long.
        inside = list_images(Path(place)) if os.path.isdir(place) else []  # noqa: PTH112
        found += map(str, inside)
        if not inside:
            found.append(place if _is_file_name(name, folder) else name)
    return tuple(found)


def relate_images(names: Iterable[str], folder: Path) -> list[str]:
    """Give names for a file that lies in the folder: relative, so that both can be moved together.

    Where nothing but the root is common to both, a name is whole.
    """
    related = []
    for name in names:
        if _is_file_name(name, Path()):
            # Of links, the picture's name counts and not what it leads to.
            place = Path(os.path.realpath(Path(name).parent), PurePath(name).name)
            home = Path(os.path.realpath(folder))
            shared = place.parts[:2] == home.parts[:2]
            name = PurePath(os.path.relpath(place, home) if shared else place).as_posix()
        related.append(name)
    return related


def list_images(folder: Path) -> list[Path]:
    """Give the pictures in a folder as people count them: 2.jpg before 10.jpg."""
    names = [
        entry.name
        for entry in os.scandir(folder)
        if PurePath(entry.name).suffix.lower() in SUFFIXES and not entry.name.startswith(".")
    ]
    return [folder / name for name in sorted(names, key=sort_naturally)]


def sort_naturally(name: str) -> list[tuple[int, int, str]]:
    """Give a key by which numbers in names count as numbers."""
    parts = re.split(r"(\d+)", name.lower())
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts] + [
        (2, 0, name)
    ]


def digest_image(name: str) -> str:
    """Give the SHA-256 of what a picture holds; of a file that cannot be one, what is known of it.

    A picture that was changed under its name has another digest, one that was renamed the same.
    """
    try:
        path = Path(name).expanduser()
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            return f"{name} {status.st_size} {status.st_mtime_ns}"
        return _digest(path.resolve(), status.st_size, status.st_mtime_ns)
    except (OSError, ValueError, RuntimeError) as error:
        return f"{name} {type(error).__name__}"


@lru_cache(maxsize=65_536)
def _digest(path: Path, _size: int, _changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_file_name(name: str, folder: Path) -> bool:
    """Whether a name is a file's: it has an ending, or there is such a file; a URL is none."""
    if _URL.match(name) or name.startswith("~") or "\0" in name:
        return False
    # Path.exists raises on names that are too long.
    return bool(PurePath(name).suffix) or os.path.exists(folder / name)  # noqa: PTH110
