"""How often honest raters are flagged, and how surely careless ones are, on HANNA's ratings.

    python benchmarks/campaign_checks.py HANNA_FOLDER [--rounds 5]

Honest raters answer with a row that somebody gave to that story in HANNA (drawn without putting
back, so that the raters of a story are different people), take their own pace of about 240 words a
minute and three seconds a question, and name a character that is there. One rater in ten is
careless: too fast, 3 to everything, what somebody submitted before, or at random.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from fabula.core.dataset import Dataset
from fabula.datasets import load_dataset
from fabula.datasets.hanna import CRITERIA
from fabula.studio.campaigns.checks import find_flags, find_floors
from fabula.studio.campaigns.definition import Checks, Definition, Question, Show
from fabula.studio.campaigns.work import Work, WorkAssignment, WorkRater, WorkStory, WorkTask
from fabula.text.names import find_names

ASPECTS = tuple(CRITERIA.values())
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
KINDS = ("too fast", "all 3", "copycat", "random")
DEFINITION = Definition(
    "hanna",
    "HANNA",
    "Read.",
    tuple(Question(name, "scale", name) for name in ASPECTS),
    show=Show(prompt=True, reference=True),
    checks=Checks(
        character=True, floor_s=30, floor_words=120, all_same=5, all_lowest=True, agreement=0.0
    ),
)


class Crowd:
    """Raters who answer about HANNA's stories, each kind in its own way."""

    def __init__(self, dataset: Dataset, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.stories = {f"s{one.id}": WorkStory(f"s{one.id}", one) for one in dataset.stories}
        rows: dict[str, dict[str, dict[str, int]]] = {}
        for score in dataset.ratings:
            given = rows.setdefault(f"s{score.story}", {}).setdefault(score.scorer, {})
            given[score.aspect] = int(score.value)
        self.rows = {story: list(given.values()) for story, given in rows.items()}
        names = {story: find_names(one.story.text) for story, one in self.stories.items()}
        self.characters = {story: found[0] if found else "None" for story, found in names.items()}

    def make_work(self, kinds: list[str], tasks: int) -> Work:
        """Have every rater answer about so many stories, at most three raters a story."""
        raters = {f"r{i}": WorkRater(f"r{i}", i, "code", BEGAN) for i in range(1, len(kinds) + 1)}
        every = {
            story: WorkTask(story, i, "story", (story,), 3) for i, story in enumerate(self.rows)
        }
        work = Work("c", "hanna", "open", "", DEFINITION, self.stories, every, raters, ())
        left = {story: list(self.rng.permutation(np.array(rows, dtype=object)))
                for story, rows in self.rows.items()}  # fmt: skip
        free = Counter(dict.fromkeys(self.rows, 3))
        done: list[WorkAssignment] = []
        before: dict[str, dict[str, int]] = {}
        # Copycats come last: they need somebody to copy.
        for rater, kind in sorted(
            zip(raters, kinds, strict=True), key=lambda one: one[1] == "copycat"
        ):
            drawn = self.rng.permutation(np.array(list(self.rows), dtype=object))
            chosen = sorted(drawn, key=lambda story: -free[story])[:tasks]
            free.subtract(chosen)
            own = [
                self._answer(rater, i, story, kind, left, before)
                for i, story in enumerate(chosen, 1)
            ]
            done += self._spend_time(work, own, kind, day=len(done))
        return replace(work, assignments=tuple(done))

    def _answer(self, rater, number, story, kind, left, before) -> WorkAssignment:  # type: ignore[no-untyped-def]
        if kind == "all 3":
            said = dict.fromkeys(ASPECTS, 3)
        elif kind == "random":
            said = {aspect: int(self.rng.integers(1, 6)) for aspect in ASPECTS}
        elif kind == "copycat" and story in before:
            said = before[story]
        else:
            said = left[story].pop()
        before[story] = said
        answers: dict[str, object] = {aspect: {story: value} for aspect, value in said.items()}
        answers["_character"] = {story: self.characters[story]}
        parts = f"{rater}-{story}", story, rater, number, (story,), "submitted", answers
        return WorkAssignment(*parts, opened_at=BEGAN)

    def _spend_time(
        self, work: Work, own: list[WorkAssignment], kind: str, day: int
    ) -> list[WorkAssignment]:
        """Submit one after the other, at the rater's pace."""
        pace = 240 * self.rng.lognormal(0, 0.25)
        floors = find_floors(work, own)
        clock = BEGAN + timedelta(hours=day)
        timed = []
        for one in own:
            seconds = 60 * floors[one.id][1] / pace * self.rng.lognormal(0, 0.2) + 3 * len(ASPECTS)
            spent = self.rng.uniform(4, 15) if kind == "too fast" else seconds
            opened, clock = clock, clock + timedelta(seconds=float(spent))
            timed.append(replace(one, opened_at=opened, submitted_at=clock))
        return timed


def measure(dataset: Dataset, raters: int, tasks: int, rounds: int) -> None:
    """Print the share of raters who are flagged, by kind, and which checks flag the honest."""
    flagged: Counter[str] = Counter()
    there: Counter[str] = Counter()
    by_check: dict[str, Counter[str]] = {}
    for seed in range(rounds):
        crowd = Crowd(dataset, seed)
        careless = max(4, raters // 10)
        kinds = [KINDS[i % 4] for i in range(careless)] + ["honest"] * (raters - careless)
        flags = find_flags(crowd.make_work(kinds, tasks))
        named = {flag.rater for flag in flags}
        for number, kind in enumerate(kinds, 1):
            there[kind] += 1
            flagged[kind] += f"r{number}" in named
            checks = {flag.check for flag in flags if flag.rater == f"r{number}"}
            by_check.setdefault(kind, Counter()).update(checks)
    print(f"{tasks} tasks a rater, {raters} raters, {rounds} rounds")
    for kind in ("honest", *KINDS):
        share = f"{flagged[kind]:5,} of {there[kind]:5,} ({flagged[kind] / there[kind]:6.1%})"
        found = ", ".join(f"{name} {count}" for name, count in by_check[kind].most_common())
        print(f"  {kind:9} flagged {share}  {found}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    dataset = load_dataset("hanna", given.folder)
    for tasks, raters in ((10, 200), (15, 200), (20, 150), (50, 60), (100, 30)):
        measure(dataset, raters, tasks, given.rounds)


if __name__ == "__main__":
    main()
