"""One who watches and writes down all that it is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fabula.core.protocols import Watch, watch


class Watching(Watch):
    """Holds what was told, in order; counts of everything are one list."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.kept: list[str] = []
        self.counted: list[tuple[str, int]] = []

    def tell(self, doing: str) -> None:
        self.told.append(doing)

    def tell_detail(self, detail: str) -> None:
        self.told.append(detail)

    @contextmanager
    def during(self, doing: str) -> Iterator[None]:
        self.told.append(doing)
        yield

    def tell_kept(self, kept: str) -> None:
        self.kept.append(kept)

    def count(self, what: str) -> Counting:
        return Counting(what, self)


class Counting:
    """Passes on how many of something are done."""

    def __init__(self, what: str, watching: Watching) -> None:
        self._what, self._watching = what, watching

    def start(self, total: int) -> None:
        self._watching.counted.append((f"{self._what} in all", total))

    def advance(self, steps: int) -> None:
        self._watching.counted.append((self._what, steps))

    def finish(self) -> None:
        self._watching.counted.append((f"{self._what} done", 0))


@contextmanager
def watched() -> Iterator[Watching]:
    """Let one watch what goes on inside."""
    watching = Watching()
    token = watch.set(watching)
    try:
        yield watching
    finally:
        watch.reset(token)
