"""A walk through a studio: from an empty folder to what an author kept of a machine's words.

    python examples/studio.py

Makes a studio with three sample games, opens it as `fabula serve` does, and is an author over HTTP:
opens drafts, asks for suggestions, keeps some of them, publishes, rates. Then it exports what was
written and lets `fabula meta` say how far the metrics agree with the author. The co-author is
`lorem`, which writes at once and without meaning; with `embedded` in its place a model writes.
Everything happens in a folder that is gone afterwards.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import chdir
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

FABULA = (sys.executable, "-m", "fabula")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        os.environ["FABULA_DATABASE_URL"] = f"sqlite:///{Path(folder, 'studio.sqlite')}"
        run("studio", "migrate")
        run("studio", "machine", "add", "lorem", "lorem")
        run("studio", "user", "add", "ada")
        games = run("studio", "samples", "--user", "ada").splitlines()
        secret = run(
            "studio", "token", "make", "ada", "walk", shown="the secret of a token"
        ).strip()
        with socket.socket() as trial:
            trial.bind(("127.0.0.1", 0))
            port = trial.getsockname()[1]
        server = open_studio(port)
        try:
            author = Author(f"http://127.0.0.1:{port}", secret)
            for kept in (0.0, 0.3, 0.6, 1.0):
                write_entry(author, games[0].split("\t")[0], kept)
        finally:
            server.terminate()
            server.wait()
        run("studio", "export", "-o", "written")
        run("meta", "written", "--level", "pooled", "-m", "user*", "--quiet")


def run(*words: str, shown: str = "") -> str:
    """Run a command of Fabula's as one would type it, and give what it prints."""
    print(f"$ fabula {' '.join(words)}", flush=True)
    done = subprocess.run([*FABULA, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    if said := shown or (done.stdout or done.stderr).strip():
        print(said, flush=True)
    return done.stdout


def open_studio(port: int) -> subprocess.Popen[bytes]:
    """Start the studio, web and worker, and wait until it is ready."""
    print(f"$ fabula serve --port {port}", flush=True)
    server = subprocess.Popen([*FABULA, "serve", "--port", str(port)], stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10):
                return server
        except URLError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    server.kill()
    sys.exit("the studio did not open")


class Author:
    """Somebody's program: requests with a personal token."""

    def __init__(self, home: str, secret: str) -> None:
        self.home, self.secret, self.keys = home, secret, 0

    def ask(self, method: str, path: str, **body: Any) -> Any:
        request = Request(f"{self.home}/api/v1{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.secret}")
        request.add_header("Content-Type", "application/json")
        data = json.dumps(body).encode() if body else None
        with urlopen(request, data=data, timeout=30) as answer:
            return json.load(answer)

    def key(self) -> str:
        """What is created takes a key: sent again with the same, it is the same thing."""
        self.keys += 1
        return f"walk-{self.keys}"


def write_entry(author: Author, game_id: str, kept: float) -> None:
    """Write an entry with the co-author, and keep so much of what it wrote."""
    # The same key for all: the first makes the scene, the others are given it.
    scene = author.ask("POST", f"/games/{game_id}/scenes", key="walk", title="Low water")
    where = {"game_id": game_id, "scene_id": scene["id"], "format": "addition"}
    draft = author.ask("POST", "/drafts", key=author.key(), **where)
    begin = "Nobody had expected the tide to turn so soon. "
    path = f"/drafts/{draft['id']}"
    edit = {"start": 0, "stop": 0, "inserted": begin}
    author.ask("POST", f"{path}/save", key=author.key(), base_version=0, edits=[edit])

    wanted = {"key": author.key(), "wanted": "words=20-40", "seed": author.keys}
    suggestion = author.ask("POST", f"{path}/suggestions", **wanted)
    while suggestion["status"] in ("pending", "executing"):
        time.sleep(0.1)
        suggestion = author.ask("GET", f"/suggestions/{suggestion['id']}")
    text = suggestion["generated"]

    # The suggestion goes in as the machine's; what the author then changes is the author's.
    at, cut = len(begin), round(kept * len(text))
    edits = [
        {
            "start": at,
            "stop": at,
            "inserted": text,
            "source": "machine",
            "suggestion_id": suggestion["id"],
        },
        {"start": at + cut, "stop": at + len(text), "inserted": " So she waited on the stairs."},
    ]
    author.ask("POST", f"{path}/save", key=author.key(), base_version=1, edits=edits)
    published = author.ask("POST", f"{path}/publish", version=2)
    opinion = {"relevance": 1 + round(4 * kept), "likability": 2 + round(2 * kept)}
    author.ask("PUT", f"/suggestions/{suggestion['id']}/ratings", ratings=opinion)
    user = next(
        score["value"]
        for score in published["scores"]
        if score["scorer"].startswith("user") and score["aspect"] == "f"
    )
    print(
        f"entry {published['seq_id']}: {len(text.split())} words of the machine's, "
        f"{kept:.0%} kept; USER F {user:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
