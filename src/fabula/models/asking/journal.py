"""What was answered before, on disk: a line an answer, written when it comes.

A line is added in one write, so that several processes may share a journal and a killed one loses
no answer that it has had. A line that was cut off is passed over.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from threading import Lock
from typing import Any

from fabula.core.files import cache_home, unwritable
from fabula.models.asking.question import Response, Spot

# Failures are tried anew.
_LASTING = ("answered", "refused", "cut")
# A machine that loses its power may lose the answers of so long.
_SYNC_S = 1.0
_NO_NAME = re.compile(r"[^\w.-]+")


def journal_folder() -> Path:
    """Where answers are kept."""
    return cache_home() / "answers-v1"


def journal_path(signature: str, place: str = "") -> Path:
    """Name the journal of a model; `place` tells servers apart that call theirs alike."""
    name = _NO_NAME.sub("-", signature).strip("-")[:80]
    digest = hashlib.sha256(f"{signature}\0{place}".encode()).hexdigest()
    return journal_folder() / f"{name}-{digest[:12]}.jsonl"


def journal_size() -> int:
    """Bytes of all journals."""
    return sum(path.stat().st_size for path in _find_journals())


def clear_journals() -> int:
    """Forget every answer; give how many bytes that were."""
    size = journal_size()
    for path in _find_journals():
        path.unlink()
    return size


def _find_journals() -> list[Path]:
    return sorted(journal_folder().glob("*.jsonl"))


@dataclass(frozen=True)
class Intent:
    """A batch that was about to be sent, of which it is not known whether the server has it."""

    mark: str
    digests: tuple[str, ...]
    written_at: float


@dataclass(eq=False)
class Journal:
    """Answers by the digest of their question, and batches that a server has still in hand."""

    path: Path
    # Where each answer's line begins, its length, and how many tokens the answer had.
    _places: dict[str, tuple[int, int, int]] = field(default_factory=dict, repr=False)
    _batches: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    _intents: dict[str, Intent] = field(default_factory=dict, repr=False)
    _known_batches: set[str] = field(default_factory=set, repr=False)
    _read_up_to: int = 0
    _synced_at: float = 0.0
    _lock: Any = field(default_factory=Lock, repr=False)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, digest: str) -> bool:
        return digest in self._places

    @property
    def mean_written(self) -> float | None:
        """How many tokens answers had on average, where that was counted."""
        counts = [written for _, _, written in self._places.values() if written]
        return sum(counts) / len(counts) if counts else None

    @property
    def open_batches(self) -> Mapping[str, tuple[str, ...]]:
        """Batches whose answers have not been read yet, with the digests of their questions."""
        return dict(self._batches)

    @property
    def open_intents(self) -> list[Intent]:
        """Batches that were to be sent, and were not noted as sent."""
        return list(self._intents.values())

    @property
    def known_batches(self) -> frozenset[str]:
        """Names of all batches that were ever sent."""
        return frozenset(self._known_batches)

    def refresh(self) -> None:
        """Take in what was added since the last look, by this process or another."""
        with self._lock, suppress(FileNotFoundError), self.path.open("rb") as file:
            file.seek(self._read_up_to)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._take_in(line, self._read_up_to)
                self._read_up_to += len(line)

    def _take_in(self, line: bytes, start: int) -> None:
        entry = _read_line(line)
        if "batch" in entry:
            self._batches[entry["batch"]] = tuple(entry["questions"])
            self._known_batches.add(entry["batch"])
            self._intents.pop(entry.get("mark", ""), None)
        elif "intent" in entry:
            mark = entry["intent"]
            self._intents[mark] = Intent(mark, tuple(entry["questions"]), entry["at"])
        elif "dropped" in entry:
            self._intents.pop(entry["dropped"], None)
        elif "ended" in entry:
            self._batches.pop(entry["ended"], None)
        elif "question" in entry:
            self._places[entry["question"]] = (start, len(line), entry.get("tokens_out") or 0)

    def find(self, digest: str) -> Response | None:
        """Give the answer to a question, by its digest, if there is one."""
        if (place := self._places.get(digest)) is None:
            return None
        with self.path.open("rb") as file:
            file.seek(place[0])
            entry = _read_line(file.read(place[1]))
        if entry.get("question") != digest:
            return None
        return _read_response(entry)

    def add(self, digest: str, response: Response) -> None:
        """Keep an answer; a failure is none."""
        if response.status in _LASTING:
            self._write({"question": digest, **_spell_response(response)})

    def add_intent(self, digests: tuple[str, ...]) -> Intent:
        """Keep that these questions will be sent now; it is on disk before they are."""
        mark = secrets.token_hex(8)
        self._write({"intent": mark, "questions": list(digests)}, is_synced=True)
        return self._intents[mark]

    def drop_intent(self, mark: str) -> None:
        """Keep that the server does not have them."""
        self._write({"dropped": mark})

    def add_batch(self, name: str, digests: tuple[str, ...], mark: str = "") -> None:
        """Keep that a server has these questions."""
        self._write({"batch": name, "questions": list(digests), "mark": mark}, is_synced=True)

    def end_batch(self, name: str) -> None:
        """Keep that a batch has been read."""
        self._write({"ended": name})

    def _write(self, entry: dict[str, Any], *, is_synced: bool = False) -> None:
        line = json.dumps({**entry, "at": round(time.time(), 3)}).encode("ascii") + b"\n"
        try:
            with self._lock:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                target = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
                try:
                    # After a line that was cut off, a new one.
                    is_cut = os.lseek(target, 0, os.SEEK_END) > 0 and _read_last(target) != b"\n"
                    os.write(target, b"\n" + line if is_cut else line)
                    self._take_in(line, os.lseek(target, 0, os.SEEK_CUR) - len(line))
                    if is_synced or time.monotonic() - self._synced_at > _SYNC_S:
                        os.fsync(target)
                        self._synced_at = time.monotonic()
                finally:
                    os.close(target)
        except OSError as error:
            raise unwritable(self.path, error) from error


def _read_last(target: int) -> bytes:
    os.lseek(target, -1, os.SEEK_END)
    return os.read(target, 1)


def _read_line(line: bytes) -> dict[str, Any]:
    """Read a line; what is none of ours holds nothing."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def _spell_response(response: Response) -> dict[str, Any]:
    usual = vars(Response(response.key))
    told = {name: value for name, value in vars(response).items() if value != usual[name]}
    if response.spots:
        told["spots"] = [[spot.start, spot.written, spot.probabilities] for spot in response.spots]
    return told


def _read_response(entry: Mapping[str, Any]) -> Response:
    spots = tuple(Spot(*spot) for spot in entry.get("spots", ()))
    told = {each.name: entry[each.name] for each in fields(Response) if each.name in entry}
    return Response(**{**told, "key": "", "spots": spots, "is_recalled": True})
