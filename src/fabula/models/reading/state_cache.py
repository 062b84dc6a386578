"""What models said of texts, kept in memory and on disk: one pass serves all who ask."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.core.errors import SettingError
from fabula.core.files import cache_home

if TYPE_CHECKING:
    from fabula.core.model import Array

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


MEMORY_LIMIT = 256_000_000
DISK_LIMIT_MB = 2000


def vector_key(signature: str, what: str, text: str) -> str:
    """Name of what a model says of a text; `what` is a layer's number or another word."""
    parts = "\0".join([signature, what, text])
    return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def default_folder() -> Path:
    """Where vectors are kept unless told otherwise."""
    return cache_home() / "vectors-v1"


def disk_limit() -> int:
    """Bytes that may be kept: `FABULA_VECTORS_MB` millions, 0 for none at all."""
    value = os.environ.get("FABULA_VECTORS_MB", "") or str(DISK_LIMIT_MB)
    if not value.isdecimal():
        raise SettingError(f"FABULA_VECTORS_MB={value!r} will not do", "give a whole number, or 0")
    return int(value) * 1_000_000


def vectors_size(folder: Path | None = None) -> int:
    """Bytes on disk."""
    return size_of(folder or default_folder())


def clear_vectors(folder: Path | None = None) -> int:
    """Forget everything on disk; give the bytes set free."""
    return remove_shards(folder or default_folder())


class VectorCache:
    """Arrays of floats by key: those used last in memory, all on disk up to a limit.

    What is kept is exact, unless `half` keeps 16-bit floats; then `put` gives rounded arrays, so
    that a value does not depend on whether it was kept. Arrays from here cannot be written to.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        disk: int | None = None,
        memory: int = MEMORY_LIMIT,
        half: bool = False,
    ) -> None:
        limit = disk_limit() if disk is None else disk
        self._shelf = Shelf(folder or default_folder(), limit) if limit else None
        self._memory = memory
        self._half = half
        self._near: OrderedDict[str, Array] = OrderedDict()
        self._near_size = 0
        self._lock = threading.Lock()

    def get(self, keys: Iterable[str]) -> dict[str, Array]:
        """Find what is known under the keys."""
        with self._lock:
            wanted = list(dict.fromkeys(keys))
            found = {key: self._near[key] for key in wanted if key in self._near}
            for key in found:
                self._near.move_to_end(key)
            if self._shelf and len(found) < len(wanted):
                far = self._shelf.read(key for key in wanted if key not in found)
                found |= self._remember(far)
            return found

    def put(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Keep arrays, on disk where that can be; give them as they will be found."""
        with self._lock:
            stored = {key: self._stored(array) for key, array in arrays.items()}
            if self._shelf and stored:
                try:
                    self._shelf.write(stored)
                except OSError as error:
                    self._do_without(error)
            return self._remember(stored)

    def _stored(self, array: Array) -> Array:
        import numpy as np

        return np.ascontiguousarray(array, np.float16 if self._half else np.float32)

    def _remember(self, stored: Mapping[str, Array]) -> dict[str, Array]:
        import numpy as np

        exact = {key: one.astype(np.float32, copy=False).view() for key, one in stored.items()}
        for key, array in exact.items():
            array.flags.writeable = False
            self._forget(key)
            self._near[key] = array
            self._near_size += array.nbytes
        while self._near_size > self._memory:
            self._forget(next(iter(self._near)))
        return exact

    def _forget(self, key: str) -> None:
        if (old := self._near.pop(key, None)) is not None:
            self._near_size -= old.nbytes

    def _do_without(self, error: OSError) -> None:
        """Go on without the disk; the vectors are there all the same."""
        folder = self._shelf.folder if self._shelf else ""
        self._shelf = None
        logging.getLogger("fabula").warning(
            "vectors are not kept in %s (%s): free some space, or set FABULA_VECTORS_MB=0",
            folder,
            error.strerror or error,
        )


Make = Callable[[list[str], list[int]], Iterable[list["Array"]]]


@dataclass
class KeptStates:
    """What an encoder has said of texts, and the layers that others will ask for too.

    A pass that gives one layer gives the `expected` ones at no cost: they are kept with it.
    """

    cache: VectorCache = field(default_factory=VectorCache)
    expected: tuple[int, ...] = ()

    def of(
        self, signature: str, texts: Iterable[str], layers: Sequence[int], make: Make
    ) -> dict[str, list[Array]]:
        """Give the states of different texts at the layers asked for, in that order."""
        listed = list(dict.fromkeys(texts))
        keys = {
            (text, at): vector_key(signature, str(at), text) for text in listed for at in layers
        }
        found = self.cache.get(keys.values())
        missing = [text for text in listed if any(keys[text, at] not in found for at in layers)]
        wanted = sorted({*layers, *self.expected})
        made: dict[str, Array] = {}
        for text, arrays in zip(missing, make(missing, wanted) if missing else (), strict=True):
            made |= {
                vector_key(signature, str(at), text): array
                for at, array in zip(wanted, arrays, strict=True)
            }
        found |= self.cache.put({key: one for key, one in made.items() if key not in found})
        return {text: [found[keys[text, at]] for at in layers] for text in listed}
