"""A process of our own beside this one: what it does to itself it does to nobody else.

The parent holds a `Child`; the child serves messages that come through a pipe. If the parent dies,
however that comes about, the pipe closes and the child ends; if the child dies, the parent sees
`ChildLost`.
"""

from __future__ import annotations

import atexit
import multiprocessing
import multiprocessing.util  # its way of ending is to be entered before ours, so as to come after
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, NamedTuple
from weakref import WeakSet

# Who stops a parent gives it some ten seconds, as containers do: this fits.
_STOP_S = 2.0
# A model takes all the processors it finds: on the machine of the web process it gives way to who
# saves a text.
_NICE = 5

Inbox = SimpleQueue[tuple[str, Any]]
_children: WeakSet[Child] = WeakSet()


class Message(NamedTuple):
    """What a child says: of which kind, and with which value."""

    kind: str
    value: Any = None


class ChildLost(Exception):
    """The child has died: `code` is its exit code, below 0 the signal that ended it."""

    def __init__(self, code: int | None) -> None:
        super().__init__(f"its process ended with {code}")
        self.code = code


class Child:
    """The parent's end of the pipe; `target` runs in the child, with the other end and `args`."""

    def __init__(self, target: Callable[..., None], *args: Any, name: str) -> None:
        spawning = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawning.Pipe()
        self._child = spawning.Process(target=target, args=(theirs, *args), name=name, daemon=True)
        self._child.start()
        theirs.close()
        _children.add(self)

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self._child.is_alive()

    @property
    def pid(self) -> int | None:
        """The number of its process."""
        return self._child.pid

    def send(self, kind: str, value: Any = None) -> None:
        """Tell it something."""
        try:
            self._pipe.send((kind, value))
        except OSError:
            raise self._lose() from None

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

    def _lose(self) -> ChildLost:
        self._child.join(1.0)
        lost = ChildLost(self._child.exitcode)
        self.kill()
        return lost


@atexit.register
def _kill_all() -> None:
    """End all that are left when this process ends: they heed no other signal, and Python would
    wait for them."""
    for child in list(_children):
        if child.is_alive:
            child.kill()


def live_beside(pipe: Connection, cancelled: set[str]) -> Inbox:
    """What a child does first: it gives way to others, ends with its parent, and takes messages in
    while it works; those of kind `cancel` are put into `cancelled` as they come."""
    # Who stops the parent stops the whole group: the parent decides when its children end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICE)
    inbox: Inbox = SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, inbox, cancelled), daemon=True).start()
    return inbox


def _listen(pipe: Connection, inbox: Inbox, cancelled: set[str]) -> None:
    try:
        while True:
            kind, value = pipe.recv()
            if kind == "cancel":
                cancelled.add(value)
            else:
                inbox.put((kind, value))
    except (EOFError, OSError):
        # The parent is gone, and what is being made is for nobody.
        os._exit(0)
