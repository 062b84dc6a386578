"""An answer as it is written: pieces of text, and at the end what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from threading import Event
from typing import Any

from fabula.models.servers.events import EventTooLong, read_events
from fabula.models.servers.http import Connection, Server, ServerError, StreamBroken, TryAgain
from fabula.models.servers.wire import Delta, Ending, Tokens, Wire

Deltas = Iterator[Delta]

_DONE = "[DONE]"
# Whatever was asked for, no answer of a model is longer: a server that does not end is left.
LONGEST_TEXT = 4_000_000


class TextStream:
    """Iterates over the pieces of a text while a server writes it; read once, by one thread.

    Until the first piece has come, what may pass is tried again; after it, a fault is a
    `StreamBroken` with what was received. `close` may be called by any thread: the connection is
    closed, the server told so by that, and the iteration ends. `tokens` and `ending` are known
    after it.
    """

    def __init__(
        self,
        server: Server,
        wire: Wire,
        ask: Callable[[Callable[[dict[str, Any]], Deltas]], Deltas],
        record: Callable[[TextStream], None],
    ) -> None:
        self._server, self._wire = server, wire
        self._ask, self._record = ask, record
        self._cancel = Event()
        self._connection: Connection | None = None
        self._pieces: list[str] = []
        self.question: dict[str, Any] = {}
        self.tokens: Tokens = (None, None)
        self.ending: Ending = ""

    @property
    def text(self) -> str:
        """All that has come so far."""
        return "".join(self._pieces)

    def close(self) -> None:
        """Call it off."""
        self._cancel.set()
        if connection := self._connection:
            connection.shut_down()

    def __iter__(self) -> Iterator[str]:
        """Give the pieces as they come."""
        if self._cancel.is_set():
            return
        size = 0
        try:
            deltas = self._ask(self._begin)
            for delta in deltas:
                if self._cancel.is_set():
                    return
                if delta.text:
                    size += len(delta.text)
                    if size > LONGEST_TEXT:
                        raise TryAgain(f"the answer has more than {LONGEST_TEXT:,} characters")
                    self._pieces.append(delta.text)
                    yield delta.text
            if not self.ending and not self._cancel.is_set():
                raise TryAgain("the answer breaks off")
        except TryAgain as failed:
            if not self._cancel.is_set():
                raise self._break(failed.problem) from None
        except ServerError:
            if not self._cancel.is_set():
                raise
        finally:
            self._cancel.set()
            if self._connection:
                self._connection.close()
                self._record(self)

    def _begin(self, question: dict[str, Any]) -> Deltas:
        """Ask, and wait for the first piece of text: until then it can be asked again."""
        self.question = self._wire.make_stream_question(question)
        return self._server.insist(self._attempt, self._cancel)

    def _attempt(self) -> Deltas:
        if self._cancel.is_set():
            return iter(())
        if self._connection:
            self._connection.close()
        self.tokens, self.ending = (None, None), ""
        response = self._server.open(self._wire.path, self.question)
        self._connection = Connection(response)
        if self._cancel.is_set():
            return iter(())
        is_stream = response.headers.get_content_type() == "text/event-stream"
        deltas = self._read_stream() if is_stream else self._read_whole()
        for delta in deltas:
            if delta.text:
                return chain([delta], deltas)
        if not self.ending and not self._cancel.is_set():
            raise TryAgain("the answer breaks off")
        return iter(())

    def _read_stream(self) -> Deltas:
        """Read events up to the last; counts that come later replace those before."""
        assert self._connection is not None
        with self._server.name_faults():
            try:
                for event in read_events(self._connection.read_pieces()):
                    if event.data == _DONE:
                        # Some servers tell no reason.
                        self.ending = self.ending or "stop"
                        return
                    yield (delta := self._take(self._wire.read_event(self._read(event.data))))
                    if delta.is_last:
                        self.ending = self.ending or "stop"
                        return
            except EventTooLong as error:
                raise self._server.error(str(error), f"is it {self._wire.kind}?") from None

    def _read_whole(self) -> Deltas:
        """Read the answer of a server that does not stream."""
        assert self._connection is not None
        with self._server.name_faults():
            body = self._connection.read_all()
        answer = self._server.read(body)
        try:
            delta = self._wire.read_answer(answer)
        except (KeyError, IndexError, TypeError):
            raise self._server.error(
                "the answer holds no text", f"is it {self._wire.kind}?"
            ) from None
        yield self._take(delta)
        self.ending = self.ending or "stop"

    def _read(self, data: str) -> dict[str, Any]:
        try:
            return self._server.read(data)
        except TryAgain:
            raise TryAgain("an event is no JSON") from None

    def _take(self, delta: Delta) -> Delta:
        if delta.problem:
            raise TryAgain(f"the server says: {delta.problem}")
        read, written = delta.tokens
        self.tokens = (
            self.tokens[0] if read is None else read,
            self.tokens[1] if written is None else written,
        )
        self.ending = delta.ending or self.ending
        return delta

    def _break(self, problem: str) -> StreamBroken:
        error = self._server.error(problem, "ask again")
        return StreamBroken(error.problem, error.remedy, self.text)
