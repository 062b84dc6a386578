"""Run folders below a folder: those that are done, those being written, and those that broke."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from fabula.core.errors import UserError
from fabula.core.machine import is_alive
from fabula.core.score import Summary
from fabula.core.table import SCORES, parse_score
from fabula.scoring.folder import BEGUN, LOCK, RUN, load_record
from fabula.scoring.shards.parts import HIDDEN, Part
from fabula.scoring.shards.worker import read_mark

State = Literal["finished", "going", "stopped", "broken"]
# Folders of runs lie near the top; a walk through a whole disk ends here.
_MOST_DEPTH, _MOST_FOLDERS = 5, 20_000
_SKIPPED = {"node_modules", "__pycache__", "site-packages"}


@dataclass(frozen=True)
class FoundRun:
    """A run as the list shows it: what of `record` (run.json) is there, and what is going on.

    `name` is its path below the folder that was looked through. A run to which metrics are being
    added has a record and is `going`.
    """

    name: str
    path: Path
    state: State
    record: dict[str, Any] | None = None
    begun: dict[str, Any] | None = None
    partial: Path | None = None
    problem: str = ""

    @property
    def input(self) -> str:
        """What was scored, by its name."""
        told: dict[str, Any] = self.record["input"] if self.record else self.begun or {}
        return str(told.get("path") or told.get("input", ""))

    @property
    def stories(self) -> int | None:
        """How many stories there are, where that is known."""
        if self.record:
            return int(self.record["input"]["stories"])
        return self.begun.get("stories") if self.begun else None

    @property
    def metrics(self) -> list[str]:
        """Specs of its metrics, those being added last."""
        done = [str(entry["spec"]) for entry in self.record["metrics"]] if self.record else []
        new = [str(spec) for spec in (self.begun or {}).get("metrics", ())]
        return list(dict.fromkeys([*done, *new]))

    @property
    def systems(self) -> list[str]:
        """Names of its systems, in the order they came; none before it is done."""
        rows = self.record.get("summary", ()) if self.record else ()
        return list(dict.fromkeys(str(row["system"]) for row in rows))

    @property
    def moment(self) -> str:
        """When it ended, or began, as ISO 8601 has it."""
        if self.begun:
            return str(self.begun.get("started", ""))
        return str(self.record["finished"]) if self.record else ""


def find_runs(folder: Path) -> list[FoundRun]:
    """Find the runs in a folder and below it, the latest first."""
    runs = [run for path in _walk(folder) if (run := look_at(path, folder)) is not None]
    return sorted(runs, key=lambda run: (run.moment, run.name), reverse=True)


def _walk(folder: Path) -> Iterator[Path]:
    """Give the folder and those below it, near ones first; links are not followed."""
    level, count = [folder], 0
    for _ in range(_MOST_DEPTH):
        below: list[Path] = []
        for path in level:
            count += 1
            if count > _MOST_FOLDERS:
                return
            yield path
            below += _list_folders(path)
        level = below


def _list_folders(path: Path) -> list[Path]:
    try:
        with os.scandir(path) as entries:
            return sorted(
                Path(entry.path)
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and not entry.name.startswith(".")
                and entry.name not in _SKIPPED
            )
    except OSError:
        return []  # What one may not read holds no run that one could look at.


def look_at(path: Path, folder: Path) -> FoundRun | None:
    """See whether a run lies in a folder, and how it stands with it."""
    name = path.relative_to(folder).as_posix()
    partial = _find_partial(path)
    record, problem = None, ""
    if (path / RUN).is_file():
        try:
            record = load_record(path / RUN)
        except UserError as error:
            problem = str(error)
    begun = _read_begun(partial) if partial else None
    if partial and begun:
        state: State = "going" if _is_written(partial) else "stopped"
        if state == "going" or record is None:
            return FoundRun(name, path, state, record, begun, partial, problem)
    if record is not None:
        return FoundRun(name, path, "finished", record)
    return FoundRun(name, path, "broken", problem=problem) if problem else None


def _find_partial(path: Path) -> Path | None:
    """The hidden folder that was begun last."""
    try:
        found = [*path.glob(f".partial-*/{BEGUN}"), *path.glob(f"{HIDDEN}/{BEGUN}")]
        return max(found, key=lambda begun: begun.stat().st_mtime).parent if found else None
    except OSError:
        return None  # It was put in place meanwhile.


def _read_begun(partial: Path) -> dict[str, Any] | None:
    try:
        begun = json.loads((partial / BEGUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return begun if isinstance(begun, dict) else None


def _is_written(partial: Path) -> bool:
    """Whether whoever began it lives; of other machines nobody can tell, and they are believed."""
    if partial.name == HIDDEN:
        return _is_locked(partial.parent)
    node, _, rest = partial.name.removeprefix(".partial-").rpartition("-")[0].rpartition("-")
    return node != platform.node() or (rest.isdigit() and is_alive(int(rest)))


def _is_locked(folder: Path) -> bool:
    """Whether the driver of a run in shards lives, by the lock that it holds."""
    try:
        pid, _, node = (folder / LOCK).read_text(encoding="utf-8").partition(" on ")
    except OSError:
        return False
    return node != platform.node() or (pid.isdigit() and is_alive(int(pid)))


def open_follower(partial: Path) -> Follower | ShardFollower:
    """Give who follows the run that is being written to a hidden folder."""
    return ShardFollower(partial) if partial.name == HIDDEN else Follower(partial)


@dataclass
class ShardFollower:
    """Follows a run in shards that is being made: by the marks of the shards that are scored."""

    partial: Path
    summary: Summary = field(default_factory=Summary)
    stories: int = 0
    _seen: set[str] = field(default_factory=set)

    def look(self) -> None:
        """Take in the shards that were scored meanwhile."""
        for path in sorted(self.partial.glob("score-*.json")):
            if path.name in self._seen:
                continue
            try:
                part = Part.from_plain(read_mark(path.read_bytes()))
            except FileNotFoundError:
                return  # It is done, and they go.
            self._seen.add(path.name)
            self.stories += part.stories
            self.summary.merge(part.summarise())


@dataclass
class Follower:
    """Follows a run that is being written: reads what has come since it last looked."""

    partial: Path
    summary: Summary = field(default_factory=Summary)
    stories: int = 0
    _at: int = 0
    _latest: str = ""

    def look(self, most_bytes: int = 32 * 1024 * 1024) -> None:
        """Take in the scores that were written meanwhile; a half line waits for its other half."""
        try:
            with (self.partial / SCORES).open("rb") as file:
                self._take(file, most_bytes)
        except FileNotFoundError:
            return  # It is done, and lies elsewhere.

    def _take(self, file: IO[bytes], most_bytes: int) -> None:
        file.seek(self._at)
        chunk = file.read(most_bytes)
        whole = chunk[: chunk.rfind(b"\n") + 1]
        self._at += len(whole)
        for line in whole.splitlines():
            row = json.loads(line)
            if row["story"] != self._latest:
                self._latest = row["story"]
                self.stories += 1
            self.summary.add(row["system"], parse_score(row))
