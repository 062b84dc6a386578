from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.datasets.tables import text_file
from fabula.datasets.tables.text_file import TextFile

Write = Callable[[str, "str | bytes"], Path]


def lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    return TextFile(path, str(path), encoding).lines()


def test_lines_come_with_their_numbers_and_ends(write: Write) -> None:
    path = write("a.txt", b"one\r\ntwo\n\nlast")
    assert list(lines(path, "utf-8")) == [(1, "one\r\n"), (2, "two\n"), (3, "\n"), (4, "last")]


def test_a_line_ends_only_at_a_newline(write: Write) -> None:
    # Unicode knows other line ends; a story may hold them.
    text = "a\u2028b\x0bc\x85d\rstill the same\n"
    assert list(lines(write("a.txt", text), "utf-8")) == [(1, text)]


def test_an_empty_file_has_no_lines(write: Write) -> None:
    assert list(lines(write("a.txt", b""), "utf-8")) == []


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8", "utf8", "utf_8", "utf-8-sig"])
def test_a_byte_order_mark_is_no_text(write: Write, encoding: str) -> None:
    path = write("a.txt", b"\xef\xbb\xbfone\ntwo\n")
    assert list(lines(path, encoding)) == [(1, "one\n"), (2, "two\n")]


@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "shift_jis"]
)
def test_other_encodings_are_read_when_named(write: Write, encoding: str) -> None:
    # The letter 'Ċ' is 0x010A: a byte of it looks like a newline in UTF-16.
    text = "eins\nzwei Ċ\n" if encoding.startswith("utf") else "eins\nzwei\n"
    path = write("a.txt", text.encode(encoding))
    assert [line for _, line in lines(path, encoding)] == text.splitlines(keepends=True)


def test_a_wrong_encoding_names_the_line_the_byte_and_the_remedy(write: Write) -> None:
    path = write("a.txt", b"fine\nna\xefve\n")
    with pytest.raises(InputError, match=r"a.txt, line 2, byte 3: not utf-8 text; .*--encoding"):
        list(lines(path, "utf-8"))


@pytest.mark.parametrize(
    "encoding",
    ["no-such", "base64", "rot13", "idna", "undefined", "punycode", "unicode_escape", "\0"],
)
def test_an_encoding_nobody_knows_is_named(write: Write, encoding: str) -> None:
    with pytest.raises(InputError, match="no encoding is called"):
        list(lines(write("a.txt", b"text\n"), encoding))


def test_a_line_that_is_too_long_is_named_and_not_read(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "MOST_LINE_BYTES", 1024**2)
    assert len(list(lines(write("a.txt", b"x" * (1024**2 - 1) + b"\n"), "utf-8"))) == 1
    path = write("b.txt", b"short\n" + b"x" * (1024**2 + 1))
    with pytest.raises(InputError, match=r"b\.txt, line 2: longer than 1 MiB"):
        list(lines(path, "utf-8"))


def test_gzipped_lines_are_read(write: Write) -> None:
    path = write("a.txt.gz", gzip.compress(b"one\ntwo\n"))
    assert list(lines(path, "utf-8")) == [(1, "one\n"), (2, "two\n")]


def test_several_gzip_members_are_one_file(write: Write) -> None:
    path = write("a.txt.gz", gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    assert list(lines(path, "utf-8")) == [(1, "one\n"), (2, "two\n")]


WHOLE = gzip.compress(bytes(range(256)) * 64)


@pytest.mark.parametrize(
    "raw",
    [
        WHOLE[:-12],
        WHOLE[:5],
        b"no gzip at all\n",
        WHOLE[:-8] + b"\0" * 8,
        WHOLE[:40] + b"\xff" * 40,
    ],
    ids=["cut", "cut in the head", "plain", "checksum", "scribbled over"],
)
def test_a_gzip_file_that_is_not_whole_is_named(write: Write, raw: bytes) -> None:
    with pytest.raises(InputError, match=r"a\.gz: not a whole gzip file"):
        list(lines(write("a.gz", raw), "latin-1"))
