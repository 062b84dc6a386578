"""Small protocols: what rooms may expect of each other without knowing each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
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


class Watch:
    """Whoever looks on while something takes long: the command line's shows it, this one nothing.

    What is deep inside (a model that loads, a metric at a batch, a training at a step) tells the
    one that watches now: `watch.get().tell("loading minilm")`. Nobody has to hand it down.
    """

    def tell(self, doing: str) -> None:
        """Take what goes on now, as in `loading minilm`."""

    def tell_detail(self, detail: str) -> None:
        """Take how far that is, as in `window 12 of 80`."""

    def during(self, doing: str) -> AbstractContextManager[None]:
        """Give a `with` in which something else goes on, as in `loading minilm`."""
        return nullcontext()

    def tell_kept(self, kept: str) -> None:
        """Take what will be there if it is stopped now, as in `12 of 80 scores are kept`."""

    def count(self, what: str) -> Progress | None:
        """Give whom to tell how many of something are done; nobody where nobody looks."""
        return None


watch: ContextVar[Watch] = ContextVar("watch", default=Watch())  # noqa: B039 it holds nothing


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
