"""A co-author of another package, whose doings the text before the cursor asks for.

`plug_in` writes what an installed package leaves behind, so that a worker in a process of its own
finds it as it finds any plug-in: `scripted(pause_s=0.01)`.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabula.core.author import Context, Piece, Request, SeenSegment
from fabula.core.errors import UserError

WORDS = ("One ", "two ", "three ", "four.")


class ScriptedAuthor:
    """Writes four words a request, side by side; does what a text says."""

    def __init__(self, pause_s: float, needs: str) -> None:
        self.pause_s, self.needs = pause_s, needs
        self.signature = "scripted|v1"

    def startup(self) -> None:
        if self.needs and not Path(self.needs).exists():
            raise UserError(f"{Path(self.needs).name} is missing", "put it there")

    def shutdown(self) -> None:
        pass

    def preprocess(self, context: Context) -> None:
        if context.text.startswith("/"):
            Path(context.text).write_text(context.story, encoding="utf-8")

    def generate(self, requests: Sequence[Request]) -> Iterator[Piece]:
        for request in requests:
            _obey(request.context.text)
        open_requests = list(requests)
        for number, word in enumerate(WORDS):
            time.sleep(self.pause_s)
            for request in list(open_requests):
                if request.is_cancelled():
                    open_requests.remove(request)
                    yield Piece(request.id, "", status="cancelled")
                    continue
                seen = (SeenSegment("prompt", request.context.text, 1, 1),)
                is_last = number == len(WORDS) - 1
                refuses = request.context.text == "refuse" and is_last
                status = ("failed" if refuses else "done") if is_last else ""
                yield Piece(
                    request.id,
                    word,
                    status=status,
                    problem="it would rather not" if refuses else "",
                    tokens=1,
                    seen=seen if number == 0 else (),
                )


def _obey(text: str) -> None:
    """`crash` ends the process; `crash once FILE` does so unless the file is there."""
    word, _, file = text.partition(" once ")
    if file:
        if Path(file).exists():
            return
        Path(file).write_text("", encoding="utf-8")
    if word == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "memory":
        raise MemoryError
    if word == "error":
        raise RuntimeError("a secret of the machine")
    if word == "hang":
        time.sleep(60)


def load(pause_s: float = 0.0, needs: str = "") -> ScriptedAuthor:
    """Make the co-author; `needs` is a file without which it cannot start."""
    return ScriptedAuthor(pause_s, needs)


def plug_in(folder: Path) -> Path:
    """Leave in a folder what an installer leaves: the entry point of this module."""
    record = folder / "scripted_author-1.0.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: scripted-author\nVersion: 1.0\n", encoding="utf-8"
    )
    (record / "entry_points.txt").write_text(
        "[fabula.authors]\nscripted = fakes.scripted_author\n", encoding="utf-8"
    )
    return folder
