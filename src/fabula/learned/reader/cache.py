"""The last answers in memory, so that the next metric need not ask again."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class LruCache(Generic[T]):
    """Answers by key; of more than `limit` those asked for least lately are dropped."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._entries: OrderedDict[bytes, T] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, keys: Sequence[bytes], make: Callable[[list[int]], Iterable[T]]) -> list[T]:
        """Give the answer for every key; `make` gives those that are not there, by their places."""
        with self._lock:
            known = {key: self._entries[key] for key in keys if key in self._entries}
        places = {key: place for place, key in reversed(list(enumerate(keys)))}
        missing = sorted(place for key, place in places.items() if key not in known)
        if missing:
            made = make(missing)
            known |= {keys[place]: answer for place, answer in zip(missing, made, strict=True)}
        self._put({key: known[key] for key in keys})
        return [known[key] for key in keys]

    def _put(self, answers: dict[bytes, T]) -> None:
        with self._lock:
            for key, answer in answers.items():
                self._entries[key] = answer
                self._entries.move_to_end(key)
            while len(self._entries) > self.limit:
                self._entries.popitem(last=False)


def text_key(*texts: str) -> bytes:
    """Give a digest of one or several texts, whatever signs they hold."""
    digest = hashlib.blake2b(digest_size=16)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()
