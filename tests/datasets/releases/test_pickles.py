from __future__ import annotations

import os
import pickle
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
def test_a_number_of_numpy_is_refused_by_name(pickled: Any, protocol: int) -> None:
    with pytest.raises(InputError, match=r"asks for numpy\..*only lists, texts and numbers"):
        read_plain_pickle(pickled(pickle.dumps([("a story", np.float64(0.5))], protocol)))


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
