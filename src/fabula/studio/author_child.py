"""A co-author in a process of its own, so that what it does to itself it does to nobody else.

The worker holds an `AuthorChild`; the child runs `serve_author`, which makes the co-author of its
spec and obeys messages that come through a pipe (`core/children.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from fabula.authors import load_author
from fabula.authors.context.ranges import parse_wanted
from fabula.core.author import Author, Decoding, Piece, Request
from fabula.core.children import Child, Message, live_beside
from fabula.core.errors import InputError, UserError
from fabula.core.plain import from_plain
from fabula.text.context.segments import context_from_json

_log = logging.getLogger("fabula.worker")


@dataclass(frozen=True)
class Order:
    """A text that a co-author is to write, as plain values; the identity is for this once."""

    id: str
    context: Mapping[str, Any]
    wanted: str
    decoding: Mapping[str, Any]
    seed: int


class AuthorChild(Child):
    """The worker's end of the pipe.

    It says `ready` (its signature), `unusable` (why), `piece`, `rested` (a batch is over) and
    `prepared` (what hindered it, or nothing).
    """

    def __init__(self, spec: str, name: str) -> None:
        super().__init__(serve_author, spec, name=f"co-author {name}")

    def write(self, orders: Sequence[Order]) -> None:
        """Let it write on for these; pieces follow, and at last `rested`."""
        self.send("write", tuple(orders))

    def cancel(self, order_id: str) -> None:
        """Let it stop with one of them; its last piece says so."""
        self.send("cancel", order_id)

    def prepare(self, context: Mapping[str, Any]) -> None:
        """Let it get ready for a story; `prepared` follows."""
        self.send("prepare", dict(context))


def start_log() -> None:
    """Write a log on stderr: all that we say, and the warnings of libraries."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("fabula").setLevel(logging.INFO)


def serve_author(pipe: Connection, spec: str) -> None:
    """Be a co-author until the worker says stop or is gone.

    What the co-author cannot help is a `UserError` and is said; anything else ends the process,
    with its traceback in the log, and the worker starts another.
    """
    cancelled: set[str] = set()
    inbox = live_beside(pipe, cancelled)
    start_log()
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
