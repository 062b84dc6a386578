"""Small protocols: what rooms may expect of each other without knowing each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from fabula.core.story import Story


T = TypeVar("T")


class StorySource(Protocol):
    """Stories that can be gone through more than once, the same each time."""

    def __iter__(self) -> Iterator[Story]:
        """Go through the stories, from the first."""
        ...


class Progress(Protocol):
    """Is told how far a run has come."""

    def start(self, total: int) -> None:
        """So many steps lie ahead."""

    def advance(self, steps: int) -> None:
        """So many more steps are done."""

    def finish(self) -> None:
        """No more steps follow."""


def track(items: Collection[T], progress: Progress | None) -> Iterator[T]:
    """Go through items and tell after each how far that is."""
    if progress:
        progress.start(len(items))
    for item in items:
        yield item
        if progress:
            progress.advance(1)
    if progress:
        progress.finish()
