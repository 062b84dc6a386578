"""One thread owns a co-author; what many ask for at once is written in batches."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace

from fabula.core.author import Author, Context, Piece, Request
from fabula.core.errors import NoCapacity, UserError

LOG = logging.getLogger("fabula.author")
_IDLE_S = 0.2


class WritingFailed(UserError):
    """A co-author that did not write; the problem is a sentence."""


@dataclass(frozen=True)
class BatchSettings:
    """How many texts are written at once, how long one waits for company and for its end."""

    size: int = 8
    fill_within_s: float = 0.05
    most_waiting: int = 64
    timeout_s: float = 120.0


@dataclass(eq=False)
class _Job:
    """A text to be written, or a story to get ready for."""

    work: Request | Context
    due: float
    future: Future[str] = field(default_factory=Future)

    def is_over(self) -> bool:
        return self.future.cancelled() or time.monotonic() > self.due

    def succeed(self, text: str) -> None:
        with suppress(InvalidStateError):  # whoever asked has gone
            self.future.set_result(text)

    def fail(self, problem: str) -> None:
        with suppress(InvalidStateError):
            self.future.set_exception(WritingFailed(problem))


class BatchWriter:
    """Takes requests from any thread and has them written, in the order in which they came.

    A co-author that raises fails its batch, and is started again; `close` serves what is waiting
    and takes no more.
    """

    def __init__(self, author: Author, settings: BatchSettings | None = None) -> None:
        self.author, self.settings = author, settings or BatchSettings()
        self._jobs: queue.Queue[_Job] = queue.Queue(self.settings.most_waiting)
        self._closing = threading.Event()
        self._ready: Future[None] = Future()
        self._is_up = False
        self._thread = threading.Thread(target=self._own, name="author", daemon=True)

    def start(self) -> None:
        """Start the co-author; what it lacks is its `UserError`."""
        self._thread.start()
        self._ready.result()

    def write(self, request: Request) -> Future[str]:
        """Have a text written: the future gives it, or a `WritingFailed`."""
        return self._submit(request)

    def preprocess(self, context: Context) -> Future[str]:
        """Have the co-author get ready for a story; the future gives nothing to read."""
        return self._submit(context)

    def close(self) -> None:
        """Serve what is waiting, then end the co-author."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()
        with suppress(queue.Empty):
            while True:  # what came at the very last
                self._jobs.get_nowait().fail("the co-author has ended")

    def _submit(self, work: Request | Context) -> Future[str]:
        job = _Job(work, time.monotonic() + self.settings.timeout_s)
        if self._closing.is_set():
            raise NoCapacity("the co-author is about to end", "ask another")
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            raise NoCapacity("too many texts are waiting", "try again later") from None
        return job.future

    def _own(self) -> None:
        """Run the co-author: nobody else calls it."""
        try:
            self.author.startup()
            self._is_up = True
        except BaseException as error:
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        while batch := self._collect():
            for job in batch:
                if isinstance(job.work, Context):
                    self._guard([job], self._prepare)
            if texts := [job for job in batch if isinstance(job.work, Request)]:
                self._guard(texts, self._write)
        self.author.shutdown()

    def _collect(self) -> list[_Job]:
        """Wait for a job, and a little for others; nothing is left when it has been closed."""
        while True:
            try:
                batch = [self._jobs.get(timeout=_IDLE_S)]
                break
            except queue.Empty:
                if self._closing.is_set():
                    return []
        until = time.monotonic() + self.settings.fill_within_s
        while len(batch) < self.settings.size:
            try:
                batch.append(self._jobs.get(timeout=max(0.0, until - time.monotonic())))
            except queue.Empty:
                break
        return batch

    def _guard(self, jobs: Sequence[_Job], act: Callable[[Sequence[_Job]], None]) -> None:
        """Let the co-author act. It is somebody else's code: whatever it raises fails these jobs
        with a sentence, is logged, and has it started again."""
        try:
            if not self._is_up:
                self.author.startup()
                self._is_up = True
            act(jobs)
        except UserError as error:
            self._fail(jobs, str(error))
        except Exception:
            LOG.exception("the co-author failed")
            self._fail(jobs, "the co-author failed; its host's log says why")
            self._is_up = False
            with suppress(Exception):
                self.author.shutdown()

    def _fail(self, jobs: Sequence[_Job], problem: str) -> None:
        for job in jobs:
            job.fail(problem)

    def _prepare(self, jobs: Sequence[_Job]) -> None:
        """Get ready for stories."""
        for job in jobs:
            if isinstance(job.work, Context) and not job.is_over():
                self.author.preprocess(job.work)
            job.succeed("")

    def _write(self, jobs: Sequence[_Job]) -> None:
        """Write a batch; ids are ours, for those of others may be the same."""
        texts: dict[str, str] = {}
        by_id = {str(number): job for number, job in enumerate(jobs)}
        requests = [
            replace(job.work, id=name, is_cancelled=job.is_over)
            for name, job in by_id.items()
            if isinstance(job.work, Request)
        ]
        for piece in self.author.generate(requests):
            before = "" if piece.replaces else texts.get(piece.id, "")
            texts[piece.id] = before + piece.text
            if piece.status:
                self._end(by_id.pop(piece.id), piece, texts.pop(piece.id))
        self._fail(list(by_id.values()), "the co-author wrote no end")

    def _end(self, job: _Job, piece: Piece, text: str) -> None:
        if piece.status == "done":
            job.succeed(text)
        elif piece.status == "cancelled":
            job.fail(f"nothing was written within {self.settings.timeout_s:g} s")
        else:
            job.fail(piece.problem or "the co-author failed")
