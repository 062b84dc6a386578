"""Many questions side by side: threads that ask, tries that wait their turn, one place for answers.

A try that failed goes back among those that wait and keeps no thread. What cannot pass for any
question (a key that is not taken) ends it all; what was answered by then is kept.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from queue import SimpleQueue
from threading import Condition, Event, Thread
from typing import Protocol

from fabula.core.errors import UserError
from fabula.models.asking.pacing import Pace, draw_wait
from fabula.models.asking.question import Question, Response
from fabula.models.servers.http import ServerError, TryAgain

# Servers that want to be asked later.
BUSY_STATUSES = (429, 503, 529)
# What holds for every question: no key, no such model, no money at the server.
FATAL_STATUSES = (401, 402, 403, 404)
# A server that turns a question away for so long is given up.
_LONGEST_BUSY_S = 900.0
# So many questions in a row that came to nothing are the server's fault.
_MOST_FAILURES = 10
# How long answers are waited for that are on their way when it is called off.
_LAST_WAIT_S = 5.0


class Source(Protocol):
    """Where questions come from and answers go."""

    def take(self) -> Question | None:
        """Give the next question, if there is one now."""
        ...

    def keep(self, response: Response) -> None:
        """Take in an answer, from any thread."""
        ...


@dataclass(order=True)
class _Try:
    """A question, when it may be tried next, and how often it was."""

    due_at: float
    number: int
    question: Question = field(compare=False)
    failures: int = field(default=0, compare=False)
    busy_since: float | None = field(default=None, compare=False)


@dataclass(eq=False)
class Dispatcher:
    """Asks the questions of a source with so many threads; `attempt` is one try at one question."""

    attempt: Callable[[Question], Response]
    count_tokens: Callable[[Question], int]
    pace: Pace
    threads: int
    retries: int
    first_wait_s: float = 1.0
    lose_try: Callable[[Question, TryAgain], None] = lambda question, failed: None
    _tries: list[_Try] = field(default_factory=list)
    _changed: Condition = field(default_factory=Condition)
    _cancel: Event = field(default_factory=Event)
    _answers: SimpleQueue[Response | BaseException] = field(default_factory=SimpleQueue)
    _numbers: Iterator[int] = field(default_factory=count)
    _workers: list[Thread] = field(default_factory=list)
    _failures_in_row: int = 0

    def run(self, source: Source) -> Iterator[Response]:
        """Give answers as they come."""
        unanswered = 0
        try:
            while True:
                # Twice as many as are asked at once: nobody waits for who reads the answers.
                while unanswered < 2 * self.threads and (question := source.take()):
                    self._add(_Try(0.0, next(self._numbers), question), source)
                    unanswered += 1
                if not unanswered:
                    return
                answer = self._answers.get()
                if isinstance(answer, BaseException):
                    raise answer
                unanswered -= 1
                yield answer
        finally:
            self._close()

    def _add(self, attempt: _Try, source: Source) -> None:
        with self._changed:
            heapq.heappush(self._tries, attempt)
            self._changed.notify()
            if len(self._workers) < min(self.threads, len(self._tries) + len(self._workers)):
                worker = Thread(target=self._work, args=(source,), daemon=True)
                self._workers.append(worker)
                worker.start()

    def _close(self) -> None:
        self._cancel.set()
        with self._changed:
            self._changed.notify_all()
        end = time.monotonic() + _LAST_WAIT_S
        for worker in self._workers:
            worker.join(max(end - time.monotonic(), 0.0))

    def _work(self, source: Source) -> None:
        try:
            while (attempt := self._take()) is not None:
                response = self._try(attempt, source)
                if response is not None:
                    source.keep(response)
                    self._answers.put(response)
        except BaseException as error:  # whoever reads the answers raises it
            self._answers.put(error)

    def _take(self) -> _Try | None:
        """Wait for a try that is due."""
        with self._changed:
            while not self._cancel.is_set():
                remaining_s = self._tries[0].due_at - time.monotonic() if self._tries else None
                if remaining_s is not None and remaining_s <= 0:
                    return heapq.heappop(self._tries)
                self._changed.wait(remaining_s)
        return None

    def _try(self, attempt: _Try, source: Source) -> Response | None:
        """Try once; None where it will be tried again, or was called off."""
        tokens = self.count_tokens(attempt.question)
        if not self.pace.wait(tokens, self._cancel):
            return None
        try:
            response = self.attempt(attempt.question)
        except TryAgain as failed:
            self.pace.settle(tokens, 0)
            return self._put_off(attempt, failed, source)
        except ServerError as error:
            if error.status in FATAL_STATUSES:
                raise
            return Response(attempt.question.key, status="failed", problem=error.problem)
        self._failures_in_row = 0
        self.pace.go_on()
        if response.tokens_in is not None and response.tokens_out is not None:
            self.pace.settle(tokens, response.tokens_in + response.tokens_out)
        return response

    def _put_off(self, attempt: _Try, failed: TryAgain, source: Source) -> Response | None:
        """Try again later, or give the question up."""
        now, problem = time.monotonic(), failed.problem
        if failed.status in BUSY_STATUSES and "insufficient_quota" not in problem:
            attempt.busy_since = attempt.busy_since or now
            if now - attempt.busy_since < _LONGEST_BUSY_S:
                self.pace.hold(failed.wait_s)
                attempt.due_at = now
                self._add(attempt, source)
                return None
        elif failed.status not in BUSY_STATUSES:
            self.lose_try(attempt.question, failed)
            attempt.failures += 1
            if attempt.failures <= self.retries:
                wait_s = draw_wait(self.first_wait_s, attempt.failures - 1)
                attempt.due_at = now + max(wait_s, failed.wait_s or 0.0)
                self._add(attempt, source)
                return None
            problem = f"{problem} after {attempt.failures} tries"
        self._failures_in_row += 1
        if self._failures_in_row >= _MOST_FAILURES:
            raise UserError(
                f"{_MOST_FAILURES} questions in a row came to nothing ({problem})",
                "what was answered is kept: run it again when the server is well",
            )
        return Response(attempt.question.key, status="failed", problem=problem)
