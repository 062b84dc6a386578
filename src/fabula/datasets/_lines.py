"""Lines of a text file, read with care: which line is too long, which is no text."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from fabula.core.errors import InputError

MOST_LINE_BYTES = 64 * 1024 * 1024


def opened(path: Path) -> IO[bytes] | gzip.GzipFile:
    """Open a file, gzipped or not."""
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    return path.open("rb")


def lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Go through the lines with their numbers, line ends kept."""
    try:
        with opened(path) as file:
            number = 0
            while raw := file.readline(MOST_LINE_BYTES + 1):
                number += 1
                yield number, _decoded(raw, path, number, encoding)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: not a whole gzip file ({error})", "fetch it again") from None


def _decoded(raw: bytes, path: Path, number: int, encoding: str) -> str:
    if len(raw) > MOST_LINE_BYTES:
        raise InputError(
            f"{path}, line {number}: longer than {MOST_LINE_BYTES // 1024**2} MiB",
            "check that the file has one story a line and the format is right",
        )
    if number == 1 and encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        where = f"{path}, line {number}, byte {error.start + 1}"
        remedy = "name the file's own with --encoding, such as latin-1 or utf-16"
        raise InputError(f"{where}: not {encoding} text", remedy) from None
    except LookupError:
        raise InputError(f"no encoding is called {encoding!r}", "try utf-8 or latin-1") from None
