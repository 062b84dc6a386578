"""Conditions on scores, read as data: `criteria.coherence > 3 and not repetition > 0.5`.

What is written is parsed as a Python expression, of which only a few kinds of parts are known:
numbers, columns, `system`, `item` and `id`, arithmetic, comparisons, `and`, `or`, `not`. Nothing of
it is ever executed: it becomes a question in SQL made of our own words. A value that is missing
makes a comparison undecided, and what is undecided is neither true nor false (Kleene, 1938).
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field
from typing import Any, Literal

from fabula.core.errors import InputError
from fabula.scoring.column_names import ColumnNames

Kind = Literal["truth", "number", "text", "texts"]
FIELDS = ("system", "item", "id")
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "=", ast.NotEq: "<>",
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_MOST_CHARACTERS, _MOST_DEPTH = 10_000, 100
_EXAMPLE = "write it like: words > 100 and rouge(n=2).f >= 0.3"


@dataclass(frozen=True)
class Condition:
    """A condition: its words, the same in SQL on a run's table, and what it is to be given.

    `columns` are the numbers of the columns that it asks for.
    """

    text: str
    sql: str
    given: tuple[Any, ...] = ()
    columns: tuple[int, ...] = ()


@dataclass
class _Written:
    """A part of a condition in SQL."""

    kind: Kind
    sql: str
    given: list[Any] = field(default_factory=list)


def parse_conditions(text: str, names: ColumnNames) -> list[Condition]:
    """Read what is to be true of a story: the parts that `and` joins, each by itself."""
    if len(text) > _MOST_CHARACTERS:
        raise InputError(f"a condition of {len(text):,} characters", "make it shorter")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InputError(f"{text!r} is no condition", _EXAMPLE) from None
    if _measure_depth(tree) > _MOST_DEPTH:
        raise InputError("a condition of too many levels", "make it simpler")
    return [_make_condition(part, names) for part in _list_parts(tree)]


def _measure_depth(tree: ast.AST) -> int:
    """How many levels a tree has, without going down its levels one call each."""
    level, depth = [tree], 0
    while level and depth <= _MOST_DEPTH:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth


def _list_parts(tree: ast.expr) -> list[ast.expr]:
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in _list_parts(value)]
    return [tree]


def _make_condition(tree: ast.expr, names: ColumnNames) -> Condition:
    writer = _Writer(names)
    written = writer.write(tree)
    text = ast.unparse(tree)
    if written.kind != "truth":
        raise InputError(f"{text!r} is neither true nor false", _EXAMPLE)
    return Condition(text, written.sql, tuple(written.given), tuple(dict.fromkeys(writer.columns)))


class _Writer:
    """Writes parts of a condition as SQL; what it does not know is refused."""

    def __init__(self, names: ColumnNames) -> None:
        self.names = names
        self.columns: list[int] = []

    def write(self, node: ast.expr) -> _Written:
        if isinstance(node, ast.BoolOp):
            word = " AND " if isinstance(node.op, ast.And) else " OR "
            return self._join([self._write_as(part, "truth") for part in node.values], word)
        if isinstance(node, ast.UnaryOp):
            return self._write_unary(node)
        if isinstance(node, ast.Compare):
            return self._write_comparison(node)
        if isinstance(node, ast.BinOp):
            return self._write_arithmetic(node)
        if isinstance(node, ast.Constant):
            return self._write_constant(node)
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            parts = [self._write_as(part, "text") for part in node.elts]
            if not parts:
                raise self._refuse(node)
            return _Written("texts", f"({', '.join(p.sql for p in parts)})", _gather(parts))
        if isinstance(node, ast.Name) and node.id in FIELDS:
            return _Written("text", node.id)
        if isinstance(node, ast.Name | ast.Attribute | ast.Call):
            return self._write_column(ast.unparse(node))
        raise self._refuse(node)

    def _write_as(self, node: ast.expr, kind: Kind) -> _Written:
        """Write a part that has to be of a kind; a quoted name among numbers is a column's."""
        if kind == "number" and isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._write_column(node.value)
        written = self.write(node)
        if written.kind != kind:
            kinds = {"truth": "true or false", "number": "a number", "text": "a text"}
            raise InputError(f"{ast.unparse(node)!r} is not {kinds.get(kind, kind)}", _EXAMPLE)
        return written

    def _write_column(self, name: str) -> _Written:
        number = self.names.find(name)
        self.columns.append(number)
        return _Written("number", f"c{number}")

    def _write_constant(self, node: ast.Constant) -> _Written:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise self._refuse(node)
        if isinstance(value, str):
            return _Written("text", "?", [value])
        try:
            number = float(value)
        except OverflowError:
            raise self._refuse(node) from None
        if not math.isfinite(number):
            raise self._refuse(node)
        return _Written("number", "?::DOUBLE", [number])

    def _write_unary(self, node: ast.UnaryOp) -> _Written:
        if isinstance(node.op, ast.Not):
            part = self._write_as(node.operand, "truth")
            return _Written("truth", f"(NOT {part.sql})", part.given)
        if isinstance(node.op, ast.USub | ast.UAdd):
            part = self._write_as(node.operand, "number")
            sign = "-" if isinstance(node.op, ast.USub) else "+"
            return _Written("number", f"({sign} {part.sql})", part.given)
        raise self._refuse(node)

    def _write_arithmetic(self, node: ast.BinOp) -> _Written:
        left, right = self._write_as(node.left, "number"), self._write_as(node.right, "number")
        given = [*left.given, *right.given]
        if isinstance(node.op, ast.Div):
            # What is divided by nothing has no value.
            return _Written("number", f"({left.sql} / nullif({right.sql}, 0))", given)
        if type(node.op) not in _ARITHMETIC:
            raise self._refuse(node)
        return _Written("number", f"({left.sql} {_ARITHMETIC[type(node.op)]} {right.sql})", given)

    def _write_comparison(self, node: ast.Compare) -> _Written:
        """Write a comparison; one that goes on, as in `1 < words < 9`, is several."""
        sides = [node.left, *node.comparators]
        parts = [
            self._write_pair(left, op, right)
            for left, op, right in zip(sides, node.ops, sides[1:], strict=False)
        ]
        return self._join(parts, " AND ")

    def _write_pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> _Written:
        is_text = any(isinstance(side, ast.Name) and side.id in FIELDS for side in (left, right))
        if isinstance(op, ast.In | ast.NotIn) and is_text:
            one, many = self._write_as(left, "text"), self._write_as(right, "texts")
            word = "IN" if isinstance(op, ast.In) else "NOT IN"
            return _Written("truth", f"({one.sql} {word} {many.sql})", _gather([one, many]))
        if type(op) not in _COMPARISONS:
            raise InputError(f"no comparison of scores: {ast.unparse(left)} …", _EXAMPLE)
        kind: Kind = "text" if is_text else "number"
        first, second = self._write_as(left, kind), self._write_as(right, kind)
        sql = f"({first.sql} {_COMPARISONS[type(op)]} {second.sql})"
        return _Written("truth", sql, _gather([first, second]))

    def _join(self, parts: list[_Written], word: str) -> _Written:
        return _Written("truth", f"({word.join(part.sql for part in parts)})", _gather(parts))

    def _refuse(self, node: ast.AST) -> InputError:
        return InputError(f"{ast.unparse(node)!r} cannot stand in a condition", _EXAMPLE)


def _gather(parts: list[_Written]) -> list[Any]:
    return [value for part in parts for value in part.given]
