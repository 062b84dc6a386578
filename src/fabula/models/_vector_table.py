"""A table of word vectors: a row a word, found by the word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.errors import InputError

if TYPE_CHECKING:
    from fabula.core.model import Array

VECTORS, WORDS = "vectors.npy", "words.txt"


@dataclass(frozen=True)
class VectorTable:
    """Vectors by word; of a word that comes twice the first counts."""

    signature: str
    places: dict[str, int] = field(repr=False)
    vectors: Array = field(repr=False)

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    def rows(self, words: Sequence[str]) -> Array:
        """Give a vector for every word, NaN for one that is not known: (words, width)."""
        places = np.array([self.places.get(word, -1) for word in words], dtype=np.int64)
        found = np.full((len(words), self.width), np.nan)
        known = places >= 0
        found[known] = self.vectors[places[known]]
        return found


def open_folder(folder: Path, signature: str) -> VectorTable:
    """Open a folder with `vectors.npy` and `words.txt`; vectors are read where they are asked for.

    The word of a row is the line of the same number.
    """
    vectors = _array(folder / VECTORS)
    # Some words hold signs that other ways of reading take for the end of a line.
    lines = _bytes(folder / WORDS).decode("utf-8", "replace").removesuffix("\n").split("\n")
    if len(lines) != len(vectors):
        raise InputError(
            f"{folder}: {len(lines):,} words in {WORDS}, {len(vectors):,} rows in {VECTORS}",
            "give as many words as rows, one a line",
        )
    return VectorTable(signature, first_places(lines), vectors)


def first_places(words: Sequence[str]) -> dict[str, int]:
    """Number words from 0 on; of a word that comes twice the first counts."""
    return dict(zip(reversed(words), range(len(words) - 1, -1, -1), strict=True))


def _array(path: Path) -> Array:
    try:
        found: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from None
    except (ValueError, EOFError):
        raise InputError(f"{path} is no array", "write it with numpy.save") from None
    if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind != "f":
        raise InputError(f"{path} does not hold vectors", "give an array of floats, a row a word")
    return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from None
