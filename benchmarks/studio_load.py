"""How a studio bears its authors, on 127.0.0.1.

    python benchmarks/studio_load.py                           # both parts, both databases
    python benchmarks/studio_load.py --database sqlite --seconds 20 --author lorem

Publishing, with the scores of a suggestion of 60 to 200 words, beside an endpoint that inserts the
same text and commits: requests a second of both, through the same server and what stands in front
of it, by the same client with the same tokens (the bar: at least half; an insert by whoever comes,
without a token, is shown too). Then authors at work in `fabula serve`, with
think times as people have them, while its worker runs a real model: errors (the bar: none) and how
long writes take (the bar: 250 ms for 99 of 100). Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, update
from studio_bare import BARE
from studio_setup import (
    FABULA,
    LOST,
    Client,
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
from fabula.studio.drafts import open_draft
from fabula.studio.edits import Edit
from fabula.studio.suggestions import ask_suggestion, cancel_suggestion
from fabula.studio.tables import now, suggestions
from fabula.studio.versions import save_draft

API = "/api/v1"
SERVER = str(Path(__file__).with_name("studio_bare.py"))
WORDS = (
    "the harbour lay under fog when she came down with a lamp nobody had lit for three nights and "
    "boats knew it counted steps as her father had stopped at ninetieth something been written "
    "there in chalk hand did not know below sea went on its slow work against wall dog barked "
    "twice then thought better of keeper letter window salt rope iron bell morning quiet stone"
).split()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--part", choices=["publishing", "authors", "both"], default="both")
    parser.add_argument("--drafts", type=int, default=1200, help="drafts that are published")
    parser.add_argument("--clients", type=int, default=8, help="who publish side by side")
    parser.add_argument("--authors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--author", default="embedded", help="co-author of the second part")
    options = parser.parse_args()
    kinds: list[Kind] = ["sqlite", "postgresql"]
    load = " ".join(f"{each:.1f}" for each in os.getloadavg()) if hasattr(os, "getloadavg") else "?"
    print(f"{os.cpu_count()} processors, load of the machine {load}")
    is_well = True
    for kind in kinds if options.database == "both" else [options.database]:
        with (
            tempfile.TemporaryDirectory(prefix="fabula-load-") as name,
            serve_database(kind, Path(name)) as database,
        ):
            print(f"\n{kind}", flush=True)
            if options.part in ("publishing", "both"):
                url = database.fresh()
                is_well &= compare_publishing(url, Path(name), options.drafts, options.clients)
            if options.part in ("authors", "both"):
                is_well &= let_authors_write(database.fresh(), Path(name), options)
    sys.exit(0 if is_well else 1)


# Publishing beside a bare insert


def compare_publishing(url: str, folder: Path, drafts: int, clients: int) -> bool:
    """Print requests a second of both endpoints; whether the bar is reached."""
    seats = fill_studio(url, authors=max(clients, 24), spec="lorem", together=1)
    prepared = prepare_drafts(url, seats, drafts)
    port = find_port()
    program = Program((SERVER, str(port)), set_environment(url, folder), folder / "answering")
    program.start()
    try:
        wait_for_server(program, port)
        rounds = 4
        share = len(prepared) // (rounds + 1)
        rates: dict[str, list[float]] = defaultdict(list)
        for number in range(rounds + 1):
            part = prepared[number * share : (number + 1) * share]
            found = {
                "bare insert": run_requests(
                    port, clients, [("/bare-known", d[0], d[3]) for d in part]
                ),
                "bare insert by anybody": run_requests(
                    port, clients, [("/bare", d[0], d[3]) for d in part]
                ),
                "publishing with scores": run_requests(
                    port, clients, [(f"{API}/drafts/{d[1]}/publish", d[0], d[2]) for d in part]
                ),
            }
            # What is compiled or opened on first use is not what is compared.
            for name, rate in found.items() if number else ():
                rates[name].append(rate)
    finally:
        program.kill()
    return show_rates(rates, clients)


def show_rates(rates: dict[str, list[float]], clients: int) -> bool:
    """Whoever writes has to be known: that insert is what publishing is held against."""
    known = rates["bare insert"]
    print(f"  requests a second, {clients} at a time, median of {len(known)} rounds")
    for name, found in rates.items():
        shares = [one / other for one, other in zip(found, known, strict=True)]
        share = statistics.median(shares)
        spread = f"{min(shares):.0%} to {max(shares):.0%}"
        print(f"    {name:32} {statistics.median(found):7.0f}  {share:5.0%} ({spread})")
    print(f"    the bar: 50 %, {'reached' if share >= 0.5 else 'MISSED'}", flush=True)
    return share >= 0.5


def prepare_drafts(
    url: str, seats: Sequence[Seat], number: int
) -> list[tuple[Seat, str, dict[str, int], dict[str, str]]]:
    """Drafts with a suggestion each, of which some is kept: who, which, and what is sent."""
    studio, draw, prepared = open_studio(url), random.Random(3), []
    with studio.write() as db:
        BARE.create(db)
    for each in range(number):
        seat = seats[each % len(seats)]
        generated = " ".join(draw.choices(WORDS, k=draw.randint(60, 200)))
        where = {"game_id": seat.game_id, "scene_id": seat.scene_id}
        draft = open_draft(studio, seat.person, key=f"load {each}", **where)
        asked = ask_suggestion(studio, seat.person, draft.id, key=f"load {each}")
        cancel_suggestion(studio, seat.person, asked.id)
        # As a worker leaves it, which need not write for this.
        ended = {"status": "done", "generated": generated, "ended_at": now()}
        with studio.write() as db:
            db.execute(update(suggestions).where(suggestions.c.id == asked.id).values(ended))
        text = change_words(generated, draw)
        edits = [Edit(0, 0, generated, "machine", asked.id), Edit(0, len(generated), text)]
        save_draft(studio, seat.person, draft.id, key="1", base_version=0, edits=edits)
        prepared.append((seat, draft.id, {"version": 1}, {"text": text}))
    studio.close()
    return prepared


def change_words(text: str, draw: random.Random) -> str:
    """What an author makes of a suggestion: most of it, with words of their own between."""
    words = [draw.choice(WORDS) if draw.random() < 0.2 else word for word in text.split()]
    return " ".join([*draw.choices(WORDS, k=20), *words])


def run_requests(port: int, clients: int, requests: Sequence[tuple[str, Seat, Any]]) -> float:
    """Send all of them, so many at a time; requests a second."""
    waiting, faults = list(reversed(requests)), []

    def work() -> None:
        client = Client(port)
        while waiting:
            try:
                path, seat, body = waiting.pop()
            except IndexError:
                break
            client.token = seat.token
            status, answer = client.send("POST", path, body)
            if status >= 300:
                faults.append(f"{path}: {status} {answer}")
        client.close()

    threads = [threading.Thread(target=work) for _ in range(clients)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        sys.exit(f"{len(faults)} requests failed: {faults[0]}")
    return len(requests) / (time.perf_counter() - begun)


# Authors at work


@dataclass
class Author(threading.Thread):
    """Somebody who writes for some time as people do, and how long each request took."""

    seat: Seat
    client: Client
    seed: int
    until: float
    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)
        self.draw = random.Random(self.seed)
        self.number = 0

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        # People do not all come in the same second.
        self._pause(self.draw.uniform(0, 5))
        while time.monotonic() < self.until:
            self._write_entry()

    def _write_entry(self) -> None:
        where = {"game_id": self.seat.game_id, "scene_id": self.seat.scene_id}
        draft = self._send("open", "POST", "/drafts", {"key": self._key(), **where})
        if draft is None:
            return
        text, version, asked, taken = "", 0, None, None
        for turn in range(self.draw.randint(5, 12)):
            # Autosave: every two seconds, while somebody types.
            self._pause(self.draw.uniform(1.8, 2.2))
            if time.monotonic() > self.until:
                return
            edit = {"start": len(text), "stop": len(text), "inserted": self._type()}
            if asked and turn % 3 == 0 and (found := self._look(asked)):
                edit |= {"inserted": found, "source": "machine", "suggestion_id": asked}
                asked, taken = None, asked
            text += str(edit["inserted"])
            body = {"key": self._key(), "base_version": version, "edits": [edit]}
            if saved := self._send("save", "POST", f"/drafts/{draft['id']}/save", body):
                version = saved["version"]
            if asked is None and turn and self.draw.random() < 0.25:
                body = {"key": self._key(), "wanted": "words=10-40"}
                found = self._send("suggest", "POST", f"/drafts/{draft['id']}/suggestions", body)
                asked = found and found["id"]
        path = f"/drafts/{draft['id']}/publish"
        self._send("publish", "POST", path, {"version": version})
        if taken:
            rating = {"ratings": {"fluency": self.draw.randint(1, 5)}}
            self._send("rate", "PUT", f"/suggestions/{taken}/ratings", rating)

    def _look(self, suggestion_id: str) -> str:
        found = self._send("read", "GET", f"/suggestions/{suggestion_id}")
        return found["generated"] if found and found["status"] == "done" else ""

    def _send(self, what: str, method: str, path: str, body: Any = None) -> Any:
        begun = time.perf_counter()
        try:
            status, answer = self.client.send(method, API + path, body)
        except LOST as error:
            self.errors.append(f"{what}: {type(error).__name__} {error}")
            return None
        self.took[what].append(time.perf_counter() - begun)
        if status >= 400:
            self.errors.append(f"{what}: {status} {answer}")
            return None
        return answer

    def _type(self) -> str:
        return " ".join(self.draw.choices(WORDS, k=self.draw.randint(4, 12))) + " "

    def _key(self) -> str:
        self.number += 1
        return f"{self.seed}-{self.number}"

    def _pause(self, seconds: float) -> None:
        time.sleep(max(0.0, min(seconds, self.until - time.monotonic())))


def let_authors_write(url: str, folder: Path, options: argparse.Namespace) -> bool:
    """Print how long requests of all authors took; whether the bars are reached."""
    seats = fill_studio(url, authors=options.authors, spec=options.author, together=2)
    port = find_port()
    program = Program(
        (*FABULA, "serve", "--port", str(port)), set_environment(url, folder), folder / "log"
    )
    program.start()
    studio = open_studio(url)
    try:
        wait_for_server(program, port)
        warm_up(seats[0], Client(port, seats[0].token))
        before = count_written(studio)
        begun = time.monotonic()
        authors = [
            Author(seat, Client(port, seat.token), number, begun + options.seconds)
            for number, seat in enumerate(seats)
        ]
        for author in authors:
            author.start()
        for author in authors:
            author.join()
        written = count_written(studio) - before
    finally:
        program.end()
        studio.close()
    return show_times(authors, written, options)


def warm_up(seat: Seat, client: Client) -> None:
    """Wait until the co-author has written something: its model is loaded."""
    where = {"game_id": seat.game_id, "scene_id": seat.scene_id}
    _, draft = client.send("POST", f"{API}/drafts", {"key": "warm", **where})
    body = {"key": "warm", "wanted": "words=5-10"}
    _, asked = client.send("POST", f"{API}/drafts/{draft['id']}/suggestions", body)
    until = time.monotonic() + 300
    while asked["status"] in ("pending", "executing"):
        if time.monotonic() > until:
            sys.exit("the co-author has not written anything within 300 s")
        time.sleep(0.5)
        _, asked = client.send("GET", f"{API}/suggestions/{asked['id']}")
    if asked["status"] != "done":
        sys.exit(f"the co-author cannot write: {asked['problem']}")
    client.close()


def count_written(studio: Studio) -> Counter[str]:
    """Suggestions by their status, and tokens that were written."""
    with studio.read() as db:
        query = select(suggestions.c.status, func.count(), func.sum(suggestions.c.tokens))
        counts: Counter[str] = Counter()
        for status, number, tokens in db.execute(query.group_by(suggestions.c.status)):
            counts[status] += number
            counts["tokens"] += tokens or 0
    return counts


def show_times(
    authors: Sequence[Author], written: Counter[str], options: argparse.Namespace
) -> bool:
    took: dict[str, list[float]] = defaultdict(list)
    for author in authors:
        for name, times in author.took.items():
            took[name] += times
            took["all writes"] += times if name != "read" else []
    errors = [error for author in authors for error in author.errors]
    print(f"  {len(authors)} authors for {options.seconds:.0f} s, {options.author} writing")
    print(f"    {'milliseconds':12} {'requests':>8} {'p50':>6} {'p95':>6} {'p99':>6} {'most':>6}")
    for name, times in sorted(took.items(), key=lambda pair: pair[0] == "all writes"):
        figures = " ".join(f"{1000 * find_quantile(times, q):6.0f}" for q in (0.5, 0.95, 0.99, 1))
        print(f"    {name:12} {len(times):8,} {figures}")
    states = ", ".join(f"{number:,} {name}" for name, number in sorted(written.items()))
    print(f"    suggestions: {states}")
    slowest = find_quantile(took["all writes"], 0.99)
    is_well = not errors and slowest <= 0.25
    print(f"    errors {len(errors)}, the bars (no error, p99 250 ms): ", end="")
    print("reached" if is_well else "MISSED", flush=True)
    for error in errors[:10]:
        print(f"      {error}")
    return is_well


def find_quantile(values: Sequence[float], quantile: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(quantile * len(ordered)))] if ordered else 0.0


if __name__ == "__main__":
    main()
