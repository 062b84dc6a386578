"""`fabula serve` as people start it: a process of its own that is killed and started again."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# Machines that test are busy.
WITHIN_S = 60.0
_LINK = re.compile(r"(http://\S+/account/link/\S+)")


@dataclass
class StudioProgram:
    """The studio's process: a database, a port, and what it prints."""

    database: str
    log: Path
    port: int = 0
    child: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, *words: str) -> None:
        """A command of Fabula's on the same database, to its end."""
        command = [sys.executable, "-m", "fabula", *words]
        subprocess.run(command, env=self._environment(), check=True, capture_output=True)

    def start(self) -> None:
        """Start it at the port it had, and wait until it answers."""
        if not self.port:
            with socket.socket() as found:
                found.bind(("127.0.0.1", 0))
                self.port = found.getsockname()[1]
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(
                [sys.executable, "-m", "fabula", "serve", "--port", str(self.port)],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + WITHIN_S
        while time.monotonic() < until:
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/healthz", timeout=2):
                return
            assert self.child.poll() is None, self.log.read_text()
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def kill(self) -> None:
        """As a power cut does: at once, whatever it is at. The worker beside it ends with it."""
        assert self.child is not None
        self.child.kill()
        self.child.wait()

    def end(self) -> None:
        """In good order, if it still runs."""
        if self.child is not None and self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()

    def find_link(self) -> str:
        """The link that makes the first admin, as it was printed."""
        found = _LINK.search(self.log.read_text())
        assert found, self.log.read_text()
        return found[1]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "FABULA_DATABASE_URL": self.database, "PYTHONUNBUFFERED": "1"}
