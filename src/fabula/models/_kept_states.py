"""States of texts by layer: those that are kept, the others made in one pass for all who ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabula.models._vector_cache import VectorCache, vector_key

if TYPE_CHECKING:
    from fabula.core.model import Array

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
