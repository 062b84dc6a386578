"""Choices that nobody made: between a story and the same spoiled, or made implausible.

They teach what coherence is where people were not asked; how well they are told apart says nothing
of people, so that they are learned from and never measured.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from fabula.core.story import Story
from fabula.learned.training.choices import Choices, flatten
from fabula.learned.training.stories import UnratedStories, read_dataset, set_aside
from fabula.learned.training.tasks import spoil_story
from fabula.text.detokenise import split_any_case

# Whose stories people rated: what resembles them is not learned from.
RATED = ("coherence", "hanna", "mans", "union")
_MOST = 3000
_SENTENCES = (6, 30)  # in a row, of a long story


def gather_made(data: Path | None, names: Iterable[str]) -> list[Choices]:
    """Make the choices of these names: `manplts` and `spoiled`."""
    makers = {"manplts": _choose_plausible, "spoiled": _choose_unspoiled}
    return [makers[name](data) for name in names]


def _choose_plausible(data: Path | None) -> Choices:
    """Of a story and what MANPLTS made of it, the story."""
    free = UnratedStories([read_dataset(name, data) for name in RATED])
    items: dict[str, list[Story]] = {}
    for story in read_dataset("manplts", data).stories:
        items.setdefault(str(story.item), []).append(story)
    rows = []
    for item in random.Random(0).sample(sorted(items), len(items)):
        written = [story for story in items[item] if story.system == "human"]
        made = [story for story in items[item] if story.system != "human"]
        if written and made and free.allows(written[0].text):
            other = random.Random(item).choice(made)
            rows.append((item, flatten(written[0].text), flatten(other.text)))
    return _number("manplts", "manplts", rows[:_MOST])


def _choose_unspoiled(data: Path | None) -> Choices:
    """Of a stretch of a forum's story and the same spoiled, the stretch."""
    corpus = read_dataset("writingprompts", data)
    rated = [read_dataset(name, data) for name in RATED]
    free = UnratedStories([*rated, set_aside(corpus)])
    stretches = []
    for story in free.stories([corpus]):
        rng, sentences = random.Random(story.id), split_any_case(story.text)
        count = min(rng.randint(*_SENTENCES), len(sentences))
        if count >= _SENTENCES[0]:
            start = rng.randint(0, len(sentences) - count)
            stretches.append((story.id, flatten(" ".join(sentences[start : start + count]))))
    chosen = random.Random(0).sample(stretches, min(_MOST, len(stretches)))
    rows = []
    for number, (name, text) in enumerate(chosen):
        other = chosen[(number + 1) % len(chosen)][1]
        if (spoiled := spoil_story(text, other, name)) is not None:
            rows.append((name, text, flatten(spoiled)))
    return _number("spoiled", "writingprompts", rows)


def _number(name: str, data: str, rows: Sequence[tuple[str, str, str]]) -> Choices:
    """Lay choices out: of every item the better text, then the worse."""
    texts = tuple(text for _, *both in rows for text in both)
    groups = tuple(f"{data}:{item}" for item, *_ in rows for _ in range(2))
    count = len(rows)
    pairs = np.arange(2 * count).reshape(-1, 2)
    weights = np.ones(count)
    return Choices(name, "spoiled", texts, pairs, np.arange(count), weights, groups, data)
