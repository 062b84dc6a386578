"""What models said of texts, kept in memory and on disk: one pass serves all who ask.

`LruCache` holds the last answers of anything in memory; `VectorCache` holds arrays in memory and in
shards on disk, which processes share; `StateCache` an encoder's states by text and layer.
"""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
import uuid
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fabula.core.errors import SettingError, UserError
from fabula.core.files import cache_home, write_atomically

if TYPE_CHECKING:
    from fabula.core.model import Array

T = TypeVar("T")
MEMORY_LIMIT = 256_000_000
DISK_LIMIT_MB = 2000
_ABANDONED_S = 3600.0
# Room made at one go, so that not every write has to look for some.
_SHARE_AFTER_CLEARING = 0.9


class LruCache(Generic[T]):
    """Answers by key; of more than `limit` those asked for least lately are dropped.

    The limit counts answers, or what `size_of` says of each together.
    """

    def __init__(self, limit: int, size_of: Callable[[T], int] = lambda answer: 1) -> None:
        self.limit = limit
        self._size_of = size_of
        self._size = 0
        self._entries: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, keys: Sequence[Hashable], make: Callable[[list[int]], Iterable[T]]) -> list[T]:
        """Give the answer for every key; `make` gives those that are not there, by their places."""
        known = self.find(keys)
        places = {key: place for place, key in reversed(list(enumerate(keys)))}
        missing = sorted(place for key, place in places.items() if key not in known)
        if missing:
            made = make(missing)
            known |= {keys[place]: answer for place, answer in zip(missing, made, strict=True)}
        self.put({key: known[key] for key in keys})
        return [known[key] for key in keys]

    def find(self, keys: Iterable[Hashable]) -> dict[Any, T]:
        """Give the answers that are there."""
        with self._lock:
            known = {key: self._entries[key] for key in keys if key in self._entries}
            for key in known:
                self._entries.move_to_end(key)
            return known

    def put(self, answers: Mapping[Any, T]) -> None:
        """Remember answers, the last of them longest."""
        with self._lock:
            for key, answer in answers.items():
                self._drop(key)
                self._entries[key] = answer
                self._size += self._size_of(answer)
            while self._size > self.limit:
                self._drop(next(iter(self._entries)))

    def _drop(self, key: Hashable) -> None:
        if key in self._entries:
            self._size -= self._size_of(self._entries.pop(key))


def text_key(*texts: str) -> bytes:
    """Give a digest of one or several texts, whatever signs they hold."""
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


def vector_key(signature: str, what: str, text: str) -> str:
    """Name of what a model says of a text; `what` is a layer's number or another word."""
    parts = "\0".join([signature, what, text])
    return hashlib.blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def vectors_folder() -> Path:
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
    return sum(_stat(path)[1] for path in list_shards(folder or vectors_folder()))


def clear_vectors(folder: Path | None = None) -> int:
    """Forget everything on disk; give the bytes set free."""
    freed = vectors_size(folder)
    for path in list_shards(folder or vectors_folder()):
        path.unlink(missing_ok=True)
    return freed


def list_shards(folder: Path) -> list[Path]:
    """Files with arrays, those used longest ago first."""
    return sorted(folder.glob("*.safetensors"), key=lambda path: _stat(path)[0])


class ArrayShards:
    """Arrays by key in a folder of at most `limit` bytes, which several processes share.

    A shard is a safetensors file with the arrays of one `write`; a half-written one is never seen.
    It says the checksum of each: a shard that a failing disk has altered goes, as does one of an
    older Fabula, which says none. When the folder outgrows its limit, the shards used longest ago
    go.
    """

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
            self._list_new_shards()
        by_shard: dict[Path, list[str]] = {}
        for key in wanted:
            if key in self._shard_of:
                by_shard.setdefault(self._shard_of[key], []).append(key)
        arrays: dict[str, Array] = {}
        for shard, shard_keys in by_shard.items():
            arrays |= self._read_shard(shard, shard_keys)
        return arrays

    def write(self, arrays: Mapping[str, Array]) -> None:
        """Write a shard, then make room; what the disk refuses is a UserError."""
        from safetensors.numpy import save

        shard = self.folder / f"{uuid.uuid4().hex}.safetensors"
        with write_atomically(shard) as partial, partial.open("wb") as file:
            checksums = {key: _checksum(key, array) for key, array in arrays.items()}
            file.write(save(dict(arrays), metadata=checksums))
            file.flush()
            os.fsync(file.fileno())
        self._known.add(shard)
        self._shard_of |= dict.fromkeys(arrays, shard)
        self._make_room()

    def _read_shard(self, shard: Path, keys: list[str]) -> dict[str, Array]:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(shard, framework="numpy") as file:
                arrays = {key: file.get_tensor(key) for key in keys}
                checksums = file.metadata() or {}
            if any(_checksum(key, array) != checksums.get(key) for key, array in arrays.items()):
                shard.unlink(missing_ok=True)
                self._drop(shard)
                return {}
            os.utime(shard)
        except (OSError, SafetensorError):
            # Another process has made room, or the disk has lost it: then it is made again.
            self._drop(shard)
            return {}
        return arrays

    def _list_new_shards(self) -> None:
        """Learn of shards that other processes have written since."""
        from safetensors import SafetensorError, safe_open

        changed_at_ns = _stat(self.folder)[0]
        if changed_at_ns == self._listed_at_ns:
            return
        self._listed_at_ns = changed_at_ns
        for shard in set(list_shards(self.folder)) - self._known:
            self._known.add(shard)
            try:
                with safe_open(shard, framework="numpy") as file:
                    known, keys = file.metadata() or {}, list(file.keys())
            except (OSError, SafetensorError):
                continue
            if known.keys() == set(keys):
                self._shard_of |= dict.fromkeys(keys, shard)
            else:
                shard.unlink(missing_ok=True)

    def _make_room(self) -> None:
        for partial in self.folder.glob("*.partial"):
            # What a killed process left behind.
            if time.time() - _stat(partial)[0] / 1e9 > _ABANDONED_S:
                partial.unlink(missing_ok=True)
        sizes = {shard: _stat(shard)[1] for shard in list_shards(self.folder)}
        total = sum(sizes.values())
        aim = self.limit if total <= self.limit else _SHARE_AFTER_CLEARING * self.limit
        for shard, size in sizes.items():
            if total <= aim:
                return
            shard.unlink(missing_ok=True)
            self._drop(shard)
            total -= size

    def _drop(self, shard: Path) -> None:
        self._shard_of = {key: path for key, path in self._shard_of.items() if path != shard}


def _checksum(key: str, array: Array) -> str:
    """Checksum of an array as it is stored, and of what it is called."""
    named = f"{key} {array.shape} {array.dtype}".encode()
    return f"{zlib.crc32(array.tobytes(), zlib.crc32(named)):08x}"


def _stat(path: Path) -> tuple[int, int]:
    """When a file was last used, in nanoseconds, and its size; zeros when it is gone."""
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


class VectorCache:
    """Arrays of floats by key: those used last in memory, all on disk up to a limit.

    What is kept is exact. Arrays from here cannot be written to.
    """

    def __init__(
        self, folder: Path | None = None, *, disk: int | None = None, memory: int = MEMORY_LIMIT
    ) -> None:
        limit = disk_limit() if disk is None else disk
        self._shards = ArrayShards(folder or vectors_folder(), limit) if limit else None
        self._memory: LruCache[Array] = LruCache(memory, lambda array: array.nbytes)
        self._lock = threading.Lock()

    def get(self, keys: Iterable[str]) -> dict[str, Array]:
        """Find what is known under the keys."""
        with self._lock:
            wanted = list(dict.fromkeys(keys))
            known = self._memory.find(wanted)
            if self._shards and len(known) < len(wanted):
                known |= self._remember(
                    self._shards.read(key for key in wanted if key not in known)
                )
            return known

    def put(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Keep arrays, on disk where that can be; give them as they will be found."""
        import numpy as np

        with self._lock:
            stored = {key: np.ascontiguousarray(array, np.float32) for key, array in arrays.items()}
            if self._shards and stored:
                try:
                    self._shards.write(stored)
                except UserError as error:
                    self._do_without_disk(self._shards.folder, error)
            return self._remember(stored)

    def _remember(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        views = {key: array.view() for key, array in arrays.items()}
        for array in views.values():
            array.flags.writeable = False
        self._memory.put(views)
        return views

    def _do_without_disk(self, folder: Path, error: UserError) -> None:
        """Go on without the disk; the vectors are there all the same."""
        self._shards = None
        reason = getattr(error.__cause__, "strerror", None) or error
        logging.getLogger("fabula").warning(
            "vectors are not kept in %s (%s): free some space, or set FABULA_VECTORS_MB=0",
            folder,
            reason,
        )


@dataclass
class StateCache:
    """What an encoder has said of texts, and the layers that others will ask for too.

    A pass that gives one layer gives the `expected` ones at no cost: they are kept with it.
    """

    vectors: VectorCache = field(default_factory=VectorCache)
    expected: tuple[int, ...] = ()

    def get(
        self,
        signature: str,
        texts: Iterable[str],
        layers: Sequence[int],
        make: Callable[[list[str], list[int]], Iterable[list[Array]]],
    ) -> dict[str, list[Array]]:
        """Give the states of different texts at the layers asked for, in that order.

        `make` encodes texts that are not there, at all layers that are wanted of them.
        """
        unique = list(dict.fromkeys(texts))
        keys = {
            (text, at): vector_key(signature, str(at), text) for text in unique for at in layers
        }
        known = self.vectors.get(keys.values())
        missing = [text for text in unique if any(keys[text, at] not in known for at in layers)]
        wanted = sorted({*layers, *self.expected})
        made: dict[str, Array] = {}
        for text, arrays in zip(missing, make(missing, wanted) if missing else (), strict=True):
            made |= {
                vector_key(signature, str(at), text): array
                for at, array in zip(wanted, arrays, strict=True)
            }
        known |= self.vectors.put({key: array for key, array in made.items() if key not in known})
        return {text: [known[keys[text, at]] for at in layers] for text in unique}
