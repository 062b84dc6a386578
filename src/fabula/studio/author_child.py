"""A co-author in a process of its own, so that what it does to itself it does to nobody else.

The worker holds an `AuthorChild`; the child runs `serve_author`, which makes the co-author of its
spec and obeys messages that come through a pipe. If the worker dies, the pipe closes and the
child ends; if the child dies, the worker sees `ChildLost`.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, NamedTuple

from fabula.authors import load_author
from fabula.authors.context.ranges import parse_wanted
from fabula.authors.context.segments import context_from_json
from fabula.core.author import Author, Decoding, Piece, Request
from fabula.core.errors import InputError, UserError
from fabula.core.plain import from_plain

_log = logging.getLogger("fabula.worker")
# Who stops a worker gives it some ten seconds, as containers do: this and the draining fit.
_STOP_S = 2.0
# A model takes all the processors it finds: on the machine of the web process it gives way to who
# saves a text.
_NICE = 5


@dataclass(frozen=True)
class Order:
    """A text that a co-author is to write, as plain values; the identity is for this once."""

    id: str
    context: Mapping[str, Any]
    wanted: str
    decoding: Mapping[str, Any]
    seed: int


class Message(NamedTuple):
    """What a child says: `ready` (its signature), `unusable` (why), `piece`, `rested` (a batch is
    over), `prepared` (what hindered it, or nothing)."""

    kind: str
    value: Any = None


class ChildLost(Exception):
    """The child has died: `code` is its exit code, below 0 the signal that ended it."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"its process ended with {code}")
        self.code = code


class AuthorChild:
    """The worker's end of the pipe."""

    def __init__(self, spec: str, name: str) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawning.Pipe()
        self._child = spawning.Process(
            target=serve_author, args=(theirs, spec), name=f"co-author {name}", daemon=True
        )
        self._child.start()
        theirs.close()

    def write(self, orders: Sequence[Order]) -> None:
        """Let it write on for these; pieces follow, and at last `rested`."""
        self._send("write", tuple(orders))

    def cancel(self, order_id: str) -> None:
        """Let it stop with one of them; its last piece says so."""
        self._send("cancel", order_id)

    def prepare(self, context: Mapping[str, Any]) -> None:
        """Let it get ready for a story; `prepared` follows."""
        self._send("prepare", dict(context))

    def receive(self, timeout_s: float) -> list[Message]:
        """All that it has said; waits for the first word at most so long."""
        messages: list[Message] = []
        try:
            while self._pipe.poll(0 if messages else timeout_s):
                messages.append(self._pipe.recv())
        except (EOFError, OSError):
            # What it said before it died still counts; its death is met the next time.
            if not messages:
                raise self._lose() from None
        return messages

    def stop(self) -> None:
        """Let it free everything and end; one that does not is killed."""
        try:
            self._pipe.send(("stop", None))
        except OSError:
            pass
        else:
            self._child.join(_STOP_S)
        self.kill()

    def kill(self) -> None:
        """End it at once."""
        self._child.kill()
        self._child.join()
        self._pipe.close()

    def _send(self, kind: str, value: Any) -> None:
        try:
            self._pipe.send((kind, value))
        except OSError:
            raise self._lose() from None

    def _lose(self) -> ChildLost:
        self._child.join(1.0)
        lost = ChildLost(self._child.exitcode)
        self.kill()
        return lost


def start_log() -> None:
    """Write a log on stderr: all that we say, and the warnings of libraries."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("fabula").setLevel(logging.INFO)


def serve_author(pipe: Connection, spec: str) -> None:
    """Be a co-author until the worker says stop or is gone.

    What the co-author cannot help is a `UserError` and is said; anything else ends the process,
    with its traceback in the log, and the worker starts another.
    """
    # Who stops the worker stops the whole group: the worker decides when its children end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    start_log()
    if hasattr(os, "nice"):
        os.nice(_NICE)
    inbox: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    cancelled: set[str] = set()
    threading.Thread(target=_listen, args=(pipe, inbox, cancelled), daemon=True).start()
    try:
        author = load_author(spec)
        author.startup()
    except UserError as error:
        pipe.send(Message("unusable", str(error)))
        return
    pipe.send(Message("ready", author.signature))
    while (message := inbox.get())[0] != "stop":
        kind, value = message
        if kind == "write":
            _write(pipe, author, value, cancelled)
        else:
            _prepare(pipe, author, value)
    author.shutdown()


def _listen(pipe: Connection, inbox: SimpleQueue[tuple[str, Any]], cancelled: set[str]) -> None:
    """Take messages in while the co-author writes, so that it hears what is cancelled."""
    try:
        while True:
            kind, value = pipe.recv()
            if kind == "cancel":
                cancelled.add(value)
            else:
                inbox.put((kind, value))
    except (EOFError, OSError):
        # The worker is gone, and what is being written is for nobody.
        os._exit(0)


def _write(pipe: Connection, author: Author, orders: Sequence[Order], cancelled: set[str]) -> None:
    requests, unended = [], {}
    for order in orders:
        try:
            request = _read_order(order, cancelled)
        except UserError as error:
            pipe.send(Message("piece", Piece(order.id, "", status="failed", problem=str(error))))
        else:
            requests.append(request)
            unended[order.id] = ""
    try:
        for piece in author.generate(requests) if requests else ():
            pipe.send(Message("piece", piece))
            if piece.status:
                unended.pop(piece.id, None)
    except UserError as error:
        _log.warning("the co-author refused: %s", error)
        unended = dict.fromkeys(unended, str(error))
    for order_id, problem in unended.items():
        pipe.send(Message("piece", Piece(order_id, "", status="failed", problem=problem)))
    cancelled.difference_update(order.id for order in orders)
    pipe.send(Message("rested"))


def _read_order(order: Order, cancelled: set[str]) -> Request:
    decoding = from_plain(Decoding, dict(order.decoding), "decoding", error=InputError)
    return Request(
        order.id,
        context_from_json(order.context),
        parse_wanted(order.wanted),
        decoding,
        order.seed,
        lambda: order.id in cancelled,
    )


def _prepare(pipe: Connection, author: Author, context: Mapping[str, Any]) -> None:
    problem = ""
    try:
        author.preprocess(context_from_json(context))
    except UserError as error:
        problem = str(error)
    pipe.send(Message("prepared", problem))
