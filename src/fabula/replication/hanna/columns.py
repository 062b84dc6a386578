"""Columns of a release made again beside the published ones, and the table of them."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula._version import __version__
from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.core.files import note_written, open_atomically, write_json, write_text
from fabula.core.metric import Metric
from fabula.core.plain import read_json
from fabula.core.protocols import Progress
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.scoring.cache import ScoreCache
from fabula.scoring.catalogue import METRICS, columns_of_release
from fabula.scoring.engine import Engine
from fabula.scoring.s3_training import Correlations, correlate_by_story
from fabula.scoring.survey import survey

# Stories that slow metrics take.
SAMPLE = 96
_SECONDS = "seconds.json"
COLUMN_FILES = ("columns.json", "columns.md", "columns.csv")

_ABOUT = (
    "Written by `fabula metrics regenerate` with Fabula {version}. Every column that HANNA "
    "published, made again from its stories: Pearson's r and Spearman's ρ of our values with the "
    "published ones, over the stories by machines. `later` are prompts 48 to 95, on which nothing "
    "was chosen: layers, thresholds and S3's regressors come from prompts 0 to 47. Where the "
    "model is not the one that HANNA used, the two columns measure the same thing with another "
    "reader and need not agree. Seconds are of the machine at hand; what metrics share (one pass "
    "of the encoder) counts for the first."
)
# Longer notes stand below the table.
_SHORT_NOTE = 60
# By scorer and aspect, then by story.
_Scores = dict[tuple[str, str], dict[str, Score]]


@dataclass(frozen=True)
class RegeneratedColumn:
    """A published column and what became of it here.

    `values` are ours by story. Agreement is over the stories of machines: on all items, and on
    the later half of them, on which nothing was chosen.
    """

    name: str
    spec: str
    aspect: str
    model: str
    seconds: float
    values: dict[str, float]
    overall: Correlations | None
    later: Correlations | None
    note: str


def make_columns(
    release: Dataset,
    name: str,
    *,
    sample: int = SAMPLE,
    cache: ScoreCache | None = None,
    spent: dict[str, float] | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[RegeneratedColumn]:
    """Score all stories of a release with the metrics of its columns; the slow take a sample.

    What was scored before and is in the cache is not scored again. `spent` are the seconds that
    each metric took before; this run's are added, also where it is stopped.
    """
    wanted = columns_of_release(name)
    stories, machines = checked_stories(release), by_machines(release)
    metrics = {spec: METRICS.build(spec) for spec, _ in wanted.values()}
    sample_stories = sample_by_item(machines, sample) if sample else stories
    ours: _Scores = {}
    seconds = {} if spent is None else spent
    for chosen, are_slow in ((stories, False), (sample_stories, True)):
        group = [metric for metric in metrics.values() if metric.slow == are_slow]
        if group:
            engine = Engine(group, survey(chosen, group), cache=cache, jobs=jobs, progress=progress)
            _run(engine, chosen, ours, seconds)
    theirs: dict[str, dict[str, float]] = {}
    for score in release.scores:
        theirs.setdefault(score.scorer, {})[score.story] = score.value
    return [
        _column(
            column, metrics[spec], aspect, machines=machines, seconds=seconds[spec],
            ours=ours[spec, aspect], theirs=theirs[column],
        )
        for column, (spec, aspect) in wanted.items()
    ]  # fmt: skip


def _run(engine: Engine, stories: list[Story], ours: _Scores, seconds: dict[str, float]) -> None:
    """Take in all scores, and the seconds even where it is stopped."""
    try:
        with closing(engine.run(stories)) as scores:
            for story, score in scores:
                ours.setdefault((score.scorer, score.aspect), {})[story.id] = score
    finally:
        for spec, taken in engine.seconds.items():
            seconds[spec] = seconds.get(spec, 0.0) + taken


def checked_stories(release: Dataset) -> list[Story]:
    """Give the stories of a release that holds texts and published scores."""
    if not len(release.scores) or not any(story.text for story in release.stories):
        remedy = "see: fabula data show, for the files it needs"
        raise InputError("the release lacks its texts or its published scores", remedy)
    return list(release.stories)


def by_machines(release: Dataset) -> list[Story]:
    """Stories but those that are the references of the others, which metrics find equal."""
    references = release.card.reference_systems
    return [story for story in release.stories if story.system not in references]


def sample_by_item(stories: Sequence[Story], count: int) -> list[Story]:
    """One story of every item, the systems taking turns, until there are enough; 0 takes all."""
    systems = list(dict.fromkeys(story.system for story in stories))
    items = list(dict.fromkeys(story.item for story in stories))
    by_place = {(story.item, story.system): story for story in stories}
    turns = (
        by_place.get((item, systems[(place + turn) % len(systems)]))
        for turn in range(len(systems))
        for place, item in enumerate(items)
    )
    in_turn = [story for story in turns if story is not None]
    return in_turn[:count] if count else list(stories)


def later_half(stories: Sequence[Story]) -> list[Story]:
    """Stories of the later half of the items."""
    items = list(dict.fromkeys(story.item for story in stories))
    later = set(items[len(items) // 2 :])
    return [story for story in stories if story.item in later]


def _column(
    name: str,
    metric: Metric,
    aspect: str,
    *,
    machines: Sequence[Story],
    seconds: float,
    ours: Mapping[str, Score],
    theirs: Mapping[str, float],
) -> RegeneratedColumn:
    values = {story: score.value for story, score in ours.items() if not math.isnan(score.value)}
    return RegeneratedColumn(
        name,
        metric.spec,
        aspect,
        getattr(metric, "model", ""),
        seconds,
        values,
        correlate_by_story(machines, values, theirs),
        correlate_by_story(later_half(machines), values, theirs),
        _note(list(ours.values()), len(machines)),
    )


def _note(scores: Sequence[Score], machines: int) -> str:
    """What a reader of the column has to know: why it is missing, or how much of it is."""
    absent = [score for score in scores if score.status is Status.MISSING_MODEL]
    if absent:
        return f"missing_model: {absent[0].note}"
    undefined = sum(math.isnan(score.value) for score in scores)
    parts = [f"a sample of {len(scores)}"] if len(scores) < machines else []
    return ", ".join(parts + ([f"{undefined} without a value"] if undefined else []))


@contextmanager
def record_seconds(folder: Path) -> Iterator[dict[str, float]]:
    """Give the seconds that metrics took in earlier runs into a folder; write what is added."""
    file = folder / _SECONDS
    spent: dict[str, float] = read_json(file) if file.is_file() else {}
    try:
        yield spent
    finally:
        write_json(file, {spec: round(seconds, 2) for spec, seconds in spent.items()})
        note_written(folder, [_SECONDS])


def column_rows(columns: Sequence[RegeneratedColumn]) -> list[dict[str, Any]]:
    """Rows for printing, one a column."""
    return [
        {
            "column": column.name,
            "spec": column.spec + (f" {column.aspect}" if column.aspect else ""),
            "checkpoint": column.model or "–",
            "stories": len(column.values),
            "r": _figure(column.overall, "r"),
            "rho": _figure(column.overall, "rho"),
            "r_later": _figure(column.later, "r"),
            "rho_later": _figure(column.later, "rho"),
            "seconds": round(column.seconds, 1),
            "note": column.note,
        }
        for column in columns
    ]


def write_columns(columns: Sequence[RegeneratedColumn], folder: Path) -> None:
    """Write our values, the figures, and the table as a page."""
    rows = column_rows(columns)
    write_json(folder / "columns.json", rows)
    write_text(folder / "columns.md", columns_page(rows))
    ids = list(dict.fromkeys(story for column in columns for story in column.values))
    with open_atomically(folder / "columns.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["story", *(column.name for column in columns)])
        writer.writerows(
            [story, *(column.values.get(story, "") for column in columns)] for story in ids
        )
    note_written(folder, COLUMN_FILES)


def columns_page(rows: Sequence[dict[str, Any]]) -> str:
    """Write the table in Markdown."""
    head = "| column | ours | checkpoint | stories | r | ρ | r later | ρ later | s | |"
    lines = ["# HANNA's columns, published and ours", "", _ABOUT.format(version=__version__), ""]
    lines += [head, "|---|---|---|---|---|---|---|---|---|---|"]
    lines += [
        "| " + " | ".join(_cell(name, value) for name, value in row.items()) + " |" for row in rows
    ]
    notes = dict.fromkeys(row["note"] for row in rows if len(row["note"]) > _SHORT_NOTE)
    lines += [f"\n{note}." for note in notes]
    return "\n".join(lines) + "\n"


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if name in ("spec", "checkpoint") and value != "–":
        return f"`{value}`"
    if name == "note" and len(value) > _SHORT_NOTE:
        return str(value).partition(":")[0]
    return f"{value:.3f}" if isinstance(value, float) and name != "seconds" else str(value)


def _figure(correlations: Correlations | None, name: str) -> float | None:
    return None if correlations is None else round(float(getattr(correlations, name)), 4)
