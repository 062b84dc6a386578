"""Comments that a language model wrote beside composed ones, for a blind choice by eye.

    python benchmarks/blind_comments.py                                 # twenty pairs, A and B
    python benchmarks/blind_comments.py --key                           # which of them was written
    python benchmarks/blind_comments.py --writer "huggingface('MODEL')" # by another model

Both are about one aspect of one of the example stories, rest on the same line and believe in the
same middling rating. Written ones are those that passed every check of `fabula review`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

from fabula.core.model import Generator
from fabula.datasets import load_dataset
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.comments.composer import compose_comment
from fabula.learned.comments.evidence import StorySentences, find_evidence
from fabula.learned.comments.writer import Commenter
from fabula.models import load_model, need

RATING, ASPECTS_A_STORY, SEED = 3.0, 2, 3
Pair = tuple[str, list[tuple[str, str]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writer", default="embedded('smollm2')")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--key", action="store_true")
    options = parser.parse_args()
    writer = Commenter(need(load_model(options.writer), Generator), budget_s=3600)
    for number, (aspect, sides) in enumerate(draw_pairs(writer, options.pairs), 1):
        print(f"{number} {aspect}")
        for letter, (by, text) in zip("AB", sides, strict=True):
            print(f"  {letter} {f'[{by}] ' if options.key else ''}{text}")


def draw_pairs(writer: Commenter, count: int) -> Iterator[Pair]:
    """Draw so many aspects of stories on which the writer has something to say."""
    chance = random.Random(SEED)
    stories = list(load_dataset("examples").stories)
    chance.shuffle(stories)
    asked = found = 0
    for story in stories:
        for aspect in chance.sample(ASPECTS, ASPECTS_A_STORY):
            evidence = find_evidence(StorySentences(story.text), aspect)
            if not evidence.found or found == count:
                continue
            asked += 1
            until = writer.deadline()
            written = writer.comment(story.text, evidence, RATING, until=until, seed=asked)
            composed = compose_comment(story.text, evidence, RATING, seed=asked)
            if composed is None or written is None or written.by != "written":
                continue
            sides = [("written", written.text), ("composed", composed.text)]
            chance.shuffle(sides)
            found += 1
            yield aspect, sides


if __name__ == "__main__":
    main()
