"""Where files may lie besides this machine: addresses such as `s3://bucket/stories.parquet`.

A `Place` is a folder, here or at an address, whose files appear whole or not at all: here a file is
renamed into its place, at an address it is put there by one request, which an object store takes
whole or not. Addresses go through fsspec (extra `remote`); what is local needs no package.
"""

from __future__ import annotations

import glob
import io
import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from fabula.core.errors import InputError, PackageMissing, UserError
from fabula.core.files import unwritable

T = TypeVar("T")

_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+://")
_THIS_DISK = re.compile(r"(?:file|local)://")
_PATTERN = re.compile(r"[*?]|\[[^\]]+\]")
# A store that is busy, or a line that is cut, is tried again after 0.2, 0.4, 0.8 … seconds.
_TRIES, _FIRST_WAIT_S = 8, 0.2
# What waiting does not mend.
_FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, UserError)
_PACKAGES = {"s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hf": "huggingface_hub"}


def is_address(name: str) -> bool:
    """Whether a name is that of something that lies elsewhere."""
    return bool(_ADDRESS.match(name))


def drop_scheme(name: str) -> str:
    """Give the plain path of `file://…` and `local://…`; what else there is stays as it is."""
    return _THIS_DISK.sub("", name, count=1) if _THIS_DISK.match(name) else name


def refuse_address(path: Path, *, is_output: bool = False) -> None:
    """Refuse a path that was meant as an address (of `s3://` a path keeps `s3:/`)."""
    if re.match(r"[A-Za-z][\w+.-]+:/", str(path)):
        address = str(path).replace(":/", "://", 1)
        if is_output:
            problem = f"{address} is an address, and this is written to a disk alone"
            raise UserError(problem, "write it to this machine, and copy it from here")
        problem = f"{address} is an address, and this is read from a disk alone"
        raise InputError(problem, "copy it to this machine, and name the copy")


def is_pattern(name: str) -> bool:
    """Whether a name stands for several files; one that is there is itself."""
    return bool(_PATTERN.search(name)) and (is_address(name) or not Path(name).exists())


class Place(Protocol):
    """A folder for files that appear whole or not at all; `name` may hold slashes."""

    name: str

    def read(self, name: str) -> bytes:
        """Give what a file holds; FileNotFoundError where there is none."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Put a file in place, or in the place of another."""

    def put(self, name: str, file: Path) -> None:
        """Put a file in place that was written here, and take it away from here."""

    def move(self, name: str, target: str) -> None:
        """Put a file that is here already in the place of another."""

    def sizes(self, folder: str = "") -> dict[str, int]:
        """Give the bytes of every file right in a folder by its name there; of none, nothing."""
        ...

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""

    def scratch(self) -> Path:
        """Give the name of a file to write to here before it is put in place."""
        ...


class Folder:
    """A folder of this machine."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)

    def read(self, name: str) -> bytes:
        """Give what a file holds."""
        return (self.path / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        """Put a file in place."""
        with self._explain_errors():
            partial = self.scratch()
            partial.write_bytes(data)
            self._rename(partial, name)

    def put(self, name: str, file: Path) -> None:
        """Rename a file into its place."""
        with self._explain_errors():
            self._rename(file, name)

    def move(self, name: str, target: str) -> None:
        """Rename a file into the place of another."""
        with self._explain_errors():
            self._rename(self.path / name, target)

    def _rename(self, file: Path, name: str) -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # What a name promises must be on the disk before the name is.
        with file.open("rb") as written:
            os.fsync(written.fileno())
        file.replace(target)

    def sizes(self, folder: str = "") -> dict[str, int]:
        """Give the bytes of every file right in a folder."""
        try:
            entries = list(os.scandir(self.path / folder))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}

    def remove(self, name: str) -> None:
        """Take a file away, and the folder around it where it was the last."""
        (self.path / name).unlink(missing_ok=True)
        if "/" in name:
            with suppress(OSError):
                (self.path / name).parent.rmdir()

    def scratch(self) -> Path:
        """Give a hidden name of this folder, which can be renamed."""
        with self._explain_errors():
            (self.path / ".shards").mkdir(parents=True, exist_ok=True)
        return self.path / ".shards" / f".{os.getpid()}-{uuid4().hex[:8]}.partial"

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unwritable(self.path, error) from error


class RemotePlace:
    """A folder at an address; what fails for a moment is tried again."""

    def __init__(self, address: str) -> None:
        self.name = address.rstrip("/")
        self._files, self._root = open_files(self.name)

    def read(self, name: str) -> bytes:
        """Give what a file holds."""
        what = self._say(name)
        return try_again(lambda: bytes(self._files.cat_file(self._at(name))), what, may_lack=True)

    def write(self, name: str, data: bytes) -> None:
        """Put a file there by one request."""
        try_again(lambda: self._files.pipe_file(self._at(name), data), self._say(name))

    def put(self, name: str, file: Path) -> None:
        """Put a file there; a request that breaks off leaves nothing."""
        try_again(lambda: self._files.put_file(str(file), self._at(name)), self._say(name))
        file.unlink()

    def move(self, name: str, target: str) -> None:
        """Let the store copy a file into the place of another; it takes the copy whole or not."""
        copy = self._files.cp_file
        try_again(lambda: copy(self._at(name), self._at(target)), self._say(name))
        self.remove(name)

    def sizes(self, folder: str = "") -> dict[str, int]:
        """Give the bytes of every file right in a folder."""

        def look() -> dict[str, int]:
            self._files.invalidate_cache()
            try:
                entries = self._files.ls(self._at(folder), detail=True)
            except FileNotFoundError:
                return {}
            return {
                entry["name"].rsplit("/", 1)[-1]: int(entry["size"] or 0)
                for entry in entries
                if entry["type"] == "file"
            }

        return try_again(look, self._say(folder))

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""

        def take_away() -> None:
            with suppress(FileNotFoundError):
                self._files.rm_file(self._at(name))

        try_again(take_away, self._say(name))

    def scratch(self) -> Path:
        """Give a name in this machine's folder for passing files."""
        handle, name = tempfile.mkstemp(prefix="fabula-", suffix=".partial")
        os.close(handle)
        return Path(name)

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}".rstrip("/")

    def _say(self, name: str) -> str:
        return f"{self.name}/{name}"


def open_place(name: str | Path) -> Place:
    """Give the folder of a name or an address; it need not be there yet."""
    plain = drop_scheme(str(name))
    return RemotePlace(plain) if is_address(plain) else Folder(Path(plain))


def open_files(address: str) -> tuple[Any, str]:
    """Give fsspec's file system for an address, and the path in it."""
    protocol = address.partition("://")[0]
    try:
        import fsspec
    except ImportError:
        raise PackageMissing("fsspec", "remote") from None
    try:
        # What others have put there since must be seen.
        files, path = fsspec.core.url_to_fs(address, use_listings_cache=False)
    except ImportError:
        raise _name_missing(protocol) from None
    except ValueError as error:
        raise InputError(f"{address}: no address that can be read ({error})", "check it") from None
    return files, str(path).rstrip("/")


def _name_missing(protocol: str) -> UserError:
    """Say which package an address wants; the extra has that of s3:// alone."""
    package = _PACKAGES.get(protocol, "")
    if package in ("", "s3fs"):
        return PackageMissing(package or f"the package for {protocol}", "remote")
    from fabula.core.installation import find_pip

    return UserError(f"{package} is not installed", f"run: {shlex.join([*find_pip(), package])}")


def list_matches(pattern: str) -> list[str]:
    """Give the files that a pattern stands for, in the order of their names."""
    pattern = drop_scheme(pattern)
    if is_address(pattern):
        files, path = open_files(pattern)
        found = try_again(lambda: files.glob(path), pattern)
        return [files.unstrip_protocol(str(name)) for name in sorted(found)]
    # A pattern of the shell may begin anywhere, which a Path's own glob does not know.
    names = glob.glob(pattern, recursive=True)  # noqa: PTH207
    return sorted(name for name in names if Path(name).is_file())


def stamp_file(name: str) -> tuple[int, str]:
    """Give the size of a file and what changes when it is written again: its ETag or time."""
    if not is_address(name):
        try:
            known = Path(name).stat()
        except OSError as error:
            raise InputError(f"{name} cannot be read ({error.strerror})", "check it") from None
        return known.st_size, str(known.st_mtime_ns)
    files, path = open_files(name)
    try:
        info = try_again(lambda: files.info(path), name, may_lack=True)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file", "check the address") from None
    for key in ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "mtime", "created"):
        if info.get(key):
            return int(info["size"]), str(info[key]).strip('"')
    return int(info["size"]), ""


def read_range(name: str, start: int, stop: int) -> bytes:
    """Give bytes of a file, from `start` to before `stop` or its end."""
    if not is_address(name):
        with Path(name).open("rb") as file:
            file.seek(start)
            return file.read(stop - start)
    files, path = open_files(name)
    return try_again(lambda: bytes(files.cat_file(path, start=start, end=stop)), name)


class RangeFile(io.RawIOBase):
    """A file, here or at an address, that is read where one wants; every read is tried again."""

    def __init__(self, name: str) -> None:
        self._name, (self._size, _), self._at = name, stamp_file(name), 0

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """It can be read anywhere."""
        return True

    def tell(self) -> int:
        """Say where the next byte is read."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go somewhere."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Give so many bytes, fewer at the end."""
        stop = self._size if size is None or size < 0 else min(self._at + size, self._size)
        if stop <= self._at:
            return b""
        data = read_range(self._name, self._at, stop)
        self._at += len(data)
        return data


@contextmanager
def fetch_file(name: str) -> Iterator[Path]:
    """Give a file as one of this machine: itself, or a copy that goes afterwards."""
    if not is_address(name):
        yield Path(name)
        return
    files, path = open_files(name)
    folder = Path(tempfile.mkdtemp(prefix="fabula-"))
    try:
        copy = folder / path.rsplit("/", 1)[-1]
        try_again(lambda: files.get_file(path, str(copy)), name)
        yield copy
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def try_again(act: Callable[[], T], what: str, *, may_lack: bool = False) -> T:
    """Do something with a store; what may pass (throttling, a cut line) is tried again.

    What does not pass is an error that names the file, and what the store said; with `may_lack`,
    that a file is not there is left to who asked.
    """
    wait_s = _FIRST_WAIT_S
    for left in reversed(range(_TRIES)):
        try:
            return act()
        except _FINAL as error:
            if isinstance(error, UserError) or (may_lack and isinstance(error, FileNotFoundError)):
                raise
            raise _refuse(what, error) from error
        # Stores raise what their package, or the network's, has: there is no common name for it.
        except Exception as error:
            if not left:
                raise _refuse(what, error) from error
            time.sleep(wait_s)
            wait_s *= 2
    raise AssertionError("the last try returns or raises")


def _refuse(what: str, error: BaseException) -> UserError:
    reason = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, FileNotFoundError):
        return InputError(f"{what} is not there ({reason[:200]})", "check the address")
    remedy = "check the address and the credentials; what is done is kept, the same command goes on"
    return UserError(f"{what}: the store does not answer as it should ({reason[:200]})", remedy)
