"""Conditions on a story for tests: `assert_story(text, "distinct(n=2) >= 0.5")`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from fabula.core.errors import SpecError, closest
from fabula.core.metric import Metric
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.scoring.catalogue import METRICS
from fabula.scoring.inputs import read_references

_SIGNS: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], bool]]] = {
    ast.GtE: (">=", operator.ge),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.Lt: ("<", operator.lt),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
}
_REMEDY = "write METRIC >= NUMBER, METRIC.ASPECT < NUMBER or NUMBER <= METRIC <= NUMBER"
_SHOWN = 160


@dataclass(frozen=True)
class Condition:
    """A metric's aspect between numbers: `0.2 <= mattr <= 0.9`; None stands for its value."""

    text: str
    metric: Metric
    aspect: str
    operands: tuple[float | None, ...]
    signs: tuple[type[ast.cmpop], ...]

    def holds(self, value: float) -> bool:
        """Whether a value meets the condition."""
        numbers = [value if operand is None else operand for operand in self.operands]
        return all(
            _SIGNS[sign][1](left, right)
            for left, sign, right in zip(numbers, self.signs, numbers[1:], strict=False)
        )


def assert_story(
    story: Story | str,
    condition: str,
    *,
    prompt: str | None = None,
    references: str | Iterable[str] = (),
) -> None:
    """Raise AssertionError unless a story, or a plain text, meets a condition.

    A condition is `SPEC[.ASPECT] OP NUMBER` or a range: `"0.1 < rouge(n=2).f <= 0.8"`. A story
    without a value does not meet it. `prompt` and `references` take the place of the story's.
    """
    __tracebackhide__ = True  # pytest then shows the line of the test that called this
    wanted = parse_condition(condition)
    whole = _make_story(story, prompt, references)
    [score] = [score for score in wanted.metric.score([whole]) if score.aspect == wanted.aspect]
    if not (score.ok and wanted.holds(score.value)):
        raise AssertionError(_message(wanted, whole, score))


def parse_condition(text: str) -> Condition:
    """Read a condition as data; nothing in it is run."""
    node = _comparison(text)
    parts = [node.left, *node.comparators]
    numbers = [_number(part) for part in parts]
    if numbers.count(None) != 1 or any(type(sign) not in _SIGNS for sign in node.ops):
        raise SpecError(f"cannot read the condition {text!r}", _REMEDY)
    spec, aspect = _subject(parts[numbers.index(None)])
    metric = METRICS.build(spec)
    signs = tuple(type(sign) for sign in node.ops)
    return Condition(text.strip(), metric, _choose_aspect(metric, aspect), tuple(numbers), signs)


def _comparison(text: str) -> ast.Compare:
    if not isinstance(text, str):
        raise SpecError(f"{text!r} is no condition", _REMEDY)
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        node = None
    if not isinstance(node, ast.Compare):
        raise SpecError(f"cannot read the condition {text!r}", _REMEDY)
    return node


def _number(node: ast.expr) -> float | None:
    """Give the number that is written there, if one is."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        number = _number(node.operand)
        return -number if number is not None and isinstance(node.op, ast.USub) else number
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)  # type: ignore[arg-type]
    return None


def _subject(node: ast.expr) -> tuple[str, str | None]:
    """Part `rouge(n=2).f` into its spec and its aspect."""
    if isinstance(node, ast.Attribute):
        return ast.unparse(node.value), node.attr
    return ast.unparse(node), None


def _choose_aspect(metric: Metric, named: str | None) -> str:
    """Give the aspect meant; where there are several, one must be named."""
    aspects = metric.aspects
    if named in aspects:
        return named
    if named is None and len(aspects) == 1:
        return aspects[0]
    if named is None:
        several = ", ".join(aspects)
        raise SpecError(f"{metric.spec} has several aspects", f"write .ASPECT after it: {several}")
    known = [aspect for aspect in aspects if aspect]
    raise SpecError(f"{metric.spec} has no aspect {named!r}", closest(named, known))


def _make_story(story: Story | str, prompt: str | None, references: str | Iterable[str]) -> Story:
    whole = story if isinstance(story, Story) else Story("story", story)
    texts = read_references(references, "references")
    given: dict[str, Any] = {"references": texts} if texts else {}
    if prompt is not None:
        given["prompt"] = prompt
    return replace(whole, **given)


def _message(wanted: Condition, story: Story, score: Score) -> str:
    head = f"{wanted.text} does not hold: "
    head += f"the value is {score.value:.6g}" if score.ok else "there is no value"
    facts = {
        "status": str(score.status),
        "note": score.note,
        "signature": wanted.metric.signature(),
        f"story {story.id!r}" if story.id != "story" else "text": _shorten(story.text),
    }
    return "\n".join([head, *(f"  {name}: {fact}" for name, fact in facts.items() if fact)])


def _shorten(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
