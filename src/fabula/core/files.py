"""Where Fabula keeps its files, and the one way files are written.

Whole or not at all, with an error the user can mend. What is read is never written over, and what
Fabula did not write only where the user says so: a folder that several files are written into holds
a list of them (`.fabula.json`) with their checksums.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Literal

from fabula.core.errors import UserError

if TYPE_CHECKING:
    import sqlite3

# Names and checksums of the files that Fabula wrote into a folder.
_WRITTEN = ".fabula.json"
_INSTEAD = "choose another folder with -o, or pass --overwrite"


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


def write_texts(folder: Path, texts: Mapping[str, str], *, overwrite: bool = False) -> None:
    """Write texts into a folder; a file there that says something else is refused, or lost."""
    import hashlib

    same = {
        name: hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        for name, text in texts.items()
    }
    refuse_foreign(folder, texts, known=same, overwrite=overwrite)
    for name, text in texts.items():
        write_text(folder / name, text)


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


# Of a file of settings or words that is read whole.
MOST_BYTES = 1_000_000_000


def read_bounded(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a file whole; a device, a pipe or one without end is an OSError, and not waited for."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "it is no regular file")
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")
    return data


def unwritable(path: Path, error: OSError) -> UserError:
    """Give the error for a file or folder that cannot be written."""
    reason = error.strerror or error
    return UserError(f"{path} cannot be written ({reason})", "make room or choose another folder")


def checksum_file(path: Path) -> str:
    """SHA-256 of a file."""
    import hashlib  # here, for every command imports this module and few need it

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def refuse_input(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse to write where something is being read from, whatever links lead there."""
    there = os.path.exists  # Path.exists raises on names that are too long
    for source in inputs:
        if there(path) and there(source) and path.samefile(source):
            raise UserError(
                f"{path} is what is being read, and would be written over",
                "choose another place with -o",
            )


def refuse_foreign(
    folder: Path,
    names: Iterable[str],
    *,
    inputs: Iterable[Path] = (),
    known: Mapping[str, str] = MappingProxyType({}),
    overwrite: bool = False,
) -> None:
    """Refuse to write files into a folder where others lie that are not as Fabula wrote them.

    `known` are names and checksums of more files of ours. `overwrite` lets all of them be lost but
    the inputs, which never are.
    """
    names, inputs = list(names), list(inputs)
    for name in names:
        refuse_input(folder / name, inputs)
    if overwrite:
        return
    written = _read_written(folder)
    for name in names:
        path = folder / name
        # Devices and pipes hold nothing that could be lost; a link is not of our making.
        if not path.is_symlink() and not path.is_file() and not path.is_dir():
            continue
        ours = [*written.get(name, ()), *([known[name]] if name in known else ())]
        if not ours or path.is_symlink() or path.is_dir():
            raise UserError(f"{path} is there, and not by Fabula", _INSTEAD)
        if checksum_file(path) not in ours:
            raise UserError(f"{path} was altered since Fabula wrote it", _INSTEAD)


def _read_written(folder: Path) -> dict[str, list[str]]:
    """Give the checksums of what Fabula wrote into a folder by name, as its list says."""
    try:
        files = json.loads((folder / _WRITTEN).read_text(encoding="utf-8"))["files"]
        return {name: [str(checksum) for checksum in sums] for name, sums in files.items()}
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        # A list that is not there or cannot be read vouches for nothing.
        return {}


def note_written(folder: Path, names: Iterable[str], within: Path | None = None) -> None:
    """Add files to the folder's list of what Fabula wrote.

    They lie there, or still `within` another folder, to be put in place next. The list holds the
    last two checksums of each: a kill in between leaves a file that is ours either way.
    """
    written = _read_written(folder)
    for name in names:
        checksum = checksum_file((within or folder) / name)
        earlier = [other for other in written.get(name, ()) if other != checksum]
        written[name] = [*earlier[-1:], checksum]
    about = "What Fabula wrote into this folder; no other file is written over unasked."
    write_json(folder / _WRITTEN, {"about": about, "files": dict(sorted(written.items()))})


@contextmanager
def lock_file(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Let one process at a time go on; the system frees the lock of one that died.

    Without `wait`, a lock that another holds is a BlockingIOError that names its process. The file
    goes when the block ends; where a file system knows no locks there is none.
    """
    with ExitStack() as opened:
        while True:
            lock = opened.enter_context(path.open("a+", encoding="utf-8"))
            _take_lock(lock, wait=wait)
            # One who waited may hold the lock of a file that is gone; the next has a new one.
            with suppress(OSError):
                if os.path.samestat(path.stat(), os.fstat(lock.fileno())):
                    break
        lock.truncate(0)
        lock.write(f"{os.getpid()} on {platform.node()}")
        lock.flush()
        try:
            yield
        finally:
            with suppress(OSError):  # some systems keep a file that is open
                path.unlink()


def _take_lock(lock: IO[str], *, wait: bool) -> None:
    try:
        if sys.platform == "win32":
            import msvcrt

            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            lock.seek(0)
            raise BlockingIOError(errno.EAGAIN, lock.read().strip()) from error
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise


def write_ahead(database: sqlite3.Connection, wait_s: float) -> None:
    """Put a file of SQLite into write-ahead mode.

    Where another process is just doing so, SQLite gives up at once, whatever its time limit is:
    two that both read would wait for each other. So it is asked again until the time is over.
    """
    import sqlite3

    end = time.monotonic() + wait_s
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether SQLite refused because somebody else holds the file."""
    import sqlite3

    # Above the lowest eight bits stands why it is busy.
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
