"""ConceptNet 5's assertions in English, read from its tab-separated file (Speer et al., 2017)."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from fabula.core.errors import InputError

_FORMS = "a line is: URI, relation, start, end, JSON, parted by tabs, as ConceptNet 5 ships"
_ENGLISH = b"/c/en/"


@dataclass(frozen=True)
class Assertion:
    """A relation between two phrases of lower-case words, and the weight it is held with."""

    relation: str
    start: str
    end: str
    weight: float


def read_assertions(path: Path, relations: Collection[str]) -> Iterator[Assertion]:
    """Read the assertions of some relations (`Antonym`, `Causes`, …) whose two ends are English."""
    wanted = {f"/r/{name}".encode(): name for name in relations}
    found = False
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            fields = line.rstrip(b"\r\n").split(b"\t", 4)
            if len(fields) < 4:
                raise InputError(f"{path}, line {number}: fewer than four fields", _FORMS)
            if fields[1] not in wanted or not _is_english(fields):
                continue
            found = True
            start, end = _phrase(fields[2]), _phrase(fields[3])
            where = f"{path}, line {number}"
            yield Assertion(wanted[fields[1]], start, end, _weight(fields, where))
    if not found:
        names = ", ".join(sorted(relations))
        raise InputError(f"{path} says nothing in English of {names}", _FORMS)


def _is_english(fields: list[bytes]) -> bool:
    return fields[2].startswith(_ENGLISH) and fields[3].startswith(_ENGLISH)


def _phrase(concept: bytes) -> str:
    """Give the words of /c/en/hot_dog/n/wn/food, which may have a part of speech and a sense."""
    return concept.split(b"/", 4)[3].decode("utf-8", "replace").replace("_", " ").lower()


def _weight(fields: list[bytes], where: str) -> float:
    """Give the weight that the JSON of the fifth field holds; 1 where there is none."""
    if len(fields) < 5 or not fields[4].strip():
        return 1.0
    try:
        return float(json.loads(fields[4]).get("weight", 1.0))
    except (ValueError, TypeError, AttributeError):
        raise InputError(f"{where}: the fifth field is no JSON with a weight", _FORMS) from None


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file that may be gzipped; a broken one is the user's to mend."""
    try:
        with cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" else path.open("rb")) as file:
            yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} cannot be unpacked ({error})", "get it again") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})", "check the path") from None
