"""Where Fabula keeps its files, and the one way files are written.

Whole or not at all, with an error the user can mend.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from fabula.core.errors import UserError


def data_home() -> Path:
    """Folder of what was fetched: `FABULA_HOME`, else the user's data folder."""
    return _read_own_home() or _read_xdg_home("XDG_DATA_HOME", ".local/share")


def cache_home() -> Path:
    """Folder of what can be made again: `FABULA_HOME/cache`, else the user's cache folder."""
    own = _read_own_home()
    return own / "cache" if own else _read_xdg_home("XDG_CACHE_HOME", ".cache")


def _read_own_home() -> Path | None:
    value = os.environ.get("FABULA_HOME", "")
    return Path(value).expanduser().absolute() if value else None


def _read_xdg_home(variable: str, usual: str) -> Path:
    value = os.environ.get(variable, "")
    # The XDG rules say that a relative path is to be ignored.
    parent = Path(value) if Path(value).is_absolute() else Path.home() / usual
    return parent / "fabula"


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Give a hidden path beside `path` to write to; it is renamed when the block ends well.

    Folders above it are made. Where the block fails, nothing is left and `path` is as it was. What
    is no plain file (a pipe, /dev/stdout) cannot be renamed over and is written to as it stands.
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if path.exists() and not path.is_file():
            yield path
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        # Two processes that write the same file must not write into the same hidden one.
        partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            yield partial
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


@contextmanager
def open_atomically(
    path: Path, *, errors: Literal["strict", "replace", "backslashreplace"] = "strict"
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
