"""The files of a shard: its stories and its scores as Parquet, and a mark that says they are there.

A part is written here, to a hidden name, and put into its place when it is whole; the mark comes
last. What was put there without a mark, because somebody was killed, is written again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, fields
from typing import Any

from fabula.core.addresses import Place
from fabula.core.files import checksum_file
from fabula.core.score import Score, Summary
from fabula.core.story import Story
from fabula.core.table import part_name
from fabula.scoring.run_parts import (
    SCORE_ROWS,
    STORY_ROWS,
    ParquetColumns,
    score_schema,
    story_cells,
    story_schema,
)

HIDDEN = ".shards"


@dataclass
class Part:
    """What is known of a shard that was scored."""

    stories: int
    scores: int
    bytes: tuple[int, int]
    sha256: tuple[str, str]
    summary: list[dict[str, Any]]
    notes: list[list[str]]
    seconds: dict[str, float]
    cpu_s: float
    """Seconds of a processor that it took, whoever else used the machine."""

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Part:
        """Make one of its mark."""
        known = {name: plain[name] for name in (one.name for one in fields(cls))}
        return cls(**known | {"bytes": tuple(plain["bytes"]), "sha256": tuple(plain["sha256"])})

    def plain(self) -> dict[str, Any]:
        """Write it as a mark."""
        return asdict(self)

    def summarise(self) -> Summary:
        """Give the summary of its scores."""
        summary = Summary.from_rows(self.summary)
        summary.notes = {(scorer, status): note for scorer, status, note in self.notes}
        return summary


def staged_name(number: int) -> str:
    """Name the scores of a shard that wait for being put in place, beside a finished run."""
    return f"{HIDDEN}/scores-{number:05d}.parquet"


class PartWriter:
    """Writes stories and scores of a shard; `publish` puts both files in place.

    Beside a finished run, to which scores are added, its stories are there and the scores wait.
    """

    def __init__(self, place: Place, number: int, *, adds: bool = False) -> None:
        self._place, self._number, self._adds = place, number, adds
        self._paths = (place.scratch(), place.scratch())
        self._stories = ParquetColumns(self._paths[0], story_schema(), STORY_ROWS)
        self._scores = ParquetColumns(self._paths[1], score_schema(), SCORE_ROWS)
        self._latest: Story | None = None
        self._began = time.process_time()
        self._summary = Summary()

    def add(self, story: Story, score: Score) -> None:
        """Write a score, and its story if that is a new one."""
        if story is not self._latest:
            self._latest = story
            self._stories.add(story_cells(story))
        self._summary.add(story.system, score)
        value = None if score.value != score.value else score.value
        about = (score.story, story.item, story.system, score.scorer, score.aspect)
        self._scores.add((*about, value, str(score.status), score.coverage, score.note))

    def publish(self, seconds: dict[str, float]) -> Part:
        """Put both files in place and say what they are; `seconds` are those of each metric."""
        self._stories.close()
        self._scores.close()
        sums = [checksum_file(path) for path in self._paths]
        sizes = [path.stat().st_size for path in self._paths]
        scores = staged_name(self._number) if self._adds else part_name("scores", self._number)
        if not self._adds:
            self._place.put(part_name("stories", self._number), self._paths[0])
        self._place.put(scores, self._paths[1])
        return Part(
            self._stories.rows,
            self._scores.rows,
            (sizes[0], sizes[1]),
            (sums[0], sums[1]),
            self._summary.rows(),
            [[scorer, str(status), note] for (scorer, status), note in self._summary.notes.items()],
            {spec: round(taken, 3) for spec, taken in seconds.items()},
            round(time.process_time() - self._began, 3),
        )

    def __enter__(self) -> PartWriter:
        return self

    def __exit__(self, *_: object) -> None:
        """Take away what was not put in place."""
        with ExitStack() as stack:
            for path in self._paths:
                stack.callback(path.unlink, missing_ok=True)
            for rows in (self._stories, self._scores):
                with suppress(ValueError, OSError):
                    rows.close()


def digest_lines(lines: Iterable[str]) -> str:
    """SHA-256 of some lines."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
