"""Vectors by content, in memory and on disk: one pass of a model serves all who ask for it."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import SettingError
from fabula.core.places import cache_home
from fabula.models._shards import Shelf, remove_shards, size_of

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

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
