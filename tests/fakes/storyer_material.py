"""A small StoryER of our own: pairs and rated comments as files, and readers that kept values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.reader.config import CRITERIA
from fabula.learned.reader.fake import fake_config
from fabula.replication.unseen import UnseenValues
from fakes.release_samples import pair, put, submission

PROMPTS = 12
WORDS = {1: "opening beginning first line", 3: "ending last close", 4: "character hero person"}
TONES = {
    1: "dull and weak throughout",
    3: "it was fair enough here",
    5: "lovely and strong writing",
}


def story(prompt: int, good: bool, number: int = 0) -> str:
    """A story; a good one speaks of gold, which a small reader can see."""
    metal = "gold" if good else "lead"
    return (
        f"Ann {prompt} found {metal} in the well. She kept {number} pieces of {metal}. "
        f"Then the {metal} sang to her. But nobody heard it. At night she sold the {metal}."
    )


def rating_rows() -> list[dict[str, Any]]:
    """Twelve stories with a comment on three aspects each, whose words tell aspect and rating."""
    rows = []
    for number in range(PROMPTS):
        comments = []
        for place, (aspect, words) in enumerate(WORDS.items()):
            rating = (1, 3, 5)[(number + place) % 3]
            said = f"The {words} of this story, I must say, {TONES[rating]} for a reader like me"
            comments.append([aspect, rating, f"{said}, number {number}."])
        text = story(100 + number, number % 2 == 0).replace("\n", "<br>")
        rows.append(submission(text, float(number), *comments, prompt=f"[WP] Tale {number}"))
    return rows


def write_storyer(folder: Path) -> Path:
    """Write both files of StoryER below a folder, which is given back."""
    pairs = [
        pair(f"[WP] Well {number}", story(number, True, one), story(number, False, one))
        for number in range(PROMPTS)
        for one in range(2)
    ]
    put(
        folder / "storyer",
        {
            "train_rank_small.jsonl": "".join(f"{json.dumps(one)}\n" for one in pairs),
            "train_rate_reason_small.json": json.dumps(rating_rows()),
        },
    )
    return folder


def kept_values(seed: int = 0) -> UnseenValues:
    """What a reader kept of the twelve rated stories: noise, but for the ending's ratings."""
    rng = np.random.default_rng(seed)
    ids = np.array([f"storyer_ratings:{number + 1}.1" for number in range(PROMPTS)])
    arrays: dict[str, Any] = {"ids/aspects": ids, "ids/confidence": ids}
    for name in ASPECTS:
        arrays[f"aspects.{name}/aspects"] = rng.normal(size=(2, PROMPTS))
        arrays[f"confidence.{name}/confidence"] = rng.normal(size=(2, PROMPTS))
    ratings = [(1, 3, 5)[(number + 1) % 3] for number in range(PROMPTS)]
    arrays["aspects.ending/aspects"] = np.array([ratings, ratings], dtype=float)
    arrays["preference/aspects"] = rng.normal(size=(2, PROMPTS))
    about = fake_config()
    assert set(CRITERIA)
    return UnseenValues(about, arrays)


@dataclass(frozen=True)
class SmallEncoder:
    """An encoder whose vector counts words by digest; as wide as it need be."""

    width: int = 32

    def ids(self, text: str) -> list[int]:
        """Number words by their digest."""
        return [
            int.from_bytes(hashlib.blake2b(word.encode(), digest_size=2).digest(), "big")
            for word in text.lower().replace(".", " ").split()
        ]

    def pool(self, texts: Sequence[Sequence[int]]) -> Any:
        """Count the words of every window."""
        import torch

        found = torch.zeros(len(texts), self.width)
        for row, ids in enumerate(texts):
            for one in ids:
                found[row, one % self.width] += 1 / len(ids)
        return found
