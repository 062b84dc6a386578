"""A co-author offered by STORIUM's model protocol on this machine, over real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import uvicorn

from fabula.authors.serving.app import ServingSettings, create_app
from fabula.authors.serving.batches import BatchSettings, BatchWriter
from fabula.core.author import Author


@dataclass
class Served:
    """Where it listens, and who writes."""

    url: str
    writer: BatchWriter

    def post(
        self, path: str, body: Any, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Post JSON, or bytes as they are; give the status and the answer."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = Request(f"{self.url}/{path}", data, headers or {}, method="POST")
        try:
            with urlopen(request, timeout=20) as response:
                return response.status, json.loads(response.read())
        except HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"null")


@contextmanager
def serve(
    author: Author,
    settings: ServingSettings | None = None,
    batches: BatchSettings | None = None,
) -> Iterator[Served]:
    """Serve a co-author for a while, at a port that is free."""
    writer = BatchWriter(author, batches)
    writer.start()
    app = create_app(writer, settings)
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Served(f"http://127.0.0.1:{port}", writer)
    finally:
        server.should_exit = True
        thread.join()
