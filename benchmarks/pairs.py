"""Texts of 400 words made of the example stories, and how to time what is done with them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from fabula import Story, load_dataset

WORDS = 400
PASSES = 7
T = TypeVar("T")


def make_pairs(system: str = "human") -> list[Story]:
    """A system's stories beside references, joined and cut to 400 words from various places."""
    stories = [story for story in load_dataset("examples").stories if story.system == system]
    texts = [story.text for story in stories]
    references = [story.references[0] for story in stories]
    return [
        Story(f"{system}{start}", cut(texts, start), references=(cut(references, start),))
        for start in range(len(stories))
    ]


def make_run() -> list[Story]:
    """Such pairs of all four systems, one item after the other: systems share the references."""
    systems = [make_pairs(system) for system in ("human", "loop", "scatter", "stray")]
    return [story for item in zip(*systems, strict=True) for story in item]


def cut(texts: list[str], start: int, words: int = WORDS) -> str:
    return " ".join(" ".join(texts[start:] + texts[:start]).split()[:words])


def best(
    act: Callable[[T], object],
    things: Sequence[T],
    before: Callable[[], None] = lambda: None,
    passes: int = PASSES,
) -> float:
    """Seconds a thing, in the best pass; `before` is called at the start of each."""
    taken = []
    for _ in range(passes):
        before()
        began = time.perf_counter()
        for thing in things:
            act(thing)
        taken.append((time.perf_counter() - began) / len(things))
    return min(taken)


def show(what: str, slow: float, fast: float, other: str, bar: float | None) -> None:
    """Print a ratio, and whether it meets its bar."""
    ratio = slow / fast
    verdict = "" if bar is None else f"  (bar {bar}×: {'met' if ratio >= bar else 'MISSED'})"
    print(f"{what:32} {fast * 1e6:8.0f} µs  {ratio:7.1f}× {other} ({slow * 1e6:,.0f} µs){verdict}")
