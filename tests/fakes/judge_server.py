"""A server that answers questions as the worst of them do: throttled, late, cut off, in nonsense.

It speaks both protocols, batches included, and keeps exact books: who asked what how often, what
was delivered, and what it bills. Questions name their number (`story 17`); `plan` says what happens
to a number at its first, second … try.
"""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Plan = Callable[[int, int], str]

# What a fault says in the place of a number; the others are no answers at all.
TEXTS = {
    "": "4",
    "late": "4",
    "nonsense": "Purple, mostly.",
    "wrong number": "17",
    "language": "Vier von fünf Punkten.",
    "refusal": "I can't help with that.",
    "cut": "Let me think about",
}
TRANSIENT = ("drop", "half", "500", "empty", "shape")
RIVALS = {"4": -0.5, " 4": -3.0, "5": -1.5, "3": -2.0, "The": -4.0}


def answer_soundly(number: int, nth: int) -> str:
    """Nothing goes wrong."""
    return ""


def spoil(number: int, nth: int) -> str:
    """Something goes wrong with three in ten: half of that passes, half is what the model says."""
    faults = (*TRANSIENT, "late", "nonsense", "wrong number", "language", "refusal")
    fault = faults[(number // 10 + number % 10 * 3) % len(faults)] if number % 10 < 3 else ""
    return "" if fault in (*TRANSIENT, "late") and nth > 1 else fault


class JudgeServer:
    """Listens on this machine until it is closed.

    `per_second` is how many requests it takes, by a bucket that holds a second's worth; it tells
    who has to wait how long, unless `tells_wait` is off. With `tells_room` every answer says how
    much is left of the bucket and when it is full, as OpenAI's servers do.
    """

    def __init__(
        self,
        plan: Plan = answer_soundly,
        *,
        per_second: float | None = None,
        latency_s: tuple[float, float] = (0.0, 0.01),
        late_s: float = 0.5,
        tells_wait: bool = True,
        tells_room: bool = False,
    ) -> None:
        self.plan, self.per_second, self.tells_wait = plan, per_second, tells_wait
        self.tells_room = tells_room
        self.latency_s, self.late_s = latency_s, late_s
        self.asked: Counter[int] = Counter()
        self.delivered: Counter[int] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.taken_at: list[float] = []
        self.turned_away = self.tokens_in = self.tokens_out = 0
        self.refused_options: tuple[str, ...] = ()
        self.error: tuple[int, str] | None = None  # instead of any answer
        self.files: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.polls_needed = 2
        self.lost_batches = 0  # so many are opened, and nobody is told
        self.lists_batches = True
        self._level, self._filled_at = per_second or 0.0, time.monotonic()
        self._lock = threading.Lock()
        self._httpd = _Httpd(("127.0.0.1", 0), _Handler)
        self._httpd.desk = self
        self.url = f"http://127.0.0.1:{self._httpd.server_port}/v1"
        self._thread = threading.Thread(target=self._httpd.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        """Stop; what is being answered is let go."""
        self._httpd.shutdown()
        self._thread.join()
        self._httpd.server_close()

    def take(self) -> float:
        """Take a request: 0, or how many seconds there is no room for it."""
        with self._lock:
            now = time.monotonic()
            if self.per_second:
                filled = self._level + (now - self._filled_at) * self.per_second
                self._level, self._filled_at = min(filled, self.per_second), now
                if self._level < 1:
                    self.turned_away += 1
                    return (1 - self._level) / self.per_second
                self._level -= 1
            self.taken_at.append(now)
            return 0.0

    def describe_room(self) -> dict[str, str]:
        """Say in headers how much is left."""
        if not (self.tells_room and self.per_second):
            return {}
        with self._lock:
            reset_s = (self.per_second - self._level) / self.per_second
            return {
                "x-ratelimit-limit-requests": f"{self.per_second:g}",
                "x-ratelimit-remaining-requests": f"{int(self._level)}",
                "x-ratelimit-reset-requests": f"{reset_s * 1000:.0f}ms",
            }

    def note(self, body: dict[str, Any]) -> tuple[int, str]:
        """Note a question; give its number and what is to happen."""
        number = int(re.findall(r"story (\d+)", json.dumps(body))[-1])
        with self._lock:
            self.bodies.append(body)
            self.asked[number] += 1
            return number, self.plan(number, self.asked[number])

    def bill(self, number: int, usage: tuple[int, int]) -> None:
        """Put a delivered answer on the bill."""
        with self._lock:
            self.delivered[number] += 1
            self.tokens_in += usage[0]
            self.tokens_out += usage[1]


class _Httpd(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    desk: JudgeServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that went away are no error here."""


def count_usage(number: int, text: str) -> tuple[int, int]:
    """Tokens as this server counts them: some that depend on the number, and the words."""
    return 100 + number % 7, len(text.split())


def make_answer(body: dict[str, Any], number: int, fault: str) -> dict[str, Any]:
    """Spell an answer in the protocol that the question is in."""
    text = TEXTS[fault]
    read, written = count_usage(number, text)
    if "messages" in body and "anthropic" in str(body["model"]):
        reason = {"refusal": "refusal", "cut": "max_tokens"}.get(fault, "end_turn")
        return {
            "model": f"{body['model']}-2026",
            "content": [{"type": "text", "text": text}],
            "stop_reason": reason,
            "usage": {"input_tokens": read, "output_tokens": written},
        }
    message = {"role": "assistant", "content": text}
    if fault == "refusal":
        message = {"role": "assistant", "content": None, "refusal": text}  # type: ignore[dict-item]
    choice: dict[str, Any] = {
        "message": message,
        "finish_reason": "length" if fault == "cut" else "stop",
    }
    if body.get("logprobs"):
        rivals = [{"token": token, "logprob": log} for token, log in RIVALS.items()]
        choice["logprobs"] = {
            "content": [{"token": text, "logprob": -0.5, "bytes": list(text.encode()),
                         "top_logprobs": rivals}]
        }  # fmt: skip
    usage = {"prompt_tokens": read, "completion_tokens": written}
    return {"model": f"{body['model']}-2026", "choices": [choice], "usage": usage}


class _Handler(BaseHTTPRequestHandler):
    server: _Httpd

    def do_POST(self) -> None:
        desk = self.server.desk
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.endswith("/files"):
            self.give(200, store_file(desk, raw))
        elif self.path.endswith("/batches"):
            opened = open_batch(desk, json.loads(raw), self.path)
            if desk.lost_batches:
                desk.lost_batches -= 1
                self.close_connection = True
            else:
                self.give(200, opened)
        elif wait_s := desk.take():
            headers = {"Retry-After": f"{wait_s:.3f}"} if desk.tells_wait else {}
            self.give(429, {"error": {"message": "slow down"}}, headers)
        else:
            self.answer(json.loads(raw), desk.describe_room())

    def do_GET(self) -> None:
        desk = self.server.desk
        name = self.path.split("/v1/")[1]
        if name.partition("?")[0].endswith("batches"):
            status = 200 if desk.lists_batches else 404
            self.give(status, list_page(desk, name))
        elif name.endswith("/content"):
            self.give(200, desk.files[name.split("/")[1]].encode())
        elif name.endswith("/results"):
            self.give(200, desk.files[name.split("/")[-2]].encode())
        else:
            self.give(200, poll_batch(desk, name.split("/")[-1]))

    def answer(self, body: dict[str, Any], headers: dict[str, str]) -> None:
        desk = self.server.desk
        if desk.error:
            self.give(desk.error[0], {"error": {"message": desk.error[1]}})
            return
        if refused := next((name for name in desk.refused_options if name in body), ""):
            self.give(400, {"error": {"message": f"Unsupported parameter: {refused}"}})
            return
        number, fault = desk.note(body)
        time.sleep(random.uniform(*desk.latency_s))
        time.sleep(desk.late_s if fault == "late" else 0)
        if fault in TRANSIENT:
            self.fail(fault, body, number)
            return
        desk.bill(number, count_usage(number, TEXTS[fault]))
        self.give(200, make_answer(body, number, fault), headers)

    def fail(self, fault: str, body: dict[str, Any], number: int) -> None:
        if fault == "500":
            self.give(500, b"<h1>oh no</h1>")
        elif fault == "empty":
            self.give(200, b"")
        elif fault == "shape":
            self.give(200, {"choices": [], "content": None})
        elif fault == "half":
            data = json.dumps(make_answer(body, number, "")).encode()
            self.give(200, data[: len(data) // 2])
        else:  # the connection is closed without a word
            self.close_connection = True

    def give(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for key, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *args: Any) -> None:
        pass


def store_file(server: JudgeServer, raw: bytes) -> dict[str, Any]:
    """Keep the file of an upload with fields."""
    assert b'name="purpose"\r\n\r\nbatch' in raw
    name = f"file-{len(server.files)}"
    server.files[name] = (
        raw.split(b'filename="')[1].split(b"\r\n\r\n", 1)[1].split(b"\r\n--")[0].decode()
    )
    return {"id": name, "purpose": "batch"}


def open_batch(server: JudgeServer, body: dict[str, Any], path: str) -> dict[str, Any]:
    """Take a batch, and answer all of it at once; it is told when it was polled often enough."""
    name = f"batch-{len(server.batches)}"
    is_anthropic = path.endswith("/messages/batches")
    if is_anthropic:
        orders = [(line["custom_id"], line["params"]) for line in body["requests"]]
    else:
        assert (body["endpoint"], body["completion_window"]) == ("/v1/chat/completions", "24h")
        lines = [json.loads(line) for line in server.files[body["input_file_id"]].splitlines()]
        orders = [(line["custom_id"], line["body"]) for line in lines]
    random.shuffle(orders)
    results = [_answer_order(server, name, order, is_anthropic) for name, order in orders]
    server.files[name] = "\n".join(json.dumps(result) for result in results) + "\n"
    server.batches[name] = {
        "polls": 0,
        "is_anthropic": is_anthropic,
        "metadata": body.get("metadata"),
        "count": len(orders),
        "at": time.time(),
    }
    return poll_batch(server, name)


def list_page(server: JudgeServer, query: str) -> dict[str, Any]:
    """List the batches, newest first, two on a page."""
    names = list(server.batches)[::-1]
    last = re.search(r"after(?:_id)?=([\w-]+)", query)
    names = names[names.index(last[1]) + 1 :] if last else names
    data = []
    for name in names[:2]:
        batch = server.batches[name]
        at: Any = batch["at"]
        if batch["is_anthropic"]:
            at = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
        counts = {"processing": batch["count"], "succeeded": 0}
        state = "ended" if batch["polls"] > server.polls_needed else "in_progress"
        told = {"id": name, "created_at": at, "request_counts": counts}
        data.append({**told, "processing_status": state, "metadata": batch["metadata"]})
    return {"data": data, "has_more": len(names) > 2}


def _answer_order(
    server: JudgeServer, name: str, body: dict[str, Any], is_anthropic: bool
) -> dict[str, Any]:
    number, fault = server.note(body)
    if fault in TRANSIENT:
        error = {"type": "error", "error": {"type": "api_error", "message": "overloaded"}}
        if is_anthropic:
            return {"custom_id": name, "result": {"type": "errored", "error": error}}
        return {"custom_id": name, "response": {"status_code": 500, "body": error}, "error": None}
    answer = make_answer(body, number, fault)
    server.bill(number, count_usage(number, TEXTS[fault]))
    if is_anthropic:
        return {"custom_id": name, "result": {"type": "succeeded", "message": answer}}
    return {"custom_id": name, "response": {"status_code": 200, "body": answer}, "error": None}


def poll_batch(server: JudgeServer, name: str) -> dict[str, Any]:
    """Say how far a batch is."""
    batch = server.batches[name]
    batch["polls"] += 1
    is_done = batch["polls"] > server.polls_needed
    if batch["is_anthropic"]:
        results = f"{server.url}/messages/batches/{name}/results" if is_done else None
        state = "ended" if is_done else "in_progress"
        return {"id": name, "processing_status": state, "results_url": results}
    state = "completed" if is_done else "in_progress"
    return {"id": name, "status": state, "output_file_id": name if is_done else None}
