"""Pickles that hold nothing but lists, texts and numbers; all others are refused, unread.

A pickle is a program, and loading somebody else's runs it. Here its steps are looked through
first, and only those that make plain values are let through: there is none that could name a
class or call a function.
"""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Iterator, Sequence
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
    "GET BINGET LONG_BINGET PUT BINPUT LONG_BINPUT MEMOIZE".split()
)
_PUTS = ("PUT", "BINPUT", "LONG_BINPUT")
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
    except _BROKEN as error:
        raise InputError(
            f"{path.name}: not a whole pickle ({error or type(error).__name__})", "fetch it again"
        ) from None
    _check_depth(value, path.name)
    return value


class PlainUnpickler(pickle.Unpickler):
    """An unpickler that knows no class at all, should one ever be asked for."""

    def __init__(self, raw: bytes, label: str) -> None:
        super().__init__(io.BytesIO(raw), encoding="utf-8")
        self.label = label

    def find_class(self, module: str, name: str) -> Any:
        """Refuse every class."""
        raise _refuse(f"{module}.{name}", self.label)

    def persistent_load(self, pid: Any) -> Any:
        """Refuse what lies outside the file."""
        raise _refuse("something outside the file", self.label)


def _check_steps(raw: bytes, label: str) -> None:
    texts = ["", ""]
    for step, value, _ in pickletools.genops(raw):
        if step.name not in _PLAIN_STEPS:
            raise _refuse(_name_step(step.name, value, texts), label)
        # Memory is set aside up to the place that is named, so it must be a likely one.
        if step.name in _PUTS and (value or 0) > len(raw):
            raise InputError(f"{label}: not a whole pickle", "fetch it again")
        if isinstance(value, str):
            texts = [texts[1], value]


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


def _check_depth(value: Any, label: str) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            inner
            for part in {id(part): part for part in level}.values()
            if isinstance(part, list | tuple)
            for inner in part
        ]
        if not level:
            return
    raise InputError(f"{label}: lists within lists, {MOST_DEPTH} deep and more", "fetch it again")
