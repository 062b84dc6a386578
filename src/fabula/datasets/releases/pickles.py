"""Pickles that hold nothing but lists, texts and numbers; all others are refused, unread.

A pickle is a program, and loading somebody else's runs it. Here its steps are looked through
first, and only those that make plain values are let through. Numbers of numpy ask for functions by
name: what stands under these few names here are functions of ours, which make a plain number of
eight bytes or fewer and do nothing else. No other name is known.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError
from fabula.datasets.tables.rows import Row

MOST_PICKLE_BYTES = 1024**3
MOST_DEPTH = 20

_PLAIN_STEPS = frozenset(
    "PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4 "
    "FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING UNICODE SHORT_BINUNICODE BINUNICODE "
    "BINUNICODE8 EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 "
    "GET BINGET LONG_BINGET PUT BINPUT LONG_BINPUT MEMOIZE "
    # Of numbers of numpy, whose names are looked at where they stand.
    "GLOBAL STACK_GLOBAL REDUCE BUILD BINBYTES SHORT_BINBYTES".split()
)
_NAMES = ("GLOBAL", "STACK_GLOBAL")
_GETS = ("GET", "BINGET", "LONG_BINGET")
_PUTS = ("PUT", "BINPUT", "LONG_BINPUT")
_PLAIN = frozenset([list, tuple, str, int, float, bool, type(None)])
# Of dtypes, as `struct` calls them; and all that numpy writes of such a one but its byte order.
_KINDS = {"f4": "f", "f8": "d", "i4": "i", "i8": "q"}
_ORDERS = ("<", ">")
_STATE = (3, None, None, None, -1, -1, 0)
_REFUSED = "load it where you trust it and write it as JSONL"
_BROKEN = (
    pickle.UnpicklingError, ArithmeticError, AttributeError, EOFError, LookupError, TypeError,
    ValueError,
)  # fmt: skip


def is_pickle(path: Path) -> bool:
    """Tell by its name whether a file is a pickle."""
    return path.suffix.lower() in (".pkl", ".pickle")


def read_pickled_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Go through a pickled list of rows, which are lists or tuples of so many values."""
    rows = read_plain_pickle(path)
    if not isinstance(rows, list):
        raise InputError(f"{path.name}: not a list of rows", "check that it is the right file")
    for number, row in enumerate(rows, 1):
        where = f"{path.name}, row {number}"
        if not isinstance(row, list | tuple) or len(row) != len(names):
            raise InputError(f"{where}: not {len(names)} values ({', '.join(names)})", "mend it")
        yield where, dict(zip(names, row, strict=True))


def read_plain_pickle(path: Path) -> Any:
    """Read a pickle of lists, tuples, texts and numbers; one that asks for more is refused."""
    if path.stat().st_size > MOST_PICKLE_BYTES:
        most = MOST_PICKLE_BYTES // 1024**2
        raise InputError(f"{path.name}: larger than {most} MiB", _REFUSED)
    raw = path.read_bytes()
    try:
        _check_steps(raw, path.name)
        value = PlainUnpickler(raw, path.name).load()
    except _Unwanted as error:
        raise _refuse(str(error), path.name) from None
    except _BROKEN as error:
        raise InputError(
            f"{path.name}: not a whole pickle ({error or type(error).__name__})", "fetch it again"
        ) from None
    _check_values(value, path.name)
    return value


class _Unwanted(Exception):
    """What a pickle asks for of numpy that is no number."""


class _NumberKind:
    """Stands for the dtype of a number: how its bytes are read."""

    def __init__(self, code: str) -> None:
        self.code, self.order = code, "<"

    def __setstate__(self, state: Any) -> None:
        """Take the byte order; whatever else may be said of a dtype is refused."""
        is_plain = isinstance(state, tuple) and state[:1] + state[2:] == _STATE
        if not is_plain or state[1] not in _ORDERS:
            raise _Unwanted("a dtype of numpy that is no plain number")
        self.order = state[1]


def _make_kind(name: Any, *flags: Any) -> _NumberKind:
    """Stand for numpy.dtype."""
    if not isinstance(name, str) or name not in _KINDS or flags != (False, True):
        raise _Unwanted(f"numpy.dtype({str(name)[:20]!r})")
    return _NumberKind(_KINDS[name])


def _make_number(kind: Any, raw: Any) -> float | int:
    """Stand for numpy's scalar: make a plain number of a few bytes."""
    if not isinstance(kind, _NumberKind) or not isinstance(raw, bytes):
        raise _Unwanted("a scalar of numpy that is no number")
    form = kind.order + kind.code
    if len(raw) != struct.calcsize(form):
        raise _Unwanted(f"a scalar of numpy of {len(raw)} bytes")
    number: float | int = struct.unpack(form, raw)[0]
    return number


def _make_bytes(text: Any, encoding: Any) -> bytes:
    """Stand for _codecs.encode, by which old protocols write the bytes of a number."""
    if not isinstance(text, str) or len(text) > 8 or encoding != "latin1":
        raise _Unwanted("_codecs.encode")
    return text.encode("latin1")


_STAND_INS: dict[str, Callable[..., Any]] = {
    "numpy.dtype": _make_kind,
    "numpy.core.multiarray.scalar": _make_number,
    "numpy._core.multiarray.scalar": _make_number,
    "_codecs.encode": _make_bytes,
}
_NAME_PARTS = frozenset(part for name in _STAND_INS for part in name.rsplit(".", 1))


class PlainUnpickler(pickle.Unpickler):
    """An unpickler that knows no class at all: for the names of a number it has stand-ins."""

    def __init__(self, raw: bytes, label: str) -> None:
        super().__init__(io.BytesIO(raw), encoding="utf-8")
        self.label = label

    def find_class(self, module: str, name: str) -> Any:
        """Give what stands for a name here, and refuse all others."""
        if (stand_in := _STAND_INS.get(f"{module}.{name}")) is None:
            raise _refuse(f"{module}.{name}", self.label)
        return stand_in

    def persistent_load(self, pid: Any) -> Any:
        """Refuse what lies outside the file."""
        raise _refuse("something outside the file", self.label)


def _check_steps(raw: bytes, label: str) -> None:
    texts: list[str] = ["", ""]
    # A name may be two texts that were put by before, each of them even a text of a story.
    put_by: dict[int, str] = {}
    count = 0
    last: Any = None
    value: Any
    for step, value, _ in pickletools.genops(raw):
        is_name = step.name in _NAMES
        if is_name or step.name not in _PLAIN_STEPS:
            wanted = _name_step(step.name, value, texts)
            if not is_name or wanted not in _STAND_INS:
                raise _refuse(wanted, label)
        # Memory is set aside up to the place that is named, so it must be a likely one.
        if step.name in _PUTS and (value or 0) > len(raw):
            raise InputError(f"{label}: not a whole pickle", "fetch it again")
        if step.name in _PUTS or step.name == "MEMOIZE":
            if last in _NAME_PARTS:
                put_by[count if step.name == "MEMOIZE" else value] = str(last)
            count += 1
            continue
        last = put_by.get(value) if step.name in _GETS else value
        if isinstance(last, str):
            texts = [texts[1], last]


def _name_step(step: str, value: Any, texts: list[str]) -> str:
    """Name what a step asks for: a class by its name, or else the kind of step."""
    if step == "STACK_GLOBAL":
        return ".".join(texts)
    return str(value).replace(" ", ".") if step in ("GLOBAL", "INST") else step


def _refuse(wanted: str, label: str) -> InputError:
    return InputError(
        f"{label}: the pickle asks for {wanted}, and only lists, texts and numbers are read",
        _REFUSED,
    )


def _check_values(value: Any, label: str) -> None:
    """Refuse lists within lists without end, and what is neither list nor text nor number."""
    level = [value]
    for _ in range(MOST_DEPTH):
        unlike = next((part for part in level if type(part) not in _PLAIN), None)
        if unlike is not None:
            raise _refuse(f"a value that is {type(unlike).__name__.strip('_')}", label)
        level = [
            inner
            for part in {id(part): part for part in level}.values()
            if isinstance(part, list | tuple)
            for inner in part
        ]
        if not level:
            return
    raise InputError(f"{label}: lists within lists, {MOST_DEPTH} deep and more", "fetch it again")
