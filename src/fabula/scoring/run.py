"""A run: a file of stories in, a folder of scores out, in bounded memory."""

from __future__ import annotations

import importlib.metadata
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fabula._version import __version__
from fabula.core.metric import Metric
from fabula.core.protocols import Progress
from fabula.core.score import Score, Summary
from fabula.core.story import Story
from fabula.core.table import score_row
from fabula.datasets.tables.stories import StoryFile
from fabula.scoring.cache import open_cache
from fabula.scoring.engine import Engine
from fabula.scoring.folder import RowWriter, RunFolder
from fabula.scoring.survey import survey

_PACKAGES = ("numpy", "sacrebleu", "rapidfuzz", "regex", "numba", "spacy", "pyarrow")


@dataclass(frozen=True)
class RunResult:
    """What came out of a run."""

    record: dict[str, Any]
    summary: Summary
    folder: Path | None


@dataclass(frozen=True)
class RunOptions:
    """How to run: where to write, what to keep, how many processes, whom to tell."""

    folder: Path | None = None
    overwrite: bool = False
    cache: bool | Path = True
    jobs: int = 1
    strict: bool = False
    progress: Progress | None = None
    on_survey: Callable[[], None] | None = None
    on_row: Callable[[dict[str, Any]], None] | None = None
    on_score: Callable[[Story, Score], None] | None = None


def run(source: StoryFile, metrics: Sequence[Metric], options: RunOptions) -> RunResult:
    """Score a file of stories; write nothing before all of it was found sound."""
    started = time.monotonic()
    surveyed = survey(source, metrics)
    question = _question(source, metrics)
    folder = RunFolder(options.folder) if options.folder else None
    if folder and not options.overwrite:
        folder.refuse_another(question)
    if options.on_survey:
        options.on_survey()
    with (
        open_cache(options.cache) as cache,
        folder.partial() if folder else nullcontext(None) as partial,
    ):
        engine = Engine(
            metrics,
            surveyed,
            cache=cache,
            jobs=options.jobs,
            progress=options.progress,
            strict=options.strict,
        )
        summary = _score(engine, source, partial, options)
        seconds = time.monotonic() - started
        record = _record(source, engine, question, summary, surveyed.count, seconds)
        if folder and partial:
            folder.publish(partial, record)
    return RunResult(record, summary, options.folder)


def _score(engine: Engine, source: StoryFile, partial: Path | None, options: RunOptions) -> Summary:
    summary = Summary()
    with (
        RowWriter(partial) if partial else nullcontext(None) as writer,
        closing(engine.run(source)) as scores,
    ):
        latest = None
        for story, score in scores:
            summary.add(story.system, score)
            if options.on_score:
                options.on_score(story, score)
            if writer and story is not latest:
                writer.write_story(story)
            latest = story
            if writer or options.on_row:
                row = score_row(story, score)
                if writer:
                    writer.write(row)
                if options.on_row:
                    options.on_row(row)
    return summary


def _question(source: StoryFile, metrics: Sequence[Metric]) -> dict[str, Any]:
    """What the run answers; the same question may be asked again of the same folder."""
    columns = {role: list(names) for role, names in source.columns.names.items()}
    return {
        "input": source.checksum(),
        "format": source.kind,
        "encoding": source.encoding,
        "columns": columns,
        "metrics": [metric.identity for metric in metrics],
    }


def _record(
    source: StoryFile,
    engine: Engine,
    question: dict[str, Any],
    summary: Summary,
    stories: int,
    seconds: float,
) -> dict[str, Any]:
    return {
        "fabula": __version__,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "input": {"path": source.label, "format": source.kind, "stories": stories},
        "question": question,
        "metrics": [
            {
                "spec": metric.spec,
                "direction": metric.card.direction,
                "family": metric.card.family,
                "signature": metric.signature(),
                "short_signature": metric.signature(short=True),
                "seconds": round(engine.seconds[metric.spec], 3),
            }
            for metric in engine.metrics
        ],
        "versions": {"python": platform.python_version(), **_versions()},
        "summary": summary.rows(),
    }


def _versions() -> dict[str, str]:
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
