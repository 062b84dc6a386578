"""Worker processes: they read tasks for the engine and end when it does, whatever ends it."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import Any

from fabula.core.errors import UserError
from fabula.core.protocols import Watch, watch
from fabula.models import thread_limit
from fabula.scoring.engine import Part, Task, TaskReader

_END_WITHIN_S = 1.0
# More than one each, so that none waits for its next while its last is written down.
_TASKS_EACH = 2


class WorkerPool:
    """Reads tasks in several processes; their parts come as they are read."""

    def __init__(self, reading: TaskReader, jobs: int) -> None:
        self.ahead = _TASKS_EACH * jobs
        with keep_interrupts_off():
            self._workers = [_Worker(reading, thread_limit(jobs)) for _ in range(jobs)]

    def submit(self, task: Task) -> None:
        """Give a task to the worker that has the fewest."""
        min(self._workers, key=lambda worker: worker.tasks).give(task)

    def next_part(self) -> Part:
        """Wait for the next part of any task; pass on what workers say of what they do."""
        while True:
            for ready in wait([worker.connection for worker in self._workers]):
                worker = next(one for one in self._workers if one.connection is ready)
                said = worker.receive()
                if isinstance(said, Part):
                    return said
                if isinstance(said, BaseException):
                    raise said

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        for worker in self._workers:
            worker.end(at_once=kind is not None)
        for worker in self._workers:
            worker.collect()


class _Worker:
    """A process, the line to it, how many tasks it has, and what it said it does."""

    def __init__(self, reading: TaskReader, threads: int) -> None:
        # Started afresh: forking a process with threads or a database open is not safe.
        context = multiprocessing.get_context("spawn")
        self.connection, far_end = context.Pipe()
        self.process: BaseProcess = context.Process(
            target=_work, args=(far_end, reading, threads), daemon=True
        )
        self.process.start()
        # Only the worker's own copy is left: when it dies, the line says so.
        far_end.close()
        self.tasks = 0
        self._doing = ("", "")

    def give(self, task: Task) -> None:
        self.tasks += 1
        with suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send(task)

    def receive(self) -> Part | BaseException | None:
        """Give a part or what went wrong; nothing where the worker says what it does."""
        try:
            said = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join(_END_WITHIN_S)
            raise self._explain_end() from None
        if isinstance(said, tuple):
            self._doing = said
            watch.get().tell(said[0])
            watch.get().tell_detail(said[1])
        elif said is None:
            self.tasks -= 1
        else:
            return said  # type: ignore[no-any-return]
        return None

    def _explain_end(self) -> UserError:
        code = self.process.exitcode
        how = f"was ended by signal {-code}" if code and code < 0 else f"ended with code {code}"
        doing = ", ".join(filter(None, self._doing))
        when = f" while it was at {doing}" if doing else " before it began"
        return UserError(
            f"a worker process {how}{when}, perhaps for want of memory",
            "try fewer jobs; a script that calls evaluate(jobs=…) needs a "
            "`if __name__ == '__main__':` guard",
        )

    def end(self, *, at_once: bool) -> None:
        if at_once:
            self.process.terminate()
        else:
            with suppress(OSError):
                self.connection.send(None)

    def collect(self) -> None:
        self.process.join(_END_WITHIN_S)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.connection.close()


@contextmanager
def keep_interrupts_off() -> Iterator[None]:
    """Let processes that start now never see Ctrl-C, which a terminal sends to all of them.

    They inherit what is blocked, from their first instruction on; ours waits until it is let in.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # It lets interrupts in again when it starts, so it has to be there before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Line(Watch):
    """Passes on to the engine what a worker does."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._doing = ("", "")

    def tell(self, doing: str) -> None:
        """Pass it on."""
        self._send(doing, "")

    def tell_detail(self, detail: str) -> None:
        """Pass it on with what it is a detail of."""
        self._send(self._doing[0], detail)

    @contextmanager
    def during(self, doing: str) -> Iterator[None]:
        """Pass on that something else goes on, and afterwards that it is as before."""
        before = self._doing
        self._send(doing, "")
        try:
            yield
        finally:
            self._send(*before)

    def _send(self, *doing: str) -> None:
        self._doing = (doing[0], doing[1])
        self._connection.send(self._doing)


def _work(connection: Connection, reading: TaskReader, threads: int) -> None:
    """Read one task after another, until there are no more or nobody is there to give them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Models read it when they are loaded, which is later.
    os.environ["FABULA_THREADS"] = str(threads)
    tasks: SimpleQueue[Task | None] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, tasks), daemon=True).start()
    watch.set(_Line(connection))
    with suppress(BrokenPipeError, ConnectionResetError):
        try:
            reading.prepare()
            while (task := tasks.get()) is not None:
                for part in reading.read(task):
                    connection.send(part)
                connection.send(None)
        except Exception as error:
            connection.send(_make_sendable(error))


def _receive(connection: Connection, tasks: SimpleQueue[Any]) -> None:
    """Take tasks off the line as they come, so that whoever sends them never has to wait."""
    try:
        while (task := connection.recv()) is not None:
            tasks.put(task)
    except (EOFError, OSError):
        # A killed parent cannot say goodbye; a worker left waiting would wait for ever.
        os._exit(1)
    tasks.put(None)


def _make_sendable(error: Exception) -> Exception:
    """Give an error that arrives whole, its notes and words included."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
