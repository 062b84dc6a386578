"""A server on this machine that answers as OpenAI's do, or as badly as a test wants."""

from __future__ import annotations

import json
import threading
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
    return str(body["messages"][0]["content"]) if "messages" in body else str(body["prompt"])
