"""A file as it is read: what was said of its form, what was found out, and its text.

Where no encoding is named, the bytes tell it: a mark at the beginning, else UTF-8 where all of them
are, else cp1252 (what Excel writes in Western Europe) where that gives a text.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO

from fabula.core.errors import InputError, SettingError, UserError

MOST_LINE_BYTES = 64 * 1024 * 1024
MOST_FILE_BYTES = 256 * 1024 * 1024
# Prose shrinks to a third; what grows more than this is a bomb, or nothing but blank lines.
MOST_INFLATION = 200
_POSSIBLE_INFLATION = 1100
_FREE_BYTES = 32 * 1024 * 1024
_CHUNK = 1024 * 1024
_FEW_BYTES = 16
# Codecs of Python that are no encodings of files.
_NO_ENCODINGS = {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like that of UTF-16, so it stands before it
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DELIMITER_WORDS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|"}
_FEW = 3


@dataclass(frozen=True)
class FileForm:
    """What a user says of the form of a file; what is empty is found out by looking at it.

    With `skip_bad`, rows and files that cannot be used are left out; `say` is told of that, and
    of a form that is not the ordinary one.
    """

    encoding: str = ""
    delimiter: str = ""
    sheet: str = ""
    skip_bad: bool = False
    say: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if self.delimiter and (len(self.sign) != 1 or self.sign in '\r\n" '):
            words = ", ".join(word for word in _DELIMITER_WORDS if word.isalpha())
            raise SettingError(
                f"--delimiter {self.delimiter!r} will not do", f"give one character, or {words}"
            )

    @property
    def sign(self) -> str:
        """The delimiter as a character, where one is told."""
        return _DELIMITER_WORDS.get(self.delimiter.lower(), self.delimiter)


@dataclass
class Reading:
    """One file as it is read: how it is to be read, and what was found out of it."""

    label: str
    form: FileForm = field(default_factory=FileForm)
    notes: dict[str, None] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    delimiter: str = ""
    _said: set[str] = field(default_factory=set)

    def note(self, words: str) -> None:
        """Keep something that is not the ordinary way, to be said in one line."""
        self.notes[words] = None

    def refuse(self, where: str, error: UserError) -> None:
        """Leave a bad row or file out where that was asked for; else raise what is the matter."""
        if not self.form.skip_bad:
            remedy = f"{error.remedy}, or leave it out with --skip-bad"
            raise InputError(error.problem, remedy) from None
        self.left_out.setdefault(where, error.problem)

    def say_notes(self) -> None:
        """Say in one line what is not ordinary, if anything is; once."""
        if self.notes:
            self.say("notes", ", ".join(self.notes))

    def say_left_out(self) -> None:
        """Say in one line how many rows or files were left out, and which came first; once."""
        if self.left_out:
            first = islice(self.left_out.values(), _FEW)
            places = [shorten(problem.removeprefix(f"{self.label}, ")) for problem in first]
            more = ["…"] * (len(self.left_out) > _FEW)
            count = f"{len(self.left_out):,} left out by --skip-bad"
            self.say("left out", f"{count}: {'; '.join([*places, *more])}")

    def say(self, topic: str, words: str) -> None:
        """Say something of the file where somebody listens; once a topic."""
        if self.form.say and topic not in self._said:
            self._said.add(topic)
            self.form.say(f"{self.label}: {words}")


def name_path(path: str | Path) -> str:
    """Write a path in letters that can be printed; names of files are bytes, not always UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def shorten(text: str, most: int = 160) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True)
class TextFile:
    """A file of text, gzipped or not; `label` is what messages call it.

    An empty `encoding` is found out from the bytes.
    """

    path: Path
    label: str
    encoding: str = "utf-8"

    @cached_property
    def codec(self) -> str:
        """The encoding that was named, or the one that the bytes tell."""
        if self.encoding:
            return _check_encoding(self.encoding)
        with self.open() as file:
            return detect_encoding(file, self.label)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Go through the lines with their numbers, line ends kept."""
        # In UTF-16, EBCDIC and the like a line end is another byte, or more than one.
        wide = "\n".encode(self.codec) != b"\n"
        with self.open() as file:
            yield from self._wide_lines(file) if wide else self._byte_lines(file)

    def text(self) -> str:
        """Give the whole text, for formats that are not read line by line."""
        return decode_text(self.raw(), self.codec, self.label)

    def raw(self) -> bytes:
        """Give all bytes, unzipped, for formats that are no text."""
        self._check_size(self.path.stat().st_size)
        with self.open() as file:
            raw = file.read(MOST_FILE_BYTES + 1)
        self._check_size(len(raw))
        return raw

    def _check_size(self, size: int) -> None:
        if size > MOST_FILE_BYTES:
            most = MOST_FILE_BYTES // 1024**2
            raise InputError(f"{self.label}: larger than {most} MiB", "write it as JSONL")

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the file for its bytes, unzipped; a gzip file that is not whole is named."""
        try:
            with self.path.open("rb") as plain:
                zipped = self.path.suffix == ".gz"
                # A GzipFile reads like any file of bytes, though its type does not say so.
                yield _BoundedGzip(plain, self.label) if zipped else plain  # type: ignore[misc]
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                f"{self.label}: not a whole gzip file ({error})", "fetch it again"
            ) from None

    def _byte_lines(self, file: IO[bytes]) -> Iterator[tuple[int, str]]:
        number = 0
        while raw := file.readline(MOST_LINE_BYTES + 1):
            number += 1
            self._check_length(raw, number)
            yield number, decode_text(raw, self.codec, self.label, number)

    def _wide_lines(self, file: IO[bytes]) -> Iterator[tuple[int, str]]:
        number = 0
        try:
            with io.TextIOWrapper(file, encoding=self.codec, newline="\n") as text:
                while line := text.readline(MOST_LINE_BYTES + 1):
                    number += 1
                    self._check_length(line, number)
                    yield number, line.removeprefix("\ufeff") if number == 1 else line
        except UnicodeError:
            raise _refuse_text(f"{self.label}, after line {number}", self.codec) from None

    def _check_length(self, line: str | bytes, number: int) -> None:
        if len(line) > MOST_LINE_BYTES:
            raise InputError(
                f"{self.label}, line {number}: longer than {MOST_LINE_BYTES // 1024**2} MiB",
                "check that the file has one story a line and the format is right",
            )


@dataclass(frozen=True)
class HeldFile(TextFile):
    """A file that is held in memory: nothing of it lies on a disk."""

    data: bytes = b""

    def raw(self) -> bytes:
        """Give all bytes."""
        return self.data

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open it for its bytes."""
        yield io.BytesIO(self.data)


class _BoundedGzip(gzip.GzipFile):
    """A gzip file that is refused where a few bytes become very many."""

    def __init__(self, plain: IO[bytes], label: str) -> None:
        super().__init__(fileobj=plain)
        self._plain = plain
        self._label = label
        # The last bytes of a gzip file say how large it is. Those that say more than can be belong
        # to a file that is cut, and those that lie are found out below.
        size = plain.seek(0, os.SEEK_END)
        plain.seek(max(0, size - 4))
        claimed = int.from_bytes(plain.read(4), "little")
        plain.seek(0)
        if claimed < _POSSIBLE_INFLATION * size:
            self._check(b"", claimed, size)

    def read(self, size: int | None = -1) -> bytes:
        return self._check(super().read(size), self.tell(), self._plain.tell())

    def read1(self, size: int = -1) -> bytes:
        return self._check(super().read1(size), self.tell(), self._plain.tell())

    def readline(self, size: int | None = -1) -> bytes:
        return self._check(super().readline(size), self.tell(), self._plain.tell())

    def _check(self, data: bytes, size: int, zipped_size: int) -> bytes:
        if size > _FREE_BYTES and size > MOST_INFLATION * zipped_size:
            raise InputError(
                f"{self._label}: more than {MOST_INFLATION} times as large unzipped, "
                "which no text is",
                "unzip it and look what it holds",
            )
        return data


def decode_text(raw: bytes, encoding: str, label: str, line: int = 1) -> str:
    """Decode bytes that begin at that line; the mark some editors put first is dropped."""
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        place = _name_place(raw[: error.start], line)
        raise _refuse_text(f"{label}, {place}", encoding) from None
    except UnicodeError:
        raise _refuse_text(f"{label}, line {line}", encoding) from None
    except LookupError:
        raise _refuse_encoding(encoding) from None
    return text.removeprefix("\ufeff") if line == 1 else text


def _name_place(before: bytes, line: int = 1) -> str:
    byte = len(before) - (before.rfind(b"\n") + 1) + 1
    line += before.count(b"\n")
    return f"line {line}, byte {byte}"


def _refuse_text(place: str, encoding: str) -> InputError:
    remedy = "write it as UTF-8, or name its own with --encoding, such as latin-1 or utf-16"
    return InputError(f"{place}: not {encoding} text", remedy)


def _check_encoding(name: str) -> str:
    """Give the name of an encoding back if texts can be written in it."""
    try:
        known = codecs.lookup(name).name
        " ".encode(name)  # refuses what is a codec but no encoding of text
    except (LookupError, ValueError):
        raise _refuse_encoding(name) from None
    if known.replace("_", "-") in _NO_ENCODINGS:
        raise _refuse_encoding(name)
    return name


def _refuse_encoding(encoding: str) -> InputError:
    return InputError(f"no encoding is called {encoding!r}", "try utf-8, cp1252 or utf-16")


def detect_encoding(file: IO[bytes], label: str) -> str:
    """Tell the encoding of a file by all its bytes; one that cannot be told is an error."""
    head = file.read(_CHUNK)
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if wide := _detect_wide(head[:4096]):
        return wide
    decoder = codecs.getincrementaldecoder("utf-8")()
    chunk, size, pending, unbroken = head, 0, b"", 0
    # A line that is too long is refused when it is read; what follows it need not be known.
    while chunk and unbroken <= MOST_LINE_BYTES:
        unbroken = 0 if b"\n" in chunk else unbroken + len(chunk)
        # Most files are ASCII, which need not be decoded to be known as UTF-8.
        if pending or not chunk.isascii():
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                bad = size - len(pending) + error.start
                return _judge_western(file, chunk, label, bad)
            pending = decoder.getstate()[0]
        size += len(chunk)
        chunk = file.read(_CHUNK)
    if pending:  # the file ends within a letter
        return _judge_western(file, pending, label, size - len(pending))
    return "utf-8"


def _detect_wide(head: bytes) -> str:
    """Tell UTF-16 without a mark: every other byte of Western text is zero."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    if len(head) < _FEW_BYTES or even + odd < 0.3 * len(head):
        return ""
    return "utf-16-le" if odd > 9 * even else "utf-16-be" if even > 9 * odd else ""


_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_STRAY = re.compile(rb"[\x80-\xff]")
# Bytes that cp1252 does not know, and control characters that no text holds.
_NEVER_WESTERN = re.compile(rb"[\x81\x8d\x8f\x90\x9d\x00-\x08\x0e-\x19\x1c-\x1f\x7f]")
_HIGH_LETTER, _LOW_LETTER = re.compile(rb"[\xc0-\xff]"), re.compile(rb"[A-Za-z]")


def _judge_western(file: IO[bytes], chunk: bytes, label: str, bad: int) -> str:
    """Take what is not UTF-8 from that byte on for cp1252, unless another alphabet is likelier."""
    file.seek(0)
    before = file.read(bad) if bad < MOST_FILE_BYTES else b""
    place = _name_place(before) if before or not bad else f"byte {bad + 1:,}"
    sample = before[:_CHUNK] + chunk
    remedy = "write it as UTF-8, or name its own with --encoding, such as cp1251 or shift_jis"
    if len(_SEQUENCE.findall(sample)) > len(_STRAY.findall(_SEQUENCE.sub(b"", sample))):
        raise InputError(
            f"{label}, {place}: not UTF-8 text, though the rest of the file is",
            "mend that line, or " + remedy,
        )
    high, low = len(_HIGH_LETTER.findall(sample)), len(_LOW_LETTER.findall(sample))
    if _NEVER_WESTERN.search(sample) or high > max(8, low):
        raise InputError(f"{label}, {place}: neither UTF-8 nor cp1252 text", remedy)
    return "cp1252"
