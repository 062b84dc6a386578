"""Whether a campaign bears its raters: many at once, of all kinds, while the server is killed.

    python benchmarks/campaign.py --hanna FOLDER       # 200 raters, 1,000 stories, both databases
    python benchmarks/campaign.py --database sqlite --stories 100 --raters 30 --kill-s 10

The real `fabula serve` runs on 127.0.0.1. Raters come by a crowd site's link, take tasks, save and
submit over HTTP; some leave half-way; what breaks they send again, and what is acknowledged they
write down. For half a minute the server is killed (kill -9) at random moments. Then whoever is
flagged and careless is excluded, their places are filled by raters who come later, and the
database is held against what was acknowledged: every answer once and as it was sent, every story
with exactly as many accepted ratings as wanted, every rater who finished with each system equally
often (± 1). Exit status 1 if anything is wrong.

Honest raters answer with a row that somebody gave to that story in HANNA; without its folder they
are made up, and only the counting is a test. The run is much quicker than people: moments are
stretched before flags are looked for, in the order in which things happened.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from campaign_raters import ASPECTS, BAD, K, RatedStories, Rating, make_rated_stories
from studio_setup import (
    FABULA,
    Client,
    Kind,
    Program,
    find_port,
    serve_database,
    set_environment,
    wait_for_server,
)

from fabula.core.story import Story
from fabula.studio.campaigns.checks import find_flags
from fabula.studio.campaigns.definition import Checks, Definition, Question, Show
from fabula.studio.campaigns.opening import create_campaign, set_campaign_state
from fabula.studio.campaigns.raters import make_door
from fabula.studio.campaigns.verdicts import exclude_rater
from fabula.studio.campaigns.work import Work, read_work
from fabula.studio.database import Studio, open_studio
from fabula.studio.migrations import migrate
from fabula.studio.people import Person, create_person

# A second of the run, in seconds of the people that it stands for.
STRETCH = 20_000
LEASE_MINUTES = 0.25


@dataclass
class Trial:
    """One campaign under fire."""

    url: str
    folder: Path
    rated: RatedStories
    raters: int
    kill_s: float
    pace_s: float
    seed: int
    hands: list[Rating] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def run(self) -> Work:
        self.studio, self.owner = self._open_campaign()
        self.port = find_port()
        words = (*FABULA, "serve", "--no-worker", "--port", str(self.port))
        environment = set_environment(self.url, self.folder)
        self.server = Program(words, environment, self.folder / "server")
        self.server.start()
        try:
            wait_for_server(self.server, self.port)
            self._rate(self._choose_kinds())
            work = self._stretch(read_work(self.studio, self.owner, "trial"))
            self._exclude(work)
            while self._count_left():
                self._rate([("honest", self.most)] * 20, kills=False)
        finally:
            self.server.kill()
        work = read_work(self.studio, self.owner, "trial")
        self._audit(work)
        self.studio.close()
        return work

    def _open_campaign(self) -> tuple[Studio, Person]:
        studio = open_studio(self.url)
        migrate(studio)
        owner = create_person(studio, None, name="researcher", roles=("researcher",))
        self.most = -(-K * len(self.rated.stories) // self.raters)
        checks = Checks(character=True, floor_s=30, floor_words=150, all_lowest=True, agreement=0.0)
        definition = Definition(
            "trial",
            "Trial",
            "Read.",
            tuple(Question(name, "scale", name) for name in ASPECTS),
            raters=K,
            most_tasks=self.most,
            lease_minutes=LEASE_MINUTES,
            seed=self.seed,
            show=Show(prompt=True, reference=bool(self.rated.stories[0].references)),
            checks=checks,
        )
        create_campaign(studio, owner, definition, self.rated.stories)
        set_campaign_state(studio, owner, "trial", "open")
        self.code = make_door(studio, owner, "trial", way="prolific").code
        return studio, owner

    def _choose_kinds(self) -> list[tuple[str, int]]:
        """One rater in six is careless, one in ten of the others leaves half-way."""
        draw = random.Random(self.seed)
        bad = [(BAD[number % 4], self.most) for number in range(self.raters // 6)]
        honest = [
            ("honest", draw.randint(1, self.most - 1) if draw.random() < 0.1 else self.most)
            for _ in range(self.raters - len(bad))
        ]
        # Of the random ones some do less than others: when can they be told?
        bad = [
            (kind, draw.choice((5, 10, self.most)) if kind == "random" else most)
            for kind, most in bad
        ]
        return draw.sample(bad + honest, self.raters)

    def _rate(self, kinds: list[tuple[str, int]], *, kills: bool = True) -> None:
        """Let raters come, all at once; the server is killed while they are at it."""
        hands = [
            Rating(len(self.hands) + number, kind, most, Client(self.port), self.code,
                   self.rated, self.pace_s)
            for number, (kind, most) in enumerate(kinds, 1)
        ]  # fmt: skip
        self.hands += hands
        for hand in hands:
            hand.start()
        if kills:
            self._kill_often()
        for hand in hands:
            hand.join(900)
            if hand.is_alive():
                self.faults.append(f"{hand.name} got no answer within 900 s")
            self.tally.update(hand.counts)
            self.faults += hand.faults

    def _kill_often(self) -> None:
        # Not while they are coming in: tasks in their hands are what can be lost.
        while sum(len(hand.acknowledged) for hand in self.hands) < self.raters:
            time.sleep(0.1)
        # So many seconds of a server that answers; to start one takes longer than to kill it.
        draw, up_s = random.Random(self.seed), 0.0
        while up_s < self.kill_s:
            up_s += (seconds := draw.uniform(0.5, 5.0))
            time.sleep(seconds)
            self.server.need_alive()
            self.server.kill()
            self.tally["kills of the server"] += 1
            self.server.start()
            wait_for_server(self.server, self.port)

    def _count_left(self) -> int:
        work = read_work(self.studio, self.owner, "trial")
        accepted = Counter(one.task for one in work.accepted)
        return sum(task.wanted - accepted[task.id] for task in work.tasks.values())

    def _stretch(self, work: Work) -> Work:
        """Give every submit the time that the rater would have taken, in the same order."""
        spent = {name: seconds for hand in self.hands for name, seconds in hand.spent_s.items()}
        first = min(one.opened_at for one in work.assignments)
        stretched = []
        for one in work.assignments:
            if one.submitted_at:
                submitted = first + STRETCH * (one.submitted_at - first)
                opened = submitted - timedelta(seconds=spent[one.id])
                one = replace(one, submitted_at=submitted, opened_at=opened)
            stretched.append(one)
        return replace(work, assignments=tuple(stretched))

    def _exclude(self, work: Work) -> None:
        """Print who is flagged, and exclude the careless of them."""
        flags = find_flags(work)
        checks: dict[int, set[str]] = defaultdict(set)
        for flag in flags:
            checks[work.raters[flag.rater].number].add(flag.check)
        numbers = self._number_hands(work)
        done = {hand: len(hand.acknowledged) for hand in self.hands}
        shares: dict[str, list[bool]] = defaultdict(list)
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for hand in self.hands:
            if hand not in numbers or not done[hand]:
                continue
            kind = f"random, {done[hand]} tasks" if hand.kind == "random" else hand.kind
            shares[kind].append(bool(checks[numbers[hand]]))
            found[kind].update(checks[numbers[hand]])
            if hand.kind != "honest" and checks[numbers[hand]]:
                exclude_rater(
                    self.studio, self.owner, "trial", f"r{numbers[hand]}", reason="careless"
                )
                self.tally["raters excluded"] += 1
        for kind, flagged in sorted(shares.items()):
            by = ", ".join(f"{name} {count}" for name, count in found[kind].most_common())
            print(f"  flagged: {kind:18} {sum(flagged):4} of {len(flagged):4} "
                  f"({statistics.fmean(flagged):6.1%})  {by}")  # fmt: skip

    def _number_hands(self, work: Work) -> dict[Rating, int]:
        by_assignment = {one.id: work.raters[one.rater].number for one in work.assignments}
        return {
            hand: by_assignment[next(iter(hand.acknowledged))]
            for hand in self.hands
            if hand.acknowledged
        }

    def _audit(self, work: Work) -> None:
        """Hold the database against what was acknowledged."""
        told = {name: sent for hand in self.hands for name, sent in hand.acknowledged.items()}
        kept = {one.id: one for one in work.assignments if one.submitted_at}
        for name in told.keys() - kept.keys():
            self.faults.append(f"{name} was acknowledged and is not there")
        for name in kept.keys() - told.keys():
            self.faults.append(f"{name} is there and was not acknowledged")
        self.faults += [
            f"{name} is kept otherwise than it was sent"
            for name in told.keys() & kept.keys()
            if kept[name].answers != told[name][1]
        ]
        accepted = Counter(one.task for one in work.accepted)
        self.faults += [
            f"task {task.number} has {accepted[task.id]} of {task.wanted} accepted ratings"
            for task in work.tasks.values()
            if accepted[task.id] != task.wanted
        ]
        self.tally["answers acknowledged"] = len(told)
        self.tally["stories with exactly the ratings wanted"] = sum(
            accepted[task.id] == task.wanted for task in work.tasks.values()
        )
        self._audit_balance(work)

    def _audit_balance(self, work: Work) -> None:
        systems = sorted({story.story.system or "" for story in work.stories.values()})
        by_rater: dict[str, list[Story]] = defaultdict(list)
        for one in work.assignments:
            if one.submitted_at:
                by_rater[one.rater].append(work.stories[one.shown[0]].story)
        for rater, seen in by_rater.items():
            counts = Counter(dict.fromkeys(systems, 0))
            counts.update(story.system or "" for story in seen)
            spread = max(counts.values()) - min(counts.values())
            who = "finished" if len(seen) >= self.most else "did less"
            self.tally[f"raters who {who}: most and fewest differ by {spread}"] += 1
            # Equally often, give or take one.
            share = len(seen) / len(systems)
            if who == "finished" and max(abs(count - share) for count in counts.values()) > 1:
                name = work.raters[rater].name
                self.faults.append(f"{name} saw systems {sorted(counts.values())} times")
            self.tally["stories of one item in a row"] += sum(
                one.item == other.item for one, other in pairwise(seen)
            )


def try_database(kind: Kind, options: argparse.Namespace) -> bool:
    """Run one trial and print its tally; whether all is well."""
    print(f"{kind}: {options.raters} raters, {options.stories} stories, {K} ratings each")
    rated = make_rated_stories(options.hanna, options.stories)
    with tempfile.TemporaryDirectory(prefix="fabula-campaign-") as name:
        folder = (options.keep or Path(name)) / kind
        folder.mkdir(parents=True, exist_ok=True)
        with serve_database(kind, folder) as database:
            trial = Trial(
                database.fresh(), folder, rated, options.raters, options.kill_s,
                options.pace_s, options.seed,
            )  # fmt: skip
            begun = time.monotonic()
            trial.run()
    trial.tally["seconds"] = round(time.monotonic() - begun)
    for name, number in sorted(trial.tally.items()):
        print(f"  {name:50} {number:8,}")
    for what in ("next", "submit"):
        waits = sorted(wait for hand in trial.hands for wait in hand.waits_s[what])
        p50, p95 = (1000 * waits[int(share * len(waits))] for share in (0.5, 0.95))
        print(f"  {what:50} {p50:8.0f} ms (95 %: {p95:.0f} ms)")
    print(f"  {'faults':50} {len(trial.faults):8,}", flush=True)
    for fault in trial.faults[:20]:
        print(f"    {fault}")
    return not trial.faults


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--hanna", type=Path, help="folder of HANNA's ratings")
    parser.add_argument("--stories", type=int, default=1000)
    parser.add_argument("--raters", type=int, default=200)
    parser.add_argument("--kill-s", type=float, default=30.0)
    parser.add_argument("--pace-s", type=float, default=0.5, help="what a task takes a rater")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for logs and files, which stay")
    options = parser.parse_args()
    kinds: list[Kind] = ["sqlite", "postgresql"]
    if options.database != "both":
        kinds = [options.database]
    results = [try_database(kind, options) for kind in kinds]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
