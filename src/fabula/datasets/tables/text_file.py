"""Text of a file, read with care: which line is too long, which is no text in its encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fabula.core.errors import InputError

MOST_LINE_BYTES = 64 * 1024 * 1024
MOST_FILE_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class TextFile:
    """A file of text, gzipped or not; `label` is what messages call it."""

    path: Path
    label: str
    encoding: str = "utf-8"

    def lines(self) -> Iterator[tuple[int, str]]:
        """Go through the lines with their numbers, line ends kept."""
        with self._open() as file:
            yield from self._wide_lines(file) if self._is_wide() else self._byte_lines(file)

    def text(self) -> str:
        """Give the whole text, for formats that are not read line by line."""
        self._check_size(self.path.stat().st_size)
        with self._open() as file:
            raw = file.read(MOST_FILE_BYTES + 1)
        self._check_size(len(raw))
        return decode_text(raw, self.encoding, self.label)

    def _check_size(self, size: int) -> None:
        if size > MOST_FILE_BYTES:
            most = MOST_FILE_BYTES // 1024**2
            raise InputError(f"{self.label}: larger than {most} MiB", "write it as JSONL")

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        try:
            with self.path.open("rb") as plain:
                # A GzipFile reads like any file of bytes, though its type does not say so.
                zipped = self.path.suffix == ".gz"
                yield gzip.GzipFile(fileobj=plain) if zipped else plain  # type: ignore[misc]
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                f"{self.label}: not a whole gzip file ({error})", "fetch it again"
            ) from None

    def _is_wide(self) -> bool:
        """Whether a line end is more than one byte in this encoding."""
        try:
            b" ".decode(self.encoding, "replace")  # refuses what is a codec but no encoding of text
            return codecs.lookup(self.encoding).name.startswith(("utf-16", "utf-32"))
        except LookupError:
            raise _refuse_encoding(self.encoding) from None

    def _byte_lines(self, file: IO[bytes]) -> Iterator[tuple[int, str]]:
        number = 0
        while raw := file.readline(MOST_LINE_BYTES + 1):
            number += 1
            self._check_length(raw, number)
            yield number, decode_text(raw, self.encoding, self.label, number)

    def _wide_lines(self, file: IO[bytes]) -> Iterator[tuple[int, str]]:
        number = 0
        try:
            with io.TextIOWrapper(file, encoding=self.encoding, newline="\n") as text:
                while line := text.readline(MOST_LINE_BYTES + 1):
                    number += 1
                    self._check_length(line, number)
                    yield number, line
        except UnicodeError:
            raise _refuse_text(f"{self.label}, after line {number}", self.encoding) from None

    def _check_length(self, line: str | bytes, number: int) -> None:
        if len(line) > MOST_LINE_BYTES:
            raise InputError(
                f"{self.label}, line {number}: longer than {MOST_LINE_BYTES // 1024**2} MiB",
                "check that the file has one story a line and the format is right",
            )


def decode_text(raw: bytes, encoding: str, label: str, line: int = 1) -> str:
    """Decode bytes that begin at that line; the mark some editors put first is dropped."""
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        line += before.count(b"\n")
        byte = error.start - (before.rfind(b"\n") + 1) + 1
        raise _refuse_text(f"{label}, line {line}, byte {byte}", encoding) from None
    except LookupError:
        raise _refuse_encoding(encoding) from None
    return text.removeprefix("\ufeff") if line == 1 else text


def _refuse_text(place: str, encoding: str) -> InputError:
    remedy = "name the file's own with --encoding, such as latin-1 or utf-16"
    return InputError(f"{place}: not {encoding} text", remedy)


def _refuse_encoding(encoding: str) -> InputError:
    return InputError(f"no encoding is called {encoding!r}", "try utf-8 or latin-1")
