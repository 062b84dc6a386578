from __future__ import annotations

import math
import os
import pickle
import struct
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.datasets.releases import pickles
from fabula.datasets.releases.pickles import (
    PlainUnpickler,
    is_pickle,
    read_pickled_rows,
    read_plain_pickle,
)

ROWS = [["A prompt", "good", "poor", 1, 0.5], ("ü" * 300, "", None, -(10**30), True)]
protocols = pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))


@pytest.fixture
def pickled(tmp_path: Path) -> Any:
    def put(raw: bytes) -> Path:
        path = tmp_path / "rows.pkl"
        path.write_bytes(raw)
        return path

    return put


class Mine:
    """Makes a file when it is unpickled, if anybody lets it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch '{self.path}'",)


@protocols
def test_lists_texts_and_numbers_come_back_as_they_were(pickled: Any, protocol: int) -> None:
    assert read_plain_pickle(pickled(pickle.dumps(ROWS, protocol))) == ROWS


@protocols
def test_a_pickle_that_would_run_a_command_is_refused_and_does_not_run(
    pickled: Any, protocol: int, tmp_path: Path
) -> None:
    trace = tmp_path / "it ran"
    path = pickled(pickle.dumps([["a prompt", Mine(trace)]], protocol))
    with pytest.raises(InputError, match=r"asks for (posix|nt)\.system.*write it as JSONL"):
        read_plain_pickle(path)
    assert not trace.exists()


@pytest.mark.parametrize("trick", [b"cos\nsystem\n(S'true'\ntR.", b"(S'true'\nios\nsystem\n."])
def test_old_ways_to_call_something_are_refused_too(pickled: Any, trick: bytes) -> None:
    with pytest.raises(InputError, match=r"asks for os\.system"):
        read_plain_pickle(pickled(trick))


@protocols
@pytest.mark.parametrize("room", ["numpy._core.multiarray", "numpy.core.multiarray"])
def test_numbers_of_numpy_are_read_as_plain_ones(pickled: Any, protocol: int, room: str) -> None:
    kinds = ("f4", "f8", "i4", "i8", ">f8", ">i4")
    numbers = [np.dtype(kind).type(-3) for kind in kinds]
    # A story whose whole text is a part of the name, which the pickle then puts by.
    rows = [*([sys.intern("scalar"), sys.intern("numpy")],), *zip(kinds, numbers, strict=True)]
    raw = pickle.dumps([*rows, ("nan", np.float64("nan"), np.float64(0.1))], protocol)
    (short, long) = (f"numpy.{part}.multiarray".encode() for part in ("core", "_core"))
    if room.encode() == short:  # what numpy 1 wrote; a text's length stands before it
        raw = raw.replace(bytes([len(long)]) + long, bytes([len(short)]) + short)
        raw = unframe(raw.replace(b"c" + long, b"c" + short))
    assert room.encode() in raw
    *read, (_, nan, tenth) = read_plain_pickle(pickled(raw))
    assert read[0] == ["scalar", "numpy"]
    assert [(kind, value) for kind, value in read[1:]] == [(kind, -3) for kind in kinds]
    assert [type(value) for _, value in read[1:]] == [float, float, int, int, float, int]
    assert math.isnan(nan) and tenth == 0.1


def unframe(raw: bytes) -> bytes:
    """Take the frame out of a pickle, whose length a change has made wrong."""
    return raw[:2] + raw[11:] if raw[2:3] == b"\x95" else raw


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_number_of_numpy_is_read_in_its_byte_order(pickled: Any, order: str) -> None:
    raw = pickle.dumps([np.array([1.5], f"{order}f8").dtype, 0], 2)  # a dtype alone is no number
    with pytest.raises(InputError, match="a value that is NumberKind"):
        read_plain_pickle(pickled(raw))
    written = struct.pack(f"{order}d", 1.5)
    text = written.decode("latin1").encode()
    scalar = (
        b"\x80\x02cnumpy._core.multiarray\nscalar\ncnumpy\ndtype\nX\x02\x00\x00\x00f8\x89\x88\x87R(K\x03"
        b"X\x01\x00\x00\x00" + order.encode() + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"c_codecs\nencode\nX"
        + struct.pack("<I", len(text))
        + text
        + b"X\x06\x00\x00\x00latin1\x86R\x86R."
    )
    assert read_plain_pickle(pickled(scalar)) == pickle.loads(scalar) == 1.5


@protocols
@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (np.float16(1), r"numpy\.dtype\('f2'\)"),
        (np.bool_(True), r"numpy\.dtype\('b1'\)"),
        (np.complex128(1), r"numpy\.dtype\('c16'\)"),
        (np.str_("a"), r"numpy\.dtype\('U1'\)"),
        (np.array([1.0]), r"numpy\."),
        (np.datetime64("2020-03-01"), r"numpy\.dtype\('M8'\)"),
        (np.dtype("f8"), "a value that is NumberKind"),
        (np.dtype("O"), r"numpy\.dtype\('O8'\)"),
        (np.dtype([("a", "f8")]), r"(EMPTY_)?DICT"),
    ],
)
def test_whatever_else_is_numpys_is_refused_by_name(
    pickled: Any, protocol: int, value: Any, wanted: str
) -> None:
    with pytest.raises(InputError, match=rf"asks for {wanted}.*only lists, texts and numbers"):
        read_plain_pickle(pickled(pickle.dumps([("a story", value)], protocol)))


EVIL = {
    "_codecs.encode with another codec": b"c_codecs\nencode\n(X\x01\0\0\0aX\x05\0\0\0rot13tR.",
    "_codecs.encode of much": b"c_codecs\nencode\n(X\x09\0\0\0aaaaaaaaaX\x06\0\0\0latin1tR.",
    "another of that room": b"c_codecs\ndecode\n.",
    "another of numpy": b"cnumpy\nload\n(X\x01\0\0\0atR.",
    "a name with dots": b"\x80\x04\x8c\x05numpy\x8c\x0bdtype.typeds\x93.",
    "names put by, which are not those that stand last": (
        b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94000\x8c\x05numpy\x94\x8c\x05dtype\x940"
        b"h\x00h\x01\x93\x8c\x04true\x85R."
    ),
    "a place put by twice": (
        b"\x80\x04\x8c\x05numpyq\x00\x8c\x05dtypeq\x01\x8c\x05posixq\x00\x8c\x06systemq\x01"
        b"h\x00h\x01\x93\x8c\x04true\x85R."
    ),
    "a function of ours": b"cnumpy\ndtype\n.",
    "a number of ours called with a text": b"cnumpy.core.multiarray\nscalar\n(X\x01\0\0\0aK\x01tR.",
    "a function of ours built upon": b"cnumpy\ndtype\nNN\x86b.",
    "bytes": b"C\x01a.",
    "a number called": b"K\x01)R.",
    "too few bytes": (
        b"cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nX\x02\0\0\0f8\x89\x88\x87RC\x01a\x86R."
    ),
    "a dtype with fields": (
        b"cnumpy\ndtype\nX\x02\0\0\0f8\x89\x88\x87R"
        b"(K\x03X\x01\0\0\0<]NNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb."
    ),
    "an object's own state": b"cnumpy\ndtype\nX\x02\0\0\0f8\x89\x88\x87RNb.",
}


@pytest.mark.parametrize("name", EVIL)
def test_names_of_numpy_open_no_door(
    pickled: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[Any] = []
    monkeypatch.setattr(os, "system", called.append)
    monkeypatch.setattr(np, "load", lambda *given: called.append(given))
    with pytest.raises(InputError, match=r"asks for|not a whole pickle"):
        read_plain_pickle(pickled(EVIL[name]))
    assert not called


def test_the_unpickler_itself_gives_nothing_of_numpys() -> None:
    raw = pickle.dumps(np.float64(0.5), 4)
    value = PlainUnpickler(raw, "rows.pkl").load()
    assert type(value) is float and value == 0.5
    for module, name in (("numpy", "load"), ("numpy", "dtype.type"), ("builtins", "eval")):
        with pytest.raises(InputError, match=f"asks for {module}.{name}"):
            PlainUnpickler(raw, "rows.pkl").find_class(module, name)


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (pickle.dumps(Counter("ab")), r"collections\.Counter"),
        (pickle.dumps({"a": 1}), "EMPTY_DICT"),
        (pickle.dumps({1, 2}), "EMPTY_SET"),
        (b"Pwho\n.", "PERSID"),
        (b"\x82\x01.", "EXT1"),
    ],
)
def test_whatever_else_a_pickle_asks_for_is_named(pickled: Any, raw: bytes, wanted: str) -> None:
    with pytest.raises(InputError, match=f"asks for {wanted}"):
        read_plain_pickle(pickled(raw))


def test_even_without_the_look_beforehand_no_class_is_found() -> None:
    with pytest.raises(InputError, match=r"asks for (posix|nt)\.system"):
        PlainUnpickler(pickle.dumps(os.system), "rows.pkl").load()
    with pytest.raises(InputError, match="asks for something outside the file"):
        PlainUnpickler(b"Pwho\n.", "rows.pkl").load()


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_cut_anywhere_is_said_not_to_be_whole(pickled: Any, protocol: int) -> None:
    raw = pickle.dumps([["ü", 1, 0.5], ("", None)], protocol)
    for end in range(len(raw)):
        with pytest.raises(InputError, match="not a whole pickle"):
            read_plain_pickle(pickled(raw[:end]))


def test_bytes_that_are_no_pickle_are_said_not_to_be_one(pickled: Any) -> None:
    for raw in (b"", b"hello", b"a.", b"(l", b"h\x05.", b"\x80\x63.", b"S'\\xff'\n."):
        with pytest.raises(InputError, match=r"rows\.pkl"):
            read_plain_pickle(pickled(raw))


def test_a_place_far_beyond_the_file_is_refused_before_memory_is_set_aside(pickled: Any) -> None:
    with pytest.raises(InputError, match="not a whole pickle"):
        read_plain_pickle(pickled(b"]r\xff\xff\xff\x7f."))


@pytest.mark.parametrize(
    "deep", [b"]" * 100_000 + b"a" * 99_999 + b".", b")" + b"\x85" * 50 + b"."]
)
def test_lists_within_lists_without_end_are_refused(pickled: Any, deep: bytes) -> None:
    with pytest.raises(InputError, match="lists within lists"):
        read_plain_pickle(pickled(deep))


def test_a_list_that_holds_itself_is_refused(pickled: Any) -> None:
    rows: list[Any] = []
    rows.append(rows)
    with pytest.raises(InputError, match="lists within lists"):
        read_plain_pickle(pickled(pickle.dumps(rows)))


def test_a_pickle_that_is_too_large_is_not_opened(
    pickled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pickles, "MOST_PICKLE_BYTES", 10)
    with pytest.raises(InputError, match="larger than"):
        read_plain_pickle(pickled(pickle.dumps(ROWS)))


def test_rows_have_names_and_a_row_of_another_length_is_named(pickled: Any) -> None:
    path = pickled(pickle.dumps([["a", 1], ("b", 2)]))
    assert [row for _, row in read_pickled_rows(path, ("x", "y"))] == [
        {"x": "a", "y": 1},
        {"x": "b", "y": 2},
    ]
    with pytest.raises(InputError, match=r"rows.pkl, row 2: not 2 values \(x, y\)"):
        list(read_pickled_rows(pickled(pickle.dumps([["a", 1], ["b"]])), ("x", "y")))
    with pytest.raises(InputError, match="not a list of rows"):
        list(read_pickled_rows(pickled(pickle.dumps("text")), ("x", "y")))


def test_pickles_are_told_by_their_names() -> None:
    assert is_pickle(Path("a.pkl")) and is_pickle(Path("A.PICKLE"))
    assert not is_pickle(Path("a.jsonl"))
