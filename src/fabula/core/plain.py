"""The one reader of typed TOML and JSON (plain values in, a frozen dataclass out) and of tensors.

Every field is checked against its annotation: numbers, words, booleans, `Literal`, `X | None`,
tuples, mappings and dataclasses inside dataclasses. What will not do is named by its path, and of a
name that is not known the nearest one is given.
"""

from __future__ import annotations

import importlib
import json
import math
import tomllib
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from fabula.core.errors import InputError, PackageMissing, SettingError, UserError, closest
from fabula.core.files import read_bounded

T = TypeVar("T")
_LONGEST_REASON = 200
_WORDS = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}


def from_plain(
    kind: type[T],
    value: Any,
    where: str,
    *,
    error: type[UserError] = SettingError,
    remedy: str = "mend it",
) -> T:
    """Make a dataclass of plain values; `where` names the file or thing in the error."""
    try:
        made: T = _read(kind, value, "")
    except _RefusedValue as refused:
        raise error(f"{where}: {refused.problem}", refused.remedy or remedy) from None
    return made


def read_toml(path: Path, *, error: type[UserError] = InputError) -> dict[str, Any]:
    """Read the plain values of a TOML file."""
    try:
        return tomllib.loads(read_bounded(path).decode("utf-8"))
    except OSError as failed:
        raise error(f"{path} cannot be read ({failed.strerror})", "check the path") from None
    except (ValueError, RecursionError) as failed:
        raise error(f"{path} is no TOML ({failed})", "mend it") from None


def read_json(path: Path, *, error: type[UserError] = InputError, remedy: str = "") -> Any:
    """Read the plain value of a JSON file."""
    try:
        return json.loads(read_bounded(path).decode("utf-8"))
    except OSError as failed:
        problem = f"{path} cannot be read ({failed.strerror})"
        raise error(problem, remedy or "check the path") from None
    except (ValueError, RecursionError) as failed:
        raise error(f"{path} is no JSON ({failed})", remedy or "mend it") from None


def read_tensors(path: Path, kind: Literal["torch", "numpy"] = "torch", *, remedy: str) -> Any:
    """Read the tensors of a safetensors file by their names; a number that is none is refused."""
    try:
        safetensors = importlib.import_module("safetensors")
        load_file = importlib.import_module(f"safetensors.{kind}").load_file
    except ImportError:
        raise PackageMissing("safetensors", "models") from None
    try:
        # The file itself is asked first: a folder of that name is no error of safetensors.
        path.open("rb").close()
        tensors = load_file(path)
    except OSError as failed:
        raise InputError(f"{path} cannot be read ({failed.strerror or failed})", remedy) from None
    except (
        safetensors.SafetensorError,
        ValueError,
        TypeError,
        LookupError,
        RuntimeError,
    ) as failed:
        reason = " ".join(str(failed).split())[:_LONGEST_REASON] or type(failed).__name__
        raise InputError(f"{path} is no whole file of weights ({reason})", remedy) from None
    for name, tensor in tensors.items():
        if not _is_finite(tensor):
            raise InputError(f"{path}: {name} holds what is no number", remedy)
    return tensors


def _is_finite(tensor: Any) -> bool:
    """Whether all numbers are finite: their sum is, or the smallest and the largest are."""
    kind = str(tensor.dtype)
    if "complex" in kind or "float8" in kind:
        return False  # nothing that we read is written so
    if "float" not in kind or 0 in tensor.shape:
        return True
    # torch adds up ten times as fast as it compares; a sum in 16 bits may be too large for them.
    is_sure = kind.startswith("torch.") and math.isfinite(tensor.sum())
    return is_sure or all(map(math.isfinite, (tensor.min(), tensor.max())))


class _RefusedValue(Exception):
    """A value that will not do, before it is known which file it comes from."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


def _read(kind: Any, value: Any, at: str) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, types.UnionType):
        inner = next(part for part in args if part is not type(None))
        return None if value is None else _read(inner, value, at)
    if origin is Literal:
        choices = ", ".join(repr(choice) for choice in args)
        return value if value in args else _refuse(at, f"one of {choices}", value)
    if origin is tuple:
        parts = value if isinstance(value, list | tuple) else _refuse(at, "a list", value)
        return tuple(_read(args[0], part, f"{at}[{i}]") for i, part in enumerate(parts))
    if origin is Mapping:
        table = value if isinstance(value, Mapping) else _refuse(at, "an object", value)
        return {name: _read(args[1], part, _below(at, name)) for name, part in table.items()}
    return _read_fields(kind, value, at) if is_dataclass(kind) else _read_scalar(kind, value, at)


def _read_fields(kind: Any, value: Any, at: str) -> Any:
    given = value if isinstance(value, Mapping) else _refuse(at, "an object", value)
    hints, known = get_type_hints(kind), {field.name: field for field in fields(kind)}
    for name in given:
        if name not in known:
            raise _RefusedValue(
                f"{_below(at, name)} is no field that is known", closest(name, known)
            )
    for name, field in known.items():
        optional = field.default is not MISSING or field.default_factory is not MISSING
        if name not in given and not optional:
            raise _RefusedValue(f"{_below(at, name)} is missing")
    parts = {name: _read(hints[name], part, _below(at, name)) for name, part in given.items()}
    try:
        return kind(**parts)
    except SettingError as refused:  # what a dataclass says of itself when it is made
        place = f"{at}: " if at else ""
        raise _RefusedValue(f"{place}{refused.problem}", refused.remedy) from None


def _read_scalar(kind: Any, value: Any, at: str) -> Any:
    try:
        is_number = type(value) in (int, float) and math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        is_number = False
    if not (is_number if kind is float else type(value) is kind):
        _refuse(at, _WORDS[kind], value)
    return float(value) if kind is float else value


def _refuse(at: str, wanted: str, value: Any) -> Any:
    raise _RefusedValue(f"{at or 'the whole'} must be {wanted}, not {str(value)[:40]!r}")


def _below(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name
