"""Arrays on disk, in shards that several processes share.

A shard is a safetensors file with the arrays of one `write`. It is written under another name and
renamed, so that a half-written one is never seen. When the folder outgrows its limit, the shards
used longest ago go.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

_ABANDONED_S = 3600.0
# Room made at one go, so that not every write has to look for some.
_KEPT_SHARE = 0.9


def shards_in(folder: Path) -> list[Path]:
    """Files of the shelf, those used longest ago first."""
    return sorted(folder.glob("*.safetensors"), key=lambda path: _stat(path)[0])


def size_of(folder: Path) -> int:
    """Bytes of all shards."""
    return sum(_stat(path)[1] for path in shards_in(folder))


def remove_shards(folder: Path) -> int:
    """Take all shards away; give the bytes set free."""
    freed = size_of(folder)
    for path in shards_in(folder):
        path.unlink(missing_ok=True)
    return freed


class Shelf:
    """Arrays by key in a folder of at most `limit` bytes."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._shard_of: dict[str, Path] = {}
        self._known: set[Path] = set()
        self._listed_at_ns = -1

    def read(self, keys: Iterable[str]) -> dict[str, Array]:
        """Find what is there under the keys, as it was written."""
        wanted = list(keys)
        if any(key not in self._shard_of for key in wanted):
            self._look_around()
        by_shard: dict[Path, list[str]] = {}
        for key in wanted:
            if key in self._shard_of:
                by_shard.setdefault(self._shard_of[key], []).append(key)
        found: dict[str, Array] = {}
        for shard, some in by_shard.items():
            found |= self._read_shard(shard, some)
        return found

    def write(self, arrays: Mapping[str, Array]) -> None:
        """Write a shard, then make room; what the disk refuses is an OSError."""
        from safetensors.numpy import save

        self.folder.mkdir(parents=True, exist_ok=True)
        shard = self.folder / f"{uuid.uuid4().hex}.safetensors"
        partial = shard.with_suffix(".partial")
        try:
            with partial.open("wb") as file:
                file.write(save(dict(arrays)))
                file.flush()
                os.fsync(file.fileno())
            partial.replace(shard)
        finally:
            partial.unlink(missing_ok=True)
        self._known.add(shard)
        self._shard_of |= dict.fromkeys(arrays, shard)
        self._make_room()

    def _read_shard(self, shard: Path, keys: list[str]) -> dict[str, Array]:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(shard, framework="numpy") as file:
                found = {key: file.get_tensor(key) for key in keys}
            os.utime(shard)
        except (OSError, SafetensorError):
            # Another process has made room, or the disk has lost it: then it is made again.
            self._drop(shard)
            return {}
        return found

    def _look_around(self) -> None:
        """Learn of shards that other processes have written since."""
        changed_at_ns = _stat(self.folder)[0]
        if changed_at_ns == self._listed_at_ns:
            return
        self._listed_at_ns = changed_at_ns
        for shard in set(shards_in(self.folder)) - self._known:
            self._known.add(shard)
            self._shard_of |= dict.fromkeys(_keys_of(shard), shard)

    def _make_room(self) -> None:
        for partial in self.folder.glob("*.partial"):
            # What a killed process left behind.
            if time.time() - _stat(partial)[0] / 1e9 > _ABANDONED_S:
                partial.unlink(missing_ok=True)
        sizes = {shard: _stat(shard)[1] for shard in shards_in(self.folder)}
        total = sum(sizes.values())
        aim = self.limit if total <= self.limit else _KEPT_SHARE * self.limit
        for shard, size in sizes.items():
            if total <= aim:
                return
            shard.unlink(missing_ok=True)
            self._drop(shard)
            total -= size

    def _drop(self, shard: Path) -> None:
        self._shard_of = {key: path for key, path in self._shard_of.items() if path != shard}


def _keys_of(shard: Path) -> list[str]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(shard, framework="numpy") as file:
            return list(file.keys())
    except (OSError, SafetensorError):
        return []


def _stat(path: Path) -> tuple[int, int]:
    """When a file was last used, in nanoseconds, and its size; zeros when it is gone."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
