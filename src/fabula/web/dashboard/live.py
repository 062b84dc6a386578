"""Tells pages when there is something new: one look at the studio for all who listen."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable

from starlette.concurrency import run_in_threadpool

from fabula.core.errors import NoCapacity
from fabula.web.errors import LOG

LOOK_EVERY_S = 1.5
ALIVE_EVERY_S = 15.0
# Who listens longer comes again, and is asked again who they are.
LISTEN_FOR_S = 900.0
MOST_LISTENERS = 100


class ChangeFeed:
    """Looks at a mark of the studio every other second while anybody listens, and tells all of
    them when it is another one."""

    def __init__(self, read_mark: Callable[[], str]) -> None:
        self._read_mark = read_mark
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self._looking: asyncio.Task[None] | None = None
        self._mark = ""

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def need_room(self) -> None:
        """Refuse one more where there are too many: each holds a connection."""
        if self.listeners >= MOST_LISTENERS:
            raise NoCapacity("too many pages are kept up to date", "load the page again instead")

    async def listen(self) -> AsyncIterator[str]:
        """Give server-sent events: the mark as it is, then every other one, until nobody listens
        or the studio does not answer."""
        news: asyncio.Queue[str | None] = asyncio.Queue(1)
        self._listeners.add(news)
        if self._looking is None or self._looking.done():
            self._mark = ""
            self._looking = asyncio.create_task(self._look())
        elif self._mark:
            news.put_nowait(self._mark)
        until = time.monotonic() + LISTEN_FOR_S
        try:
            yield "retry: 5000\n\n"
            while (left_s := until - time.monotonic()) > 0:
                try:
                    async with asyncio.timeout(min(ALIVE_EVERY_S, left_s)):
                        mark = await news.get()
                except TimeoutError:
                    yield ": nothing new\n\n"
                    continue
                if mark is None:
                    return
                yield f"event: changed\ndata: {mark}\n\n"
        finally:
            self._listeners.discard(news)
            if not self._listeners and self._looking is not None:
                self._looking.cancel()

    async def _look(self) -> None:
        try:
            while True:
                mark = spell_mark(await run_in_threadpool(self._read_mark))
                if mark != self._mark:
                    self._mark = mark
                    self._tell(mark)
                await asyncio.sleep(LOOK_EVERY_S)
        # The border of a task that nobody waits for: pages are told by the end of their stream,
        # and come again.
        except Exception:
            LOG.exception("the studio could not be looked at")
            self._tell(None)

    def _tell(self, mark: str | None) -> None:
        for news in self._listeners:
            # Only the last mark counts: who has not fetched the one before need not.
            if news.full():
                news.get_nowait()
            news.put_nowait(mark)


def spell_mark(mark: str) -> str:
    """Spell a mark for pages, which need not know what it is made of."""
    return hashlib.sha256(mark.encode()).hexdigest()[:16]
