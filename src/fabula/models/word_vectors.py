"""Word vectors of a file or folder of the user's: GloVe's text, word2vec's text, or an array."""

from __future__ import annotations

import gzip
import hashlib
import math
import zlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, BinaryIO, cast

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
        rows = np.full((len(words), self.width), np.nan)
        known = places >= 0
        rows[known] = self.vectors[places[known]]
        return rows


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
        vectors: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from None
    except (ValueError, EOFError, SyntaxError, TokenError, TypeError, MemoryError):
        # Its header is read as a piece of Python, which anything may be.
        raise InputError(f"{path} is no array", "write it with numpy.save") from None
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise InputError(f"{path} does not hold vectors", "give an array of floats, a row a word")
    return vectors


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from None


_FORMS = "a word and its numbers a line, parted by blanks"


def load(path: str) -> VectorTable:
    """Read word vectors from a file or a folder.

    A file holds a word and its numbers a line, as GloVe's and word2vec's do (the latter with a
    line that counts them); it may be packed as .gz. A folder holds vectors.npy and words.txt.
    """
    place = Path(path).expanduser()
    if place.is_dir():
        names = (place / VECTORS, place / WORDS)
        if absent := [file.name for file in names if not file.is_file()]:
            raise InputError(f"{place} has no {absent[0]}", f"it needs {VECTORS} and {WORDS}")
        return open_folder(place, f"word_vectors,{place.name}@{_digest(*names)}")
    if place.exists() and not place.is_file():
        raise InputError(f"{place} is no regular file", "give a file or folder")
    with _explain_errors(place):
        signature = f"word_vectors,{place.name}@{_digest(place)}"
        return _read(place, signature)


def _read(path: Path, signature: str) -> VectorTable:
    words: list[str] = []
    numbers = array("f")
    with _open(path) as file:
        lines = enumerate(file, 1)
        _, first = next(lines, (0, b""))
        counted = _header(first)
        width = counted[1] if counted else len(first.split()) - 1
        if width < 1:
            raise InputError(f"{path}, line 1: there are no numbers", f"write {_FORMS}")
        for number, line in lines if counted else _put_back(first, lines):
            if line.strip():
                word, row = _split_line(line, width, f"{path}, line {number}")
                words.append(word)
                numbers.extend(row)
    if counted and counted[0] != len(words):
        problem = f"{path}: the first line says {counted[0]:,} words, there are {len(words):,}"
        raise InputError(problem, "the file may have been cut off: get it again")
    vectors = np.frombuffer(numbers, dtype=np.float32).reshape(-1, width)
    return VectorTable(signature, first_places(words), vectors)


def _header(line: bytes) -> tuple[int, int] | None:
    """How many words and numbers the first line says there are, if it is a header."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        return int(fields[0]), int(fields[1])
    return None


def _put_back(first: bytes, lines: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    yield 1, first
    yield from lines


def _split_line(line: bytes, width: int, where: str) -> tuple[str, list[float]]:
    """Word and numbers of a line; a word may hold blanks, as some of GloVe's do."""
    fields = line.rsplit(None, width)
    if len(fields) <= width:
        raise InputError(
            f"{where}: not a word and {width} numbers", f"write {_FORMS}, as many in each"
        )
    try:
        row = list(map(float, fields[1:]))
    except ValueError:
        wrong = next(field for field in fields[1:] if not _is_number(field)).decode(
            "utf-8", "replace"
        )
        raise InputError(f"{where}: {wrong!r} is no number", f"write {_FORMS}") from None
    if not all(map(math.isfinite, row)):
        raise InputError(f"{where}: a number is not finite", "leave such words out")
    return fields[0].decode("utf-8", "replace"), row


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _digest(*paths: Path) -> str:
    """Beginning of the SHA-256 of the digests of files."""
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:12]


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    """Turn what goes wrong with a file into words."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{path} is damaged", "pack it with gzip again") from None
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path} cannot be read ({reason})", "give a file or folder") from None
    except ValueError as error:
        raise InputError(f"{path!r} names no file ({error})", "give a file or folder") from None
