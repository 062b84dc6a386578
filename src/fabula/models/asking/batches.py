"""Models on servers, asked by the batch: slower, cheaper, and without limits a minute.

The journal keeps which batch has which questions, so that a run that was stopped reads its batches
instead of sending them again. That a batch will be sent is written down before it is: one that a
server took while nobody was there to note its name is looked for in the server's own list. What a
batch could not answer goes into the next.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, count, islice
from typing import Any, Protocol
from urllib.parse import quote

from fabula.core.protocols import watch
from fabula.core.story import count_text
from fabula.models.asking.interview import Feed
from fabula.models.asking.journal import Intent, Journal
from fabula.models.asking.pacing import LONGEST_HOLD_S, draw_wait
from fabula.models.asking.question import Question, Response
from fabula.models.asking.served import ServedBackend, read_refusal, read_response, spell_question
from fabula.models.reading.tokens import split_chunks
from fabula.models.servers.events import read_lines
from fabula.models.servers.http import (
    Connection,
    Server,
    ServerError,
    TryAgain,
    Upload,
    describe_fault,
)
from fabula.models.servers.wire import Style, find_refused, leave_out

Order = tuple[str, dict[str, Any]]
# Servers take more; what is lost with one that fails is less.
_MOST_ORDERS = 5000
_FIRST_POLL_S = 3.0
_LONGEST_POLL_S = 60.0
_LONGEST_LINE = 64 * 1024 * 1024
_DONE = ("completed", "expired", "cancelled", "ended")
# What a batch is found by again, where it can carry something.
_MARK = "fabula"
# By how much the server's clock and ours may differ.
_CLOCKS_DIFFER_S = 900.0
_PAGE = 100
_TOO_MANY = 429
# Of servers that keep no list of batches.
_NO_LIST = (404, 405, 501)


@dataclass(frozen=True)
class Result:
    """What a batch says of a question: an answer, or the problem with it."""

    digest: str
    answer: dict[str, Any] | None = None
    problem: str = ""
    status: int | None = None


class Desk(Protocol):
    """Where a server takes batches."""

    def submit(self, server: Server, orders: Sequence[Order], mark: str) -> str:
        """Send questions; give the name of the batch. It is opened by one try: a second could open
        another."""
        ...

    def find(self, server: Server, intent: Intent, known: Collection[str]) -> str:
        """Find the batch that was sent with an intent, among those not `known`; "" if there is
        none."""
        ...

    def look(self, server: Server, name: str) -> dict[str, Any]:
        """Ask how far a batch is."""
        ...

    def find_files(self, name: str, state: Mapping[str, Any]) -> list[str]:
        """Say where the results of a batch that has ended are."""
        ...

    def read_result(self, line: Mapping[str, Any]) -> Result:
        """Read a line of results."""
        ...


class OpenAiDesk:
    """A file of questions, and a batch that names it."""

    def submit(self, server: Server, orders: Sequence[Order], mark: str) -> str:
        """Upload the questions as lines of JSON, then open the batch."""
        url = "/v1/chat/completions"
        lines = [
            json.dumps({"custom_id": digest, "method": "POST", "url": url, "body": body}) + "\n"
            for digest, body in orders
        ]
        data = "".join(lines).encode()
        file = server.fetch("files", Upload("questions.jsonl", data, {"purpose": "batch"}))
        question = {"input_file_id": file["id"], "endpoint": url, "completion_window": "24h"}
        answer = server.ask_once("batches", question | {"metadata": {_MARK: mark}})
        return str(answer["id"])

    def find(self, server: Server, intent: Intent, known: Collection[str]) -> str:
        """Find it by the mark that went with it."""
        for batch in list_batches(server, "batches", "after"):
            if (batch.get("metadata") or {}).get(_MARK) == intent.mark:
                return str(batch["id"])
            if batch["created_at"] < intent.written_at - _CLOCKS_DIFFER_S:
                break  # the newest come first
        return ""

    def look(self, server: Server, name: str) -> dict[str, Any]:
        """Ask how far a batch is; one that could not be read at all has failed."""
        state = server.fetch(f"batches/{name}")
        if state["status"] == "failed":
            errors = (state.get("errors") or {}).get("data") or [{}]
            raise server.error(f"the batch failed ({describe_fault(errors[0])})", "ask again")
        return {**state, "is_done": state["status"] in _DONE}

    def find_files(self, name: str, state: Mapping[str, Any]) -> list[str]:
        """Answers and errors lie apart."""
        files = (state.get("output_file_id"), state.get("error_file_id"))
        return [f"files/{file}/content" for file in files if file]

    def read_result(self, line: Mapping[str, Any]) -> Result:
        """Read a response with its status, or an error without one."""
        digest, response = str(line["custom_id"]), line.get("response") or {}
        body, status = response.get("body"), response.get("status_code")
        if status == 200 and isinstance(body, dict):
            return Result(digest, body)
        said = describe_fault(line.get("error") or body or "no answer")
        return Result(digest, problem=f"the server says {status or ''}: {said}", status=status)


class AnthropicDesk:
    """Questions go with the batch."""

    def submit(self, server: Server, orders: Sequence[Order], mark: str) -> str:
        """Open the batch; it can carry no mark."""
        requests = [{"custom_id": digest, "params": body} for digest, body in orders]
        return str(server.ask_once("messages/batches", {"requests": requests})["id"])

    def find(self, server: Server, intent: Intent, known: Collection[str]) -> str:
        """Find it by its size and the time it was opened; one that has ended by its questions."""
        likely: dict[str, float] = {}
        for batch in list_batches(server, "messages/batches", "after_id"):
            opened_at = datetime.fromisoformat(batch["created_at"]).timestamp()
            apart_s = opened_at - intent.written_at
            if apart_s < -_CLOCKS_DIFFER_S:
                break  # the newest come first
            is_size = sum(batch["request_counts"].values()) == len(intent.digests)
            if is_size and batch["id"] not in known and apart_s < _CLOCKS_DIFFER_S:
                likely[batch["id"]] = abs(apart_s)
                if batch["processing_status"] in _DONE and not self._holds(server, batch, intent):
                    del likely[batch["id"]]
        return min(likely, key=likely.__getitem__, default="")

    def _holds(self, server: Server, batch: Mapping[str, Any], intent: Intent) -> bool:
        lines = read_again(server, *self.find_files(batch["id"], batch))
        return any(line["custom_id"] in intent.digests for line in islice(lines, 1))

    def look(self, server: Server, name: str) -> dict[str, Any]:
        """Ask how far a batch is."""
        state = server.fetch(f"messages/batches/{name}")
        return {**state, "is_done": state["processing_status"] in _DONE}

    def find_files(self, name: str, state: Mapping[str, Any]) -> list[str]:
        """At the place by its name: an address that the server tells could be another's."""
        return [f"messages/batches/{name}/results"]

    def read_result(self, line: Mapping[str, Any]) -> Result:
        """Read a message, or why there is none."""
        digest, result = str(line["custom_id"]), line["result"]
        if result["type"] == "succeeded":
            return Result(digest, result["message"])
        error = result.get("error") or {}
        kind = (error.get("error") or error).get("type", "")
        status = 400 if kind == "invalid_request_error" else None
        said = describe_fault(error.get("error") or error or str(result["type"]))
        return Result(digest, problem=f"the server says {result['type']}: {said}", status=status)


DESKS: Mapping[Style, Desk] = {"openai": OpenAiDesk(), "anthropic": AnthropicDesk()}


@dataclass(eq=False)
class BatchBackend(ServedBackend):
    """The same model by batches; answers are the same, and kept in the same journal."""

    _failures: Counter[str] = field(default_factory=Counter)

    def answer(self, feed: Feed) -> Iterator[Response]:
        """Send what no batch has yet, wait for all of them, and send again what failed."""
        waiting: dict[str, Question] = {}
        read: set[str] = set()
        while True:
            while (question := feed.take()) is not None:
                waiting[question.key] = question
            if not waiting:
                return
            yield from self._run_round(feed, waiting, read)

    def _run_round(
        self, feed: Feed, waiting: dict[str, Question], read: set[str]
    ) -> Iterator[Response]:
        """Send, wait and read; batches that were `read` have no more to say."""
        desk = DESKS[self.model.wire.style]
        self._find_unnoted(desk, feed.journal, waiting)
        batches = feed.journal.open_batches
        sent = {digest for name in batches if name not in read for digest in batches[name]}
        orders = [(d, self._spell(question)) for d, question in waiting.items() if d not in sent]
        for part in split_chunks(orders, _MOST_ORDERS):
            self._submit(desk, feed.journal, part)
        for name, digests in feed.journal.open_batches.items():
            wanted = set(digests) & set(waiting)
            if name in read or not wanted:
                continue
            read.add(name)
            for result in self._read_batch(desk, name, wanted):
                response = self._take_result(waiting[result.digest], result)
                if response is not None:
                    del waiting[result.digest]
                    feed.keep(response)
                    yield response
            # Where it has answers to questions that nobody asks now, they are read later.
            if all(digest in wanted or digest in feed.journal for digest in digests):
                feed.journal.end_batch(name)

    def _find_unnoted(self, desk: Desk, journal: Journal, waiting: Collection[str]) -> None:
        """Look for batches of which a run that was killed could not note whether it sent them."""
        for intent in journal.open_intents:
            if not any(digest in waiting for digest in intent.digests):
                continue
            if name := find_sent(desk, self.model.server, intent, journal.known_batches):
                journal.add_batch(name, intent.digests, intent.mark)
            else:
                journal.drop_intent(intent.mark)

    def _submit(self, desk: Desk, journal: Journal, orders: Sequence[Order]) -> None:
        """Send a batch once, however often the server has to be asked."""
        server = self.model.server
        intent = journal.add_intent(tuple(digest for digest, _ in orders))
        name = ""
        for tries in count():
            try:
                name = desk.submit(server, orders, intent.mark)
            except ServerError:
                journal.drop_intent(intent.mark)
                raise
            except TryAgain as failed:
                # What was sent may have been taken, though no answer came.
                if failed.is_sent and failed.status != _TOO_MANY:
                    name = find_sent(desk, server, intent, journal.known_batches)
                if not name and tries >= server.retries:
                    raise server.error(failed.problem, "run it again") from None
                wait_s = max(draw_wait(server.first_wait_s, tries), failed.wait_s or 0.0)
                time.sleep(0.0 if name else min(wait_s, LONGEST_HOLD_S))
            if name:
                journal.add_batch(name, intent.digests, intent.mark)
                return

    def _spell(self, question: Question) -> dict[str, Any]:
        return leave_out(spell_question(self.model, question), self.model.refused)

    def _read_batch(self, desk: Desk, name: str, digests: set[str]) -> Iterator[Result]:
        """Wait for a batch; give what it says of each question, also of those it left out."""
        server, left = self.model.server, set(digests)
        for path in desk.find_files(name, self._wait(desk, name)):
            for line in read_again(server, path):
                result = desk.read_result(line)
                if result.digest in left:
                    left.remove(result.digest)
                    yield result
        for digest in sorted(left):
            yield Result(digest, problem="the batch ended without an answer")

    def _wait(self, desk: Desk, name: str) -> dict[str, Any]:
        poll_s, begun = _FIRST_POLL_S, time.monotonic()
        while not (state := desk.look(self.model.server, name))["is_done"]:
            minutes = round((time.monotonic() - begun) / 60)
            watch.get().tell_detail(f"batch {name}: waiting for {count_text(minutes, 'minute')}")
            time.sleep(poll_s)
            poll_s = min(poll_s * 1.5, _LONGEST_POLL_S)
        return state

    def _take_result(self, question: Question, result: Result) -> Response | None:
        """Read what came of a question; None where it goes into the next batch."""
        problem = result.problem
        if result.answer is not None:
            try:
                return read_response(self.model, question, result.answer)
            except TryAgain as failed:
                problem = failed.problem
        if result.status in (400, 422):
            if name := find_refused(self._spell(question), problem):
                self.model.refused.add(name)
                return None
            try:
                return read_refusal(question, ServerError(problem))
            except ServerError:
                return Response(question.key, status="failed", problem=problem)
        self._failures[question.key] += 1
        if self._failures[question.key] <= self.model.server.retries:
            return None
        tries = f" after {self._failures.pop(question.key)} tries"
        return Response(question.key, status="failed", problem=problem + tries)


def find_sent(desk: Desk, server: Server, intent: Intent, known: Collection[str]) -> str:
    """Find the batch of an intent at the server; "" where it has none, or lists none as we know."""
    try:
        return desk.find(server, intent, known)
    except (KeyError, TypeError, ValueError, AttributeError):  # a list of another shape
        return ""
    except ServerError as error:
        if error.status in _NO_LIST:
            return ""
        raise


def list_batches(server: Server, path: str, after: str) -> Iterator[dict[str, Any]]:
    """Go through a server's batches, page by page; `after` is what it calls the last one seen."""
    page = server.fetch(f"{path}?limit={_PAGE}")
    while batches := page.get("data"):
        yield from batches
        if not page.get("has_more"):
            return
        page = server.fetch(f"{path}?limit={_PAGE}&{after}={quote(str(batches[-1]['id']))}")


def read_again(server: Server, path: str) -> Iterator[dict[str, Any]]:
    """Go through the lines of a file; from its beginning where the connection broke."""
    for tries in count():
        try:
            yield from _read_objects(server, path)
            return
        except TryAgain as failed:
            if tries >= server.retries:
                raise server.error(failed.problem, "run it again: nothing is asked twice") from None
            time.sleep(draw_wait(server.first_wait_s, tries))


def _read_objects(server: Server, path: str) -> Iterator[dict[str, Any]]:
    connection = Connection(server.open_plain(path))
    try:
        with server.name_faults():
            # The last line may have no end.
            for line in read_lines(chain(connection.read_pieces(), [b"\n"]), _LONGEST_LINE):
                if line.strip():
                    yield server.read(line)
    finally:
        connection.close()
