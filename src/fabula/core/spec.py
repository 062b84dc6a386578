"""Specs: how a metric with its settings is spelled, read as data and never run as code."""

from __future__ import annotations

import ast
from typing import Any

from fabula.core.errors import SpecError

_LONGEST = 80


def format_spec(name: str, settings: dict[str, Any]) -> str:
    """Spell a name with its settings: `rouge(n=2)`, or just `rouge`."""
    inside = ", ".join(f"{key}={_literal(value)}" for key, value in settings.items())
    return f"{name}({inside})" if inside else name


def parse_spec(text: str) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Read a spec into its name, unnamed and named settings."""
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
