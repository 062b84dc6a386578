"""A server on this machine that answers as OpenAI's or Anthropic's do, or as badly as one wants."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def chat(text: str) -> dict[str, Any]:
    """An answer as OpenAI's servers give it."""
    usage = {"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200}
    message = {"role": "assistant", "content": text}
    return {"id": "1", "choices": [{"index": 0, "message": message}], "usage": usage}


class Shop:
    """A server on this machine; `plan` says how it answers, question by question."""

    def __init__(self) -> None:
        self.plan: list[Any] = []
        self.heard: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        shop = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(size))
                shop.heard.append({"path": self.path, **body})
                shop.headers.append(dict(self.headers))
                answer = shop.plan.pop(0) if shop.plan else chat(f"re: {_said(body)}")
                shop.give(self, answer)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def give(self, handler: BaseHTTPRequestHandler, answer: Any) -> None:
        if callable(answer):
            answer(handler)
            return
        status, headers, body = answer if isinstance(answer, tuple) else (200, {}, answer)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        for key, value in {"Content-Length": str(len(data)), **headers}.items():
            handler.send_header(key, value)
        handler.end_headers()
        handler.wfile.write(data)

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def _said(body: dict[str, Any]) -> str:
    return str(body["messages"][0]["content"]) if "messages" in body else str(body.get("prompt"))


def message(text: str, **other: Any) -> dict[str, Any]:
    """An answer as Anthropic's servers give it."""
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
    usage = {"input_tokens": 1000, "output_tokens": 200}
    return {"id": "1", "content": blocks, "stop_reason": "end_turn", "usage": usage} | other


def openai_events(pieces: Iterable[str], ending: str | None = "stop") -> list[str]:
    """The events of a streamed answer as OpenAI's servers send them."""
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}], "usage": None},
        *({"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces),
        {"choices": [{"index": 0, "delta": {}, "finish_reason": ending}]},
        {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 200}},
    ]
    return [*(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]


def anthropic_events(pieces: Iterable[str], ending: str = "end_turn") -> list[str]:
    """The events of a streamed answer as Anthropic's servers send them."""
    usage = {"input_tokens": 1000, "output_tokens": 1}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "1", "content": [], "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": p}}
            for p in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": ending},
            "usage": {"output_tokens": 200},
        },
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


class Streaming:
    """An answer that sends events one by one, and notes what became of it."""

    def __init__(self, events: Iterable[str], *, pause_s: float = 0.0, drops: bool = False) -> None:
        self.events, self.pause_s, self.drops = events, pause_s, drops
        self.sent = 0
        self.was_cut = threading.Event()

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.close_connection = True
        try:
            for event in self.events:
                data = event.encode() if isinstance(event, str) else event
                handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                handler.wfile.flush()
                self.sent += 1
                time.sleep(self.pause_s)
            if not self.drops:
                handler.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.was_cut.set()
