"""What comes through a pipe, put aside to be read more than once: bounded, and swept afterwards."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

from fabula.core.errors import InputError
from fabula.core.files import unwritable
from fabula.datasets.tables.text_file import MOST_FILE_BYTES, MOST_LINE_BYTES

MOST_BYTES = 2 * 1024**3
_CHUNK = 1024 * 1024
_PREFIX = "fabula-aside-"
_LOCK = "lock"
_BY_LINES = ("jsonl", "csv", "tsv")


@contextmanager
def make_spool() -> Iterator[Path]:
    """Make a folder for what is put aside, and take it away at the end.

    Nothing takes it away where the process is killed: the next one that makes such a folder does,
    for it can then lock what is locked while a process lives.
    """
    _sweep(Path(tempfile.gettempdir()))
    try:
        # It gets the name that is swept only when it is locked.
        new = Path(tempfile.mkdtemp(prefix="fabula-new-"))
        folder = new.with_name(new.name.replace("fabula-new-", _PREFIX))
        lock = (new / _LOCK).open("wb")
        _lock(lock)
        new.rename(folder)
    except OSError as error:
        raise unwritable(Path(tempfile.gettempdir()), error) from None
    try:
        yield folder
    finally:
        lock.close()
        shutil.rmtree(folder, ignore_errors=True)


def _lock(file: IO[bytes]) -> bool:
    """Lock a file for as long as it is open; say whether that could be done."""
    try:
        import fcntl
    except ImportError:  # no POSIX: leftovers stay
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sweep(temporary: Path) -> None:
    """Take away folders of our own that no living process holds."""
    for folder in temporary.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with (folder / _LOCK).open("rb+") as lock:
                if _lock(lock):
                    shutil.rmtree(folder, ignore_errors=True)


def put_aside(path: Path | None, folder: Path, label: str, kind: str) -> Path:
    """Copy stdin (None), a pipe or a device into a folder; what has no end is an error."""
    aside = folder / f"{path.stem if path else 'stdin'}.{kind}"
    try:
        with (
            path.open("rb") if path else nullcontext(sys.stdin.buffer) as pipe,
            aside.open("wb") as spool,
        ):
            _copy(pipe, spool, label, kind)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{label}: cannot be put aside ({reason})", "give a file") from None
    return aside


def _copy(pipe: IO[bytes], spool: IO[bytes], label: str, kind: str) -> None:
    # Half of what is free stays free, for the others who use the folder.
    room = shutil.disk_usage(Path(spool.name).parent).free // 2
    most = min(room, MOST_BYTES if kind in (*_BY_LINES, "parquet") else MOST_FILE_BYTES)
    size = since_line = 0
    while chunk := pipe.read(_CHUNK):
        size += len(chunk)
        newline = chunk.rfind(b"\n")
        since_line = len(chunk) - newline - 1 if newline >= 0 else since_line + len(chunk)
        if kind in _BY_LINES and since_line > MOST_LINE_BYTES:
            raise InputError(
                f"{label}: a line longer than {MOST_LINE_BYTES // 1024**2} MiB",
                "check that it is a text with one story a line, and has an end",
            )
        if size > most:
            raise InputError(
                f"{label}: more than {max(1, most // 1024**2):,} MiB, and no end in sight",
                "write it into a file and give that",
            )
        spool.write(chunk)
