"""Raters of a campaign as programs: what they say of stories, and how they hand it in.

Honest raters answer with a row that somebody gave to that story in HANNA, or with a made-up one;
others are too fast, say 3 to everything, copy, or answer at random.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio_setup import LOST, Client

from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.datasets.hanna import CRITERIA
from fabula.text.names import find_names

ASPECTS = tuple(CRITERIA.values())
BAD = ("too fast", "all 3", "copycat", "random")
K = 3
_API = "/api/v1/rating"
_WORDS_PER_MINUTE = 240


@dataclass
class RatedStories:
    """Stories, and rows of ratings that people gave them."""

    stories: list[Story]
    rows: dict[str, list[dict[str, int]]]
    given: dict[str, list[dict[str, int]]] = field(default_factory=lambda: defaultdict(list))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.by_text = {story.text: story.id for story in self.stories}
        names = {story.text: find_names(story.text) for story in self.stories}
        self.characters = {text: found[0] if found else "None" for text, found in names.items()}
        self.unused = {story: list(rows) for story, rows in self.rows.items()}

    def answer(self, kind: str, text: str, draw: random.Random) -> dict[str, int]:
        """What a rater of a kind says of a story."""
        story = self.by_text[text]
        with self.lock:
            before = self.given[story]
            if kind == "all 3":
                row = dict.fromkeys(ASPECTS, 3)
            elif kind == "random":
                row = {aspect: draw.randint(1, 5) for aspect in ASPECTS}
            elif kind == "copycat" and before:
                row = before[-1]
            else:
                # Different people for one story, as long as there are any.
                if not self.unused[story]:
                    self.unused[story] = list(self.rows[story])
                row = self.unused[story].pop(draw.randrange(len(self.unused[story])))
            before.append(row)
            return row


def make_rated_stories(folder: Path | None, count: int) -> RatedStories:
    """Stories of HANNA with their rows, or made-up ones."""
    if folder is not None:
        dataset = load_dataset("hanna", folder)
        rows: dict[str, dict[str, dict[str, int]]] = {}
        for score in dataset.ratings:
            by_rater = rows.setdefault(score.story, {}).setdefault(score.scorer, {})
            by_rater[score.aspect] = int(score.value)
        stories = sorted(dataset.stories, key=lambda story: (story.item or "", story.system or ""))
        return RatedStories(stories[:count], {name: list(rows[name].values()) for name in rows})
    draw = random.Random(0)
    stories = [
        Story(f"{item}-{system}", f"Ida {item} met Tom {system}. " * 30, prompt=f"Prompt {item}",
              system=f"system {system}", item=f"item {item}")
        for item in range(-(-count // 10)) for system in range(10)
    ][:count]  # fmt: skip
    level = {story.id: draw.gauss(3, 1) for story in stories}
    return RatedStories(
        stories,
        {
            name: [
                {aspect: min(5, max(1, round(draw.gauss(mean, 0.7)))) for aspect in ASPECTS}
                for _ in range(K)
            ]
            for name, mean in level.items()
        },
    )


@dataclass
class Rating(threading.Thread):
    """A rater, who keeps account of what was acknowledged."""

    number: int
    kind: str
    most: int
    client: Client
    code: str
    rated: RatedStories
    pace_s: float
    acknowledged: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    spent_s: dict[str, float] = field(default_factory=dict)
    waits_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    is_finished: bool = False

    def __post_init__(self) -> None:
        super().__init__(name=f"rater {self.number}", daemon=True)
        self.draw = random.Random(self.number)
        self.words_per_minute = _WORDS_PER_MINUTE * self.draw.lognormvariate(0, 0.25)

    def __hash__(self) -> int:
        return self.number

    def run(self) -> None:
        try:
            self._rate()
        except Exception as error:
            # Whatever it is, it is in the tally.
            self.faults.append(f"{self.name}: {type(error).__name__}: {error}")
        self.client.close()

    def _rate(self) -> None:
        names = {"parameters": {"PROLIFIC_PID": f"pid-{self.number}"}}
        entered = self._send("enter", "POST", f"/enter/{self.code}", names)
        self.client.csrf, home = entered["csrf"], f"/{entered['campaign_id']}"
        while len(self.acknowledged) < self.most:
            turn = self._send("next", "POST", f"{home}/next")
            task = turn["assignment"]
            if task is None:
                self.is_finished = turn["step"] == "finished"
                return
            time.sleep(self.draw.uniform(0, 2 * self.pace_s))
            answers = self._make_answers(task)
            path = f"{home}/tasks/{task['id']}"
            body = {"version": task["version"], "answers": answers, "visible_s": 1.0}
            if self.draw.random() < 0.2:
                body["version"] = self._send("save", "PUT", path, body)["version"]
            receipt = self._send("submit", "POST", f"{path}/submit", body)
            if self.draw.random() < 0.1:
                again = self._send("submit", "POST", f"{path}/submit", body)
                if again != receipt:
                    self.faults.append(f"{task['id']} again was acknowledged otherwise")
            self.acknowledged[task["id"]] = receipt["state"], answers
            self.counts[receipt["state"]] += 1
        # Who leaves half-way leaves with a task in their hands.
        self._send("next", "POST", f"{home}/next")

    def _make_answers(self, task: dict[str, Any]) -> dict[str, Any]:
        story = task["stories"][0]
        row = self.rated.answer(self.kind, story["text"], self.draw)
        texts = [story["text"], story["prompt"] or "", *story["references"]]
        words = sum(len(text.split()) for text in texts)
        seconds = 60 * words / self.words_per_minute * self.draw.lognormvariate(0, 0.2) + 18
        quick = self.kind == "too fast"
        self.spent_s[task["id"]] = self.draw.uniform(4, 15) if quick else max(seconds, 31.0)
        named = {story["id"]: self.rated.characters[story["text"]]}
        return {aspect: {story["id"]: row[aspect]} for aspect in ASPECTS} | {"_character": named}

    def _send(self, what: str, method: str, path: str, body: Any = None) -> Any:
        """Ask until it is answered."""
        is_again = False
        while True:
            begun = time.perf_counter()
            try:
                status, answer = self.client.send(method, _API + path, body)
            except LOST:
                is_again = True
                time.sleep(self.draw.uniform(0.05, 0.3))
                continue
            if status == 503:
                time.sleep(0.3)
                continue
            if status >= 300:
                raise AssertionError(f"{method} {path} was answered {status}: {answer}")
            self.counts["answered only when sent again"] += is_again
            if not is_again:
                self.waits_s[what].append(time.perf_counter() - begun)
            return answer
