"""An object store that speaks S3 (moto's server), and a proxy before it that lets requests fail.

Of every ten requests that pass, the proxy throttles one (503 SlowDown), fails one (500), cuts the
line in the middle of an answer, or before any; `faults` counts what it did.
"""

from __future__ import annotations

import http.client
import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BUCKET = "stories"
# What happens to the requests of a round, in turn; others pass.
ROUND = {1: "throttled", 3: "failed", 6: "cut", 8: "refused"}
_ERROR = (
    '<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code>'
    "<Message>made up</Message></Error>"
)
_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}


class FaultyProxy(ThreadingHTTPServer):
    """Passes requests on to a port of this machine, with faults while `on`."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind, self.on = port, False
        self.faults: Counter[str] = Counter()
        self.numbers = itertools.count()

    def next_fault(self) -> str:
        fault = ROUND.get(next(self.numbers) % 10, "") if self.on else ""
        self.faults[fault or "passed"] += 1
        return fault

    def handle_error(self, request: object, client_address: object) -> None:
        """Lines that are cut are what this is for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultyProxy

    def pass_on(self) -> None:
        body = self._read_body()
        fault = self.server.next_fault()
        if fault == "refused":
            self._cut()
        elif fault == "throttled":
            self._answer(503, {}, _ERROR.format(code="SlowDown").encode())
        elif fault == "failed":
            self._answer(500, {}, _ERROR.format(code="InternalError").encode())
        else:
            status, headers, answer = self._ask(body)
            self._answer(status, headers, answer, cut=fault == "cut")

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = pass_on

    def _read_body(self) -> bytes:
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(100)
            self.end_headers()
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _ask(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.server.behind, timeout=30)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in (*_HOP, "expect")}
        line.request(self.command, self.path, body, headers)
        answer = line.getresponse()
        data = answer.read()
        headers = {k: v for k, v in answer.getheaders() if k.lower() not in _HOP}
        if self.command == "HEAD":
            headers["Content-Length"] = answer.getheader("Content-Length", "0")
        line.close()
        return answer.status, headers, data

    def _answer(
        self, status: int, headers: dict[str, str], data: bytes, *, cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            self._cut()

    def _cut(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serve_objects() -> Iterator[FaultyProxy]:
    """Start moto's server and the proxy; requests through `address(proxy)` reach a bucket."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    order = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "moto.server",
        "-H",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    server = subprocess.Popen(
        order, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ}
    )
    proxy = FaultyProxy(port)
    try:
        _wait_for(port)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        line = http.client.HTTPConnection("127.0.0.1", port)
        line.request("PUT", f"/{BUCKET}", headers=_sign())
        assert line.getresponse().status == 200
        line.close()
        yield proxy
    finally:
        proxy.shutdown()
        proxy.server_close()
        server.kill()
        server.wait()


def _sign() -> dict[str, str]:
    """Say in what form a request is for S3; moto does not look at the signature."""
    credential = "AKIA/20260101/us-east-1/s3/aws4_request"
    return {"Authorization": f"AWS4-HMAC-SHA256 Credential={credential}, Signature=0"}


def _wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as line:
            if line.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError("moto's server did not start")


def describe_store(proxy: FaultyProxy) -> dict[str, str]:
    """Give the environment in which s3:// leads to the proxy."""
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{proxy.server_port}",
        "AWS_ACCESS_KEY_ID": "made",
        "AWS_SECRET_ACCESS_KEY": "up",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
