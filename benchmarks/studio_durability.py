"""Whether a studio keeps what it has answered: kill -9, again and again, while people write.

    python benchmarks/studio_durability.py                     # 200 kills of each database
    python benchmarks/studio_durability.py --database sqlite --kills 10

The real `fabula serve` and `fabula worker` run on 127.0.0.1 with the co-author `lorem`. Authors
open drafts, save, ask for suggestions and publish; what breaks they send again with the same key,
and what is answered they write down. Server or worker is killed and started again; backups are
taken meanwhile. In the end the database is held against what was answered: nothing lost, nothing
doubled, every log replays to its text, no suggestion waits, and every backup restores to what was
answered before it began. Exit status 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import func, select
from studio_audit import Told, audit_studio, wait_until_quiet
from studio_setup import (
    FABULA,
    LOST,
    Client,
    Database,
    Kind,
    Program,
    Seat,
    fill_studio,
    find_port,
    serve_database,
    set_environment,
    wait_for_server,
)

from fabula.studio.database import Studio, open_studio
from fabula.studio.tables import suggestions

# Some two seconds a text, so that most kills of a worker meet one that is being written.
SPEC = "lorem(delay_s=0.03, words=60)"
AUTHORS = 8
API = "/api/v1"


@dataclass
class Writer(threading.Thread):
    """An author who writes drafts one after the other and keeps account of what was answered."""

    seat: Seat
    client: Client
    seed: int
    stopping: threading.Event
    told: list[Told] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(name=self.seat.person.name, daemon=True)
        self.draw = random.Random(self.seed)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        number = 0
        while not self.stopping.is_set():
            number += 1
            try:
                self._write_entry(f"{self.seed}-{number}")
            except Exception as error:
                # Whatever it is, it is in the tally.
                self.faults.append(f"{self.name}: {type(error).__name__}: {error}")
                return

    def _write_entry(self, key: str) -> None:
        where = {"game_id": self.seat.game_id, "scene_id": self.seat.scene_id}
        draft = self._send("POST", "/drafts", {"key": key, **where})
        told = Told(draft["id"], self.seat.person.id, key, time.time())
        self.told.append(told)
        for turn in range(self.draw.randint(2, 6)):
            self._save(told, f"{key}-{turn}")
            if self.draw.random() < 0.5:
                self._ask(told, f"{key}-ask-{turn}")
            self.stopping.wait(self.draw.uniform(0.0, 0.1))
        if told.suggestions and self.draw.random() < 0.5:
            self._take_suggestion(told, f"{key}-taken")
        if self.draw.random() < 0.9:
            self._publish(told)

    def _save(self, told: Told, key: str, **edit: Any) -> None:
        """Put some words somewhere, or what `edit` says."""
        if not edit:
            place = self.draw.randint(0, len(told.text))
            stop = min(len(told.text), place + self.draw.choice((0, 0, 0, 3)))
            edit = {"start": place, "stop": stop, "inserted": f"Wort {key} — “ön” "}
        body = {"key": key, "base_version": told.version, "edits": [edit]}
        answer = self._send("POST", f"/drafts/{told.id}/save", body)
        text = told.text[: edit["start"]] + edit["inserted"] + told.text[edit["stop"] :]
        if (answer["text"], answer["version"]) != (text, told.version + 1):
            self.faults.append(f"saving {key} was answered with another text or version")
        told.add(key, text)
        self.counts["savings answered"] += 1
        if self.draw.random() < 0.1:
            again = self._send("POST", f"/drafts/{told.id}/save", body)
            if (again["text"], again["version"]) != (text, told.version):
                self.faults.append(f"saving {key} again was answered otherwise")

    def _ask(self, told: Told, key: str) -> None:
        body = {"key": key, "wanted": "words=20-60"}
        answer = self._send("POST", f"/drafts/{told.id}/suggestions", body, may_refuse=True)
        if answer is not None:
            told.suggestions[key] = (answer["id"], time.time())
            self.counts["suggestions answered"] += 1

    def _take_suggestion(self, told: Told, key: str) -> None:
        """Wait a little for the last suggestion, and put it at the end if it is done."""
        suggestion_id, _ = list(told.suggestions.values())[-1]
        for _ in range(20):
            found = self._send("GET", f"/suggestions/{suggestion_id}")
            if found["status"] not in ("pending", "executing") or self.stopping.is_set():
                break
            time.sleep(0.15)
        if found["status"] == "done" and found["generated"]:
            told.finished[suggestion_id] = found["generated"]
            end, text = len(told.text), found["generated"]
            written = {"inserted": text, "source": "machine", "suggestion_id": suggestion_id}
            self._save(told, key, start=end, stop=end, **written)
            self.counts["suggestions taken"] += 1

    def _publish(self, told: Told) -> None:
        body = {"version": told.version}
        answer = self._send("POST", f"/drafts/{told.id}/publish", body)
        told.entry = (answer["entry_id"], answer["seq_id"], len(answer["scores"]))
        told.published_at = time.time()
        self.counts["entries answered"] += 1
        if self.draw.random() < 0.2:
            again = self._send("POST", f"/drafts/{told.id}/publish", body)
            if (again["entry_id"], again["seq_id"], len(again["scores"])) != told.entry:
                self.faults.append(f"publishing {told.key} again was answered otherwise")

    def _send(self, method: str, path: str, body: Any = None, *, may_refuse: bool = False) -> Any:
        """Ask until it is answered; a busy studio may refuse what is not needed."""
        refusals, is_again = 0, False
        while True:
            try:
                status, answer = self.client.send(method, API + path, body)
            except LOST:
                is_again = True
                time.sleep(0.05)
                continue
            self.counts["requests answered only when sent again"] += is_again
            if status < 300:
                return answer
            if status != 503:
                raise AssertionError(f"{method} {path} was answered {status}: {answer}")
            refusals += 1
            if may_refuse and refusals > 1:
                self.counts["suggestions refused"] += 1
                return None
            time.sleep(0.2)


@dataclass
class Trial:
    """One database under fire."""

    database: Database
    url: str
    folder: Path
    kills: int
    seed: int
    tally: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    backups: list[tuple[float, Path]] = field(default_factory=list)

    def run(self) -> list[Told]:
        seats = fill_studio(self.url, authors=AUTHORS, spec=SPEC)
        environment = set_environment(self.url, self.folder)
        self.environment, self.port, stopping = environment, find_port(), threading.Event()
        where = ("--port", str(self.port))
        self.server = Program(
            (*FABULA, "serve", "--no-worker", *where), environment, self.folder / "server"
        )
        self.worker = Program((*FABULA, "worker"), environment, self.folder / "worker")
        self.server.start()
        self.worker.start()
        wait_for_server(self.server, self.port)
        writers = [
            Writer(seat, Client(self.port, seat.token), 1000 * self.seed + number, stopping)
            for number, seat in enumerate(seats)
        ]
        self.studio = open_studio(self.url)
        try:
            for writer in writers:
                writer.start()
            self._kill_often()
            stopping.set()
            for writer in writers:
                writer.join(120)
                if writer.is_alive():
                    self.faults.append(f"{writer.name} got no answer within 120 s")
                self.tally.update(writer.counts)
                self.faults += writer.faults
            waited_s, stuck = wait_until_quiet(self.studio)
            self.tally["seconds until nothing waited"] = round(waited_s)
            self.faults += stuck
        finally:
            self.server.kill()
            self.worker.kill()
            self.studio.close()
        return [told for writer in writers for told in writer.told]

    def _kill_often(self) -> None:
        draw, begun = random.Random(self.seed), time.monotonic()
        backups_at = {self.kills * part // 4 for part in (1, 2, 3)}
        for number in range(1, self.kills + 1):
            victims = draw.choices(
                [(self.server,), (self.worker,), (self.server, self.worker)], (45, 45, 10)
            )[0]
            time.sleep(draw.uniform(0.1, 0.7))
            saving = self._start_backup() if number in backups_at else None
            if self.worker in victims:
                self._wait_for_writing()
                self.tally["kills of a worker that wrote"] += count_writing(self.studio) > 0
            for victim in victims:
                victim.need_alive()
                victim.kill()
                self.tally[f"kills of the {victim.log.name}"] += 1
            for victim in victims:
                victim.start()
            if self.server in victims:
                wait_for_server(self.server, self.port)
            if saving is not None and saving.wait():
                self.faults.append("a backup failed; see the file `backup`")
            if number % 20 == 0 or number == self.kills:
                pace = (time.monotonic() - begun) / number
                print(f"{self.database.kind}: {number} kills, {pace:.1f} s each", flush=True)

    def _wait_for_writing(self) -> None:
        until = time.monotonic() + 4
        while time.monotonic() < until and not count_writing(self.studio):
            time.sleep(0.05)

    def _start_backup(self) -> subprocess.Popen[bytes]:
        """Take a backup by the command, while the others write."""
        path = self.folder / f"backup-{len(self.backups)}.zip"
        words = (*FABULA, "studio", "backup", str(path), "--quiet")
        program = Program(words, self.environment, self.folder / "backup")
        self.backups.append((time.time(), path))
        program.start()
        assert program.child is not None
        return program.child

    def check_backups(self, told: list[Told]) -> None:
        """Restore every backup into an empty database and hold it against what was answered."""
        for begun, path in self.backups:
            url = self.database.fresh()
            program = Program(
                (*FABULA, "studio", "restore", str(path), "--database", url, "--quiet"),
                self.environment,
                self.folder / "restore",
            )
            program.start()
            assert program.child is not None
            if program.child.wait():
                self.faults.append(f"{path.name} could not be restored; see the file `restore`")
                continue
            studio = open_studio(url)
            found = audit_studio(studio, told, answered_before=begun)
            self.faults += [f"{path.name}: {fault}" for fault in found.faults]
            self.tally["backups restored"] += 1
            studio.close()


def count_writing(studio: Studio) -> int:
    """Suggestions that are being written."""
    with studio.read() as db:
        query = select(func.count()).where(suggestions.c.status == "executing")
        return db.scalar(query) or 0


def try_database(kind: Kind, kills: int, seed: int, keep: Path | None) -> bool:
    """Run one trial and print its tally; whether all is well."""
    with tempfile.TemporaryDirectory(prefix="fabula-durability-") as name:
        folder = (keep or Path(name)) / kind
        folder.mkdir(parents=True, exist_ok=True)
        with serve_database(kind, folder) as database:
            trial = Trial(database, database.fresh(), folder, kills, seed)
            told = trial.run()
            studio = open_studio(trial.url)
            found = audit_studio(studio, told)
            studio.close()
            trial.faults += found.faults
            trial.check_backups(told)
    print(f"\n{kind}, {kills} kills, seed {seed}")
    for name, number in (found.counts + trial.tally).items():
        print(f"  {name:42} {number:8,}")
    print(f"  {'faults':42} {len(trial.faults):8,}", flush=True)
    for fault in trial.faults[:20]:
        print(f"    {fault}")
    return not trial.faults


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for logs and files, which stay")
    options = parser.parse_args()
    kinds: list[Kind] = ["sqlite", "postgresql"]
    if options.database != "both":
        kinds = [options.database]
    results = [try_database(kind, options.kills, options.seed, options.keep) for kind in kinds]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
