"""One command that is a whole studio: the web processes, and a worker beside them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from fabula.web.health import SHARED_FOLDER
from fabula.web.security import is_loopback

_END_WITHIN_S = 10.0
_MOST_PAUSE_S = 30.0
# Tenths of a second that a studio may take to start.
_TRIES = 600


def is_open_to_others(host: str) -> bool:
    """Whether other machines can reach it."""
    return not is_loopback(host)


def serve(host: str, port: int, *, workers: int = 1) -> None:
    """Answer requests until somebody ends it; the environment says which studio and how."""
    # The command line ends a process soon after Ctrl-C; here requests are answered to their end.
    signal.set_wakeup_fd(-1)
    with tempfile.TemporaryDirectory(prefix="fabula-metrics-") as folder:
        if workers > 1:
            os.environ[SHARED_FOLDER] = folder
        uvicorn.run(
            "fabula.web.app:make_app",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            log_level="warning",
            access_log=False,
            server_header=False,
            # Whose `X-Forwarded-*` are believed is a setting of ours.
            proxy_headers=False,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=int(_END_WITHIN_S),
        )


def serve_app(app: ASGIApp, host: str, port: int) -> None:
    """Answer requests to one app, in this process, until somebody ends it."""
    signal.set_wakeup_fd(-1)
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )


def open_browser(url: str) -> None:
    """Open a browser once the studio answers there."""

    def wait_and_open() -> None:
        parts = urlsplit(url)
        for _ in range(_TRIES):
            try:
                socket.create_connection((parts.hostname, parts.port or 80), 1).close()
            except OSError:
                time.sleep(0.1)
            else:
                webbrowser.open(url)
                return

    threading.Thread(target=wait_and_open, daemon=True).start()


class WorkerBeside:
    """A worker in a process of its own, started again when it ends by itself."""

    def __init__(self, *words: str) -> None:
        self._command = [sys.executable, "-m", "fabula", "worker", "--tied", *words]
        self._over = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._watcher.start()

    def end(self) -> None:
        """Let it finish what it can in ten seconds."""
        self._over.set()
        child = self._child
        if child and child.poll() is None:
            child.terminate()
        self._watcher.join(_END_WITHIN_S)
        if child and child.poll() is None:
            child.kill()
            child.wait()

    def _watch(self) -> None:
        pause_s = 1.0
        while not self._over.is_set():
            # A session of its own: Ctrl-C is for us, and we tell it. What it reads ends with us,
            # however that comes about, and so does the worker.
            with subprocess.Popen(
                self._command, stdin=subprocess.PIPE, start_new_session=True
            ) as self._child:
                self._child.wait()
            if self._over.wait(pause_s):
                return
            pause_s = min(2 * pause_s, _MOST_PAUSE_S)


@contextmanager
def work_beside(*words: str, is_wanted: bool = True) -> Iterator[None]:
    """Have a worker for as long as this lasts; SIGTERM ends both in good order."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, leave)
    worker = WorkerBeside(*words)
    try:
        if is_wanted:
            worker.start()
        yield
    finally:
        if is_wanted:
            worker.end()
