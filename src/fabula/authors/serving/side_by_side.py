"""Texts that come from servers, several side by side: a thread reads each, one place trims all."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Literal, Protocol

from fabula.authors.context.trimming import Trimmer
from fabula.core.author import Piece, Request, SeenSegment
from fabula.core.errors import UserError

_LOOK_EVERY_S = 0.05


class Source(Protocol):
    """A text on its way: pieces, and at the end how many tokens it had.

    What goes wrong is a `UserError`. `close` may be called by any thread, and more than once; who
    reads gets the end soon after it.
    """

    seen: tuple[SeenSegment, ...]

    def __iter__(self) -> Iterator[str]:
        """Give the pieces as they come."""
        ...

    def close(self) -> None:
        """Call it off."""
        ...

    def count_tokens(self) -> int:
        """Count the tokens so far, or guess."""
        ...


# What a thread has read of which text: a piece, an error, or None for the end.
News = str | UserError | None
Inbox = SimpleQueue[tuple["_Writing", News]]


@dataclass(eq=False)
class _Writing:
    """One text while it is written."""

    request: Request
    trimmer: Trimmer
    source: Source

    def read(self, inbox: Inbox) -> None:
        """Read the source to its end."""
        try:
            for piece in self.source:
                inbox.put((self, piece))
        except UserError as error:
            inbox.put((self, error))
        else:
            inbox.put((self, None))

    def take(self, news: News) -> Piece:
        """Make a piece of what was read; the last one has a status."""
        if isinstance(news, UserError):
            return self.end("failed", problem=str(news))
        text = "" if news is None else self.trimmer.feed(news)
        if news is not None and not self.trimmer.is_full:
            return Piece(self.request.id, text)
        rest, replaces = self.trimmer.finish()
        return self.end("done", rest if replaces else text + rest, replaces=replaces)

    def end(
        self,
        status: Literal["done", "failed", "cancelled"],
        text: str = "",
        *,
        replaces: bool = False,
        problem: str = "",
    ) -> Piece:
        """End the text, and with it its source."""
        self.source.close()
        return Piece(
            self.request.id,
            text,
            status,
            replaces=replaces,
            problem=problem,
            tokens=self.source.count_tokens(),
            seen=self.source.seen,
        )


def write_side_by_side(
    requests: Sequence[Request], open_source: Callable[[Request], Source], most: int
) -> Iterator[Piece]:
    """Write on for all requests, at most so many at once; what fails, fails alone.

    Who stops to listen, and who cancels, closes sources without waiting for what they do.
    """
    inbox: Inbox = SimpleQueue()
    waiting, running = deque(requests), list[_Writing]()
    try:
        while waiting or running:
            while waiting and len(running) < most:
                yield from _begin(waiting.popleft(), open_source, running, inbox)
            yield from _drop_cancelled(waiting, running)
            with suppress(Empty):
                writing, news = inbox.get(timeout=_LOOK_EVERY_S)
                if writing not in running:  # cancelled, or enough
                    continue
                piece = writing.take(news)
                if piece.status:
                    running.remove(writing)
                if piece.text or piece.status:
                    yield piece
    finally:
        for writing in running:
            writing.source.close()


def _begin(
    request: Request,
    open_source: Callable[[Request], Source],
    running: list[_Writing],
    inbox: Inbox,
) -> Iterator[Piece]:
    try:
        trimmer, source = Trimmer.of(request), open_source(request)
    except UserError as error:
        yield Piece(request.id, "", "failed", problem=str(error))
        return
    writing = _Writing(request, trimmer, source)
    if trimmer.is_full:
        yield writing.end("done")
        return
    running.append(writing)
    # A daemon: one that waits for a server which does not answer holds nobody up.
    threading.Thread(target=writing.read, args=(inbox,), daemon=True).start()


def _drop_cancelled(waiting: deque[Request], running: list[_Writing]) -> Iterator[Piece]:
    for request in [each for each in waiting if each.is_cancelled()]:
        waiting.remove(request)
        yield Piece(request.id, "", "cancelled")
    for writing in [each for each in running if each.request.is_cancelled()]:
        running.remove(writing)
        yield writing.end("cancelled")
