"""The one way files are written: whole or not at all, with an error the user can mend."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from fabula.core.errors import UserError


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Give a hidden path beside `path` to write to; it is renamed when the block ends well.

    Folders above it are made. Where the block fails, nothing is left and `path` is as it was.
    """
    # Two processes that write the same file must not write into the same hidden one.
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


@contextmanager
def open_atomically(
    path: Path, *, errors: Literal["strict", "replace", "surrogatepass"] = "strict"
) -> Iterator[IO[str]]:
    """Open a text file for writing; it appears when the block ends well. Lines end in \\n."""
    with (
        write_atomically(path) as partial,
        partial.open("w", encoding="utf-8", errors=errors, newline="") as file,
    ):
        yield file


def write_text(path: Path, text: str) -> None:
    """Write a text; half a surrogate pair, which no file can hold, becomes a question mark."""
    with open_atomically(path, errors="replace") as file:
        file.write(text)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines that have their ends already, one after the other."""
    with open_atomically(path) as file:
        file.writelines(lines)


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes as they are."""
    with write_atomically(path) as partial:
        partial.write_bytes(data)


def write_json(path: Path, value: Any, *, indent: int = 1) -> None:
    """Write a plain value as JSON; NaN and infinity, which JSON does not know, are refused."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    write_text(path, f"{text}\n")


def unwritable(path: Path, error: OSError) -> UserError:
    """Give the error for a file or folder that cannot be written."""
    reason = error.strerror or error
    return UserError(f"{path} cannot be written ({reason})", "make room or choose another folder")
