"""From how well each noun was found in the pictures to one number a story (RoViST-VG).

Wang et al. (2022), RoViST: Learning robust metrics for visual storytelling, NAACL Findings. Each
noun i of a story has a match mᵢ (the best cosine over all regions of all pictures) and a weight
(its idf); `pool` makes one number of the products.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from fabula.core.errors import InputError
from fabula.core.files import read_bounded, write_lines

Pooling = Literal["lse", "sum", "mean", "lme"]


def pool(weighted: Sequence[float], how: Pooling = "lme") -> float:
    """Make one number of weighted matches, one a noun; NaN for a story without nouns.

    `lse` is RoViST's log Σ exp(wᵢ): n nouns of the same worth w give w + log n, so that whoever
    names more things scores more, found or not. `lme`, log of the mean of exp(wᵢ), takes that log
    n away and nothing else: noun for noun the same story scores the same however often it is
    told, it lies between the mean and the best match, and well-found rare nouns still count more
    than in the `mean`. It is what to compare stories of different lengths by. `sum` and `mean` are
    the released code's other two.
    """
    if not weighted:
        return math.nan
    if how in ("sum", "mean"):
        total = math.fsum(weighted)
        return total / len(weighted) if how == "mean" else total
    highest = max(weighted)
    # Of the largest exponent nothing can overflow.
    total = highest + math.log(math.fsum(math.exp(w - highest) for w in weighted))
    return total - math.log(len(weighted)) if how == "lme" else total


def scale(score: float) -> float:
    """Bring a score between −1 and 1, a positive one between 0 and 1: 2 / (1 + e^(−S/2)) − 1."""
    return math.tanh(score / 4)


@dataclass
class NounCounts:
    """In how many of some stories each noun occurs, and so how much it says that one names it.

    `unseen` is the number of stories that a noun not among the counts is taken to be in.
    """

    stories: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    unseen: float = 0.0

    def add(self, nouns: Iterable[str]) -> None:
        """Count one more story by its nouns; one that it names twice counts once."""
        self.stories += 1
        self.counts.update(set(nouns))

    def merge(self, other: NounCounts) -> None:
        """Take in the stories that another has counted."""
        self.stories += other.stories
        self.counts.update(other.counts)

    def weigh(self, noun: str, *, compat: bool = False) -> float:
        """Give a noun's idf, log(N / (1 + df)).

        A noun of every story, or of all but one, would count below 0, and finding it against the
        story: it counts 0, with `compat` as the formula has it.
        """
        if not self.stories:
            raise ValueError("no story has been counted")
        idf = math.log(self.stories / (1 + self.counts.get(noun, self.unseen)))
        return idf if compat else max(idf, 0.0)

    def keep_frequent(self, least: int) -> NounCounts:
        """Give a table of the nouns that at least so many stories have.

        What is not in it, a slip of the pen among them, weighs as much as the rarest noun that is
        and no more: with df = 0 it would weigh most of all.
        """
        counts = Counter({noun: n for noun, n in self.counts.items() if n >= least})
        return NounCounts(self.stories, counts, unseen=float(min(counts.values(), default=0)))


_HEAD = "# stories\t"
_REMARK = "## "
# All nouns of a language, with room to spare.
_MOST_BYTES = 50_000_000


def write_table(path: Path, table: NounCounts, about: str = "") -> None:
    """Write counts as text: the number of stories, then a noun and its count a line.

    What `about` says, of its source and licence perhaps, stands before the nouns.
    """
    ordered = sorted(table.counts.items(), key=lambda entry: (-entry[1], entry[0]))
    rows = [f"{noun}\t{count}\n" for noun, count in ordered]
    remarks = [f"{_REMARK}{line}".rstrip() + "\n" for line in about.splitlines()]
    write_lines(path, [f"{_HEAD}{table.stories}\n", *remarks, *rows])


def read_table(path: Path) -> NounCounts:
    """Read counts that `write_table` wrote; a noun that is not there counts as its rarest."""
    try:
        lines = read_bounded(path, _MOST_BYTES).decode("utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error})", "give a table of nouns") from None
    number = lines[0].removeprefix(_HEAD) if lines[0].startswith(_HEAD) else ""
    if not number.isdecimal() or not int(number):
        raise InputError(
            f"{path}: the first line does not say how many stories were counted",
            f"let it be {_HEAD + '1000'!r}",
        )
    stories = int(number)
    counts: Counter[str] = Counter()
    for place, line in enumerate(lines[1:], 2):
        if line.startswith(_REMARK.rstrip()):
            continue
        noun, _, count = line.rpartition("\t")
        if not noun or not count.isdecimal() or not 0 < int(count) <= stories:
            raise InputError(
                f"{path}, line {place}: {line[:80]!r} is no noun with a count up to {stories:,}",
                "write the noun, a tab and in how many stories it occurs",
            )
        counts[noun] = int(count)
    return NounCounts(stories, counts, unseen=float(min(counts.values(), default=0)))
