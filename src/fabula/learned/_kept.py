"""The last answers by what they were given for, so that the next metric need not ask again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """Answers by key; of more than `limit` those asked for least lately are dropped."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._found: OrderedDict[bytes, T] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._found)

    def of(self, keys: Sequence[bytes], make: Callable[[list[int]], Iterable[T]]) -> list[T]:
        """Give the answer for every key; `make` gives those that are not kept, by their places."""
        with self._lock:
            known = {key: self._found[key] for key in keys if key in self._found}
        places = {key: place for place, key in reversed(list(enumerate(keys)))}
        missing = sorted(place for key, place in places.items() if key not in known)
        if missing:
            made = make(missing)
            known |= {keys[place]: one for place, one in zip(missing, made, strict=True)}
        self._keep({key: known[key] for key in keys})
        return [known[key] for key in keys]

    def _keep(self, answers: dict[bytes, T]) -> None:
        with self._lock:
            for key, one in answers.items():
                self._found[key] = one
                self._found.move_to_end(key)
            while len(self._found) > self.limit:
                self._found.popitem(last=False)


def text_key(*texts: str) -> bytes:
    """Give a digest of one or several texts, whatever signs they hold."""
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()
