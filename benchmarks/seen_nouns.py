"""How many nouns a page calls seen: in a text's own pictures, and in those of other texts.

    python benchmarks/seen_nouns.py SEQUENCES [GROUNDER]

SEQUENCES is a folder with `sequences.jsonl` (kind, images, story) and the pictures. A noun is seen
where at most a tenth of nouns chosen blindly match the pictures as well (`WEAK_SHARE`). Texts are
compared within their kind; of the others, nouns that both name are left out. Intervals: 95 %,
sequences drawn again 1,000 times.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.model import Picture
from fabula.learned.grounding.chance import find_chances
from fabula.learned.grounding.grounder import Grounder
from fabula.learned.grounding.nouns import read_nouns
from fabula.learned.grounding.opening import open_grounder
from fabula.learned.grounding.story import ground_story
from fabula.meta.resampling import estimate, resample_means
from fabula.models import PictureReader
from fabula.scoring.review.pictures import WEAK_SHARE
from fabula.text.nouns import Noun

DRAWS = 1000
Row = tuple[list[Picture], dict[str, Noun]]


def main() -> None:
    folder = Path(sys.argv[1])
    grounder = open_grounder(sys.argv[2] if sys.argv[2:] else "labels")
    lines = (folder / "sequences.jsonl").read_text(encoding="utf-8").splitlines()
    reader, by_kind = PictureReader(), {}
    for line in lines:
        row: dict[str, Any] = json.loads(line)
        pictures = reader.read_all([folder / name for name in row["images"]])
        nouns = {noun.text: noun for noun in read_nouns(" ".join(row["story"]))}
        by_kind.setdefault(row["kind"], []).append((pictures, nouns))
    print(grounder.signature)
    for kind, rows in by_kind.items():
        own = [count_seen(grounder, pictures, list(nouns.values())) for pictures, nouns in rows]
        others = [count_others(grounder, rows, place) for place in range(len(rows))]
        print(f"{kind:26} own {show(own)}   others' {show(others)}")


def count_others(grounder: Grounder, rows: list[Row], place: int) -> tuple[int, int]:
    """Count nouns of all other texts, and those of them that are seen in these pictures."""
    pictures, mine = rows[place]
    nouns = [noun for _, theirs in rows for name, noun in theirs.items() if name not in mine]
    return count_seen(grounder, pictures, nouns)


def count_seen(grounder: Grounder, pictures: list[Picture], nouns: list[Noun]) -> tuple[int, int]:
    """Count nouns that the grounder knows, and those that are seen."""
    story = ground_story(nouns, pictures, grounder, lambda _: 1.0)
    chances = [chance for chance in find_chances(story, grounder) if not math.isnan(chance)]
    return len(chances), sum(chance <= WEAK_SHARE for chance in chances)


def show(counts: list[tuple[int, int]]) -> str:
    """Write the share of nouns seen with its interval, sequences drawn again."""
    known, seen = np.array(counts, dtype=float).T
    found = estimate(seen.sum() / known.sum(), resample_means(seen, known, DRAWS, seed=0))
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}] of {known.sum():,.0f}"


if __name__ == "__main__":
    main()
