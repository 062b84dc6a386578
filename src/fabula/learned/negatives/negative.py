"""What becomes of a story: its bad version, what was done to it, and what could not be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Negative:
    """A story made bad.

    `changed` is False where the sentences came back as they were, which is no negative then.
    `impossible` names techniques that were tried and did not fit the story.
    """

    sentences: tuple[str, ...]
    techniques: tuple[str, ...]
    changed: bool
    impossible: tuple[str, ...] = ()


@dataclass(frozen=True)
class Turns(Generic[T]):
    """What is left of a thing after techniques, which took and which did not."""

    result: T
    techniques: tuple[str, ...]
    impossible: tuple[str, ...]


def apply_in_turn(
    given: T,
    order: Sequence[str],
    *,
    count: int,
    change: Callable[[str, T], T | None],
    stand_in: bool = True,
) -> Turns[T]:
    """Apply techniques in order until `count` of them took; None says that one does not fit.

    Without `stand_in` the first `count` are all that is tried.
    """
    result = given
    done: list[str] = []
    impossible: list[str] = []
    for name in order if stand_in else order[:count]:
        if len(done) == count:
            break
        changed = change(name, result)
        if changed is None:
            impossible.append(name)
        else:
            result = changed
            done.append(name)
    return Turns(result, tuple(done), tuple(impossible))
