"""Plain values of a JSON file as data-classes: each field is checked against its annotation."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_WORDS = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


def read_plain(kind: type[T], value: Any) -> T:
    """Make a data-class of plain values; a ValueError names the field that will not do."""
    made: T = _read(kind, value, "")
    return made


def _read(kind: Any, value: Any, at: str) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, types.UnionType):
        inner = next(one for one in args if one is not type(None))
        return None if value is None else _read(inner, value, at)
    if origin is Literal:
        choices = ", ".join(repr(one) for one in args)
        return value if value in args else _refuse(at, f"one of {choices}", value)
    if origin is tuple:
        some = value if isinstance(value, list) else _refuse(at, "a list", value)
        return tuple(_read(args[0], one, f"{at}[{number}]") for number, one in enumerate(some))
    if origin is Mapping:
        pairs = value if isinstance(value, dict) else _refuse(at, "an object", value)
        return {name: _read(args[1], one, _below(at, name)) for name, one in pairs.items()}
    return _read_fields(kind, value, at) if is_dataclass(kind) else _read_one(kind, value, at)


def _read_fields(kind: Any, value: Any, at: str) -> Any:
    given = value if isinstance(value, dict) else _refuse(at, "an object", value)
    hints, known = get_type_hints(kind), {one.name: one for one in fields(kind)}
    if unknown := sorted(given.keys() - known.keys()):
        raise ValueError(f"{_below(at, unknown[0])} is no field that is known")
    for name, one in known.items():
        optional = one.default is not MISSING or one.default_factory is not MISSING
        if name not in given and not optional:
            raise ValueError(f"{_below(at, name)} is missing")
    return kind(**{name: _read(hints[name], one, _below(at, name)) for name, one in given.items()})


def _read_one(kind: Any, value: Any, at: str) -> Any:
    is_number = type(value) in (int, float) and math.isfinite(value)
    fits = is_number if kind is float else type(value) is kind
    if not fits:
        _refuse(at, _WORDS[kind], value)
    return float(value) if kind is float else value


def _refuse(at: str, wanted: str, value: Any) -> Any:
    raise ValueError(f"{at or 'the whole'} must be {wanted}, not {str(value)[:40]!r}")


def _below(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name
