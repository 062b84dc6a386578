"""Seconds a story of five pictures: nouns, regions, crops and nouns encoded, one value.

    python benchmarks/visual.py [FILE] [GROUNDER]

Stories of a table with a field `images`, else some that are drawn here. Models are loaded before,
nothing that is measured was seen before. The load of the machine is printed beside: with other
work on it, seconds of the processor over the number of cores say more than those of the clock.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

os.environ.setdefault("FABULA_THREADS", "2")

from fabula import Story
from fabula.datasets.tables.stories import StoryFile
from fabula.learned.grounding.metric import GROUNDER
from fabula.learned.rovist_vg import RovistVg

STORIES, PICTURES = 20, 5
SIDES = (1024, 768)
MOST_S = 0.5
TEXTS = (
    "A man walked his dog along the beach. The dog ran after a ball. A woman with a red umbrella "
    "laughed. They bought ice cream from a truck. In the evening the boats came home.",
    "We set the table in the garden. My sister brought a cake with candles. The children wore paper"
    " hats. A cat sat on the chair by the door. Grandfather fell asleep under the tree.",
)


def main() -> None:
    """Measure, and end with 1 where the median is above the limit on so many cores."""
    grounder = sys.argv[2] if len(sys.argv) > 2 else GROUNDER
    with tempfile.TemporaryDirectory() as scratch:
        stories = read(Path(sys.argv[1])) if len(sys.argv) > 1 else draw(Path(scratch))
        seconds = measure(stories, RovistVg(grounder=grounder))
    threads = int(os.environ["FABULA_THREADS"])
    clock, processor = (statistics.median(times) for times in zip(*seconds, strict=True))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    what = f"{len(seconds)} stories of {PICTURES} pictures"
    print(f"{what}, {grounder}, {threads} threads, load {load:.1f}")
    print(f"median {clock:.2f} s by the clock, {processor:.2f} s of the processor:")
    share = processor / threads
    print(f"{share:.2f} s on {threads} cores with nothing else to do (at most {MOST_S})")
    # With other work on the machine the clock does not say what we take.
    sys.exit((share if load > threads else clock) > MOST_S)


def measure(stories: list[Story], metric: RovistVg) -> list[tuple[float, float]]:
    """Seconds of clock and processor for each story after the first, which loads the models."""
    seconds = []
    for story in stories:
        began, used = time.perf_counter(), time.process_time()
        [score, *_] = metric.score([story])
        if not score.ok:
            sys.exit(f"{story.id}: {score.note}")
        seconds.append((time.perf_counter() - began, time.process_time() - used))
    return seconds[1:]


def read(path: Path) -> list[Story]:
    """Stories of a table that have as many pictures as are measured."""
    stories = [story for story in StoryFile(path) if len(story.images) == PICTURES]
    return stories[: STORIES + 1]


def draw(folder: Path) -> list[Story]:
    """Stories with pictures of coloured patches, as hard for a detector as photographs."""
    from PIL import Image

    rng = np.random.default_rng(1)
    stories = []
    for number in range(STORIES + 1):
        names = []
        for place in range(PICTURES):
            patches = rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)
            path = folder / f"{number}_{place}.jpg"
            Image.fromarray(patches).resize(SIDES, Image.Resampling.BICUBIC).save(path)
            names.append(str(path))
        stories.append(Story(str(number), TEXTS[number % len(TEXTS)], images=tuple(names)))
    return stories


if __name__ == "__main__":
    main()
