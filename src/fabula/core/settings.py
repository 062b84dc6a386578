"""Settings of a metric: its dataclass fields, checked against their annotations, and its spec."""

from __future__ import annotations

import ast
import sys
import types
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from fabula.core.errors import SettingError, SpecError, closest

_LONGEST = 80


@dataclass(frozen=True)
class AtLeast:
    """A lower bound on a number, for `Annotated`."""

    low: float

    def holds(self, value: float) -> bool:
        """Whether the value may be had."""
        return value >= self.low

    def __str__(self) -> str:
        return f"at least {self.low:g}"


@dataclass(frozen=True)
class Between:
    """Both bounds on a number, for `Annotated`."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether the value may be had."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"from {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Means:
    """Words that say what a value means, for `Annotated`."""

    words: str

    def holds(self, value: object) -> bool:
        """Whether the value may be had: all may."""
        return True

    def __str__(self) -> str:
        return f"({self.words})"


def setting_fields(cls: type) -> list[Field[Any]]:
    """Fields in the order of a spec: positional ones first, then keyword-only ones."""
    return sorted(fields(cls), key=lambda field: bool(field.kw_only))


def changed_settings(settings: Any) -> dict[str, Any]:
    """Settings that differ from their defaults, in the order of a spec."""
    return {
        field.name: getattr(settings, field.name)
        for field in setting_fields(type(settings))
        if field.default is MISSING or getattr(settings, field.name) != field.default
    }


def check_settings(settings: Any, owner: str) -> None:
    """Check every field of a frozen dataclass; a whole number becomes a float where one is due."""
    for name, kind in kinds_of(type(settings)).items():
        value = getattr(settings, name)
        if not _fits(kind, value):
            raise SettingError(f"{owner}: {name}={value!r} will not do", f"give {describe(kind)}")
        if isinstance(value, int) and not isinstance(value, bool) and _plain(kind) is float:
            object.__setattr__(settings, name, float(value))


def named_settings(
    cls: type, owner: str, args: tuple[Any, ...], named: dict[str, Any]
) -> dict[str, Any]:
    """Join positional and named settings, refusing unknown and doubled ones."""
    positional = [field.name for field in setting_fields(cls) if not field.kw_only]
    if len(args) > len(positional):
        raise SettingError(
            f"{owner} takes {len(positional)} unnamed settings, not {len(args)}",
            f"name them: {', '.join(positional) or 'none'}",
        )
    given = dict(zip(positional, args, strict=False))
    for name in named:
        if name in given:
            raise SettingError(f"{owner}: {name} is given twice")
        if name not in _kinds(cls):
            raise SettingError(f"{owner} has no setting {name!r}", closest(name, _kinds(cls)))
    return given | named


def describe(kind: Any) -> str:
    """Say in words what a setting may be."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return f"{describe(args[0])} {' and '.join(str(bound) for bound in args[1:])}"
    if origin is Literal:
        return "one of " + ", ".join(repr(choice) for choice in args)
    if origin in (Union, types.UnionType):
        return " or ".join(describe(part) for part in args)
    words = {int: "a whole number", float: "a number", bool: "True or False", str: "a string"}
    return "None" if kind is type(None) else words[kind]


def kinds_of(cls: type) -> dict[str, Any]:
    """Annotation of every setting, by name."""
    return dict(_kinds(cls))


@cache
def _kinds(cls: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: hints[field.name] for field in setting_fields(cls)}


def _plain(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _fits(kind: Any, value: Any) -> bool:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _fits(args[0], value) and all(bound.holds(value) for bound in args[1:])
    if origin is Literal:
        return any(value == choice and type(value) is type(choice) for choice in args)
    if origin in (Union, types.UnionType):
        return any(_fits(part, value) for part in args)
    if kind is float:
        return type(value) in (int, float) and abs(value) <= sys.float_info.max
    return type(value) is kind


def format_spec(name: str, settings: dict[str, Any]) -> str:
    """Spell a name with its settings: `rouge(n=2)`, or just `rouge`."""
    inside = ", ".join(f"{key}={_literal(value)}" for key, value in settings.items())
    return f"{name}({inside})" if inside else name


def parse_spec(text: str) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Read a spec into its name, unnamed and named settings."""
    if not isinstance(text, str):
        raise SpecError(f"{text!r} is no spec", "write one as a string, such as 'rouge(n=2)'")
    node = _expression(text)
    if isinstance(node, ast.Name):
        return node.id, (), {}
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise SpecError(f"cannot read {_cut(text)}", "write a name or name(setting=value)")
    args = tuple(_value(arg, text) for arg in node.args)
    named: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise SpecError(f"cannot read {_cut(text)}", "** is not allowed in a spec")
        if keyword.arg in named:
            raise SpecError(f"{keyword.arg} is given twice in {_cut(text)}", "give it once")
        named[keyword.arg] = _value(keyword.value, text)
    return node.func.id, args, named


def split_specs(text: str) -> list[str]:
    """Part `bleu,rouge(n=2, stem=False)` at the commas between specs, not within them."""
    parts, depth, quote, start, escaped = [], 0, "", 0, False
    for position, char in enumerate(text):
        if escaped:
            escaped = False
        elif quote:
            escaped = char == "\\"
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise SpecError(
            f"cannot read the spec {_cut(text)}", "write a name or name(setting=value)"
        ) from None


def _value(node: ast.expr, text: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise SpecError(
            f"cannot read {_cut(_source(node, text))} in {_cut(text)}",
            "values are numbers, True, False, None or strings in quotes",
        ) from None


def _source(node: ast.expr, text: str) -> str:
    """What a part of a one-line spec was written as; offsets count bytes."""
    return text.strip().encode()[node.col_offset : node.end_col_offset].decode(errors="replace")


def _cut(text: str) -> str:
    """Quote a text, or the beginning of a long one."""
    return repr(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")


def _literal(value: Any) -> str:
    """Spell a value; strings in single quotes, whatever they hold."""
    if not isinstance(value, str):
        return repr(value)
    inner = repr('"' + value)[2:-1]
    return f"'{inner}'"
