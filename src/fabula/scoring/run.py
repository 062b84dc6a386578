"""A run: a file of stories in, a folder of scores out, in bounded memory."""

from __future__ import annotations

import importlib.metadata
import platform
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby, repeat
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fabula._version import __version__
from fabula.core.errors import InputError
from fabula.core.metric import Metric
from fabula.core.protocols import Progress
from fabula.core.score import Score, Summary
from fabula.core.story import Story
from fabula.core.table import read_scores, score_row, without_halves
from fabula.scoring.cache import open_cache
from fabula.scoring.engine import Engine
from fabula.scoring.folder import KeptMetrics, RowWriter, RunFolder
from fabula.scoring.survey import digest_pictures, survey

if TYPE_CHECKING:
    from fabula.datasets.tables.several import SeveralFiles
    from fabula.datasets.tables.stories import StoryFile

# What a run reads: a file, or several of them. A name for type checkers, who alone need to know.
StorySet: TypeAlias = "StoryFile | SeveralFiles"

_PACKAGES = ("numpy", "sacrebleu", "rapidfuzz", "regex", "numba", "spacy", "pyarrow")


@dataclass(frozen=True)
class RunResult:
    """What came out of a run."""

    record: dict[str, Any]
    summary: Summary
    folder: Path | None
    kept: tuple[str, ...] = ()
    """Specs of metrics that the folder held already, whose scores stayed as they were."""


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


def run(source: StorySet, metrics: Sequence[Metric], options: RunOptions) -> RunResult:
    """Score a file of stories; write nothing before all of it was found sound.

    A folder that holds a run over the same stories keeps its scores: only metrics that it does not
    have yet are computed.
    """
    started = time.monotonic()
    folder = RunFolder(options.folder) if options.folder else None
    question = _question(source, metrics)
    kept = KeptMetrics()
    if folder:
        folder.refuse_foreign(source.inputs(), overwrite=options.overwrite)
        if not options.overwrite:
            kept = folder.keep_metrics(question, metrics)
    new = [metric for metric in metrics if metric.spec not in kept.specs]
    surveyed = survey(source, new)
    if options.on_survey:
        options.on_survey()
    with (
        open_cache(options.cache) as cache,
        folder.partial(None if options.overwrite else kept.stamp)
        if folder
        else nullcontext(None) as partial,
    ):
        if folder and partial:
            folder.note_begun(partial, _tell_begun(source, new, surveyed.count))
        engine = Engine(
            new,
            surveyed,
            cache=cache,
            jobs=options.jobs,
            progress=options.progress,
            strict=options.strict,
        )
        summary = _score(_join(engine, source, options.folder, kept), partial, options)
        seconds = time.monotonic() - started
        record = _record(source, engine, question, kept, summary, surveyed.count, seconds)
        if folder and partial:
            folder.publish(partial, record)
    return RunResult(record, summary, options.folder, tuple(kept.specs))


def _tell_begun(source: StorySet, metrics: Sequence[Metric], stories: int) -> dict[str, Any]:
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "input": source.label,
        "stories": stories,
        "metrics": [metric.spec for metric in metrics],
    }


def _join(
    engine: Engine, source: StorySet, folder: Path | None, kept: KeptMetrics
) -> Generator[tuple[Story, Score], None, None]:
    """Give all scores, story by story: those that are kept, then the new ones."""
    if folder is None or not kept.specs:
        with closing(engine.run(source)) as scores:
            yield from scores
        return
    earlier = (score for score in read_scores(folder) if score.scorer in kept.specs)
    with closing(engine.run(source)) as scores:
        fresh = groupby(scores, key=itemgetter(0)) if engine.metrics else zip(source, repeat(()))
        yield from join_scores(fresh, earlier, str(folder))


def join_scores(
    fresh: Iterable[tuple[Story, Iterable[tuple[Story, Score]]]],
    earlier: Iterable[Score],
    where: str,
) -> Generator[tuple[Story, Score], None, None]:
    """Give all scores, story by story: the earlier ones, which lie at `where`, then the new."""
    groups = groupby(earlier, key=attrgetter("story"))
    for story, new in fresh:
        name, own = next(groups, ("", ()))
        if name not in (story.id, without_halves(story.id)):
            problem = f"{where}: scores are not in the order of the stories"
            raise InputError(problem, "score again with --overwrite")
        yield from ((story, score) for score in own)
        yield from new


def _score(
    scores: Generator[tuple[Story, Score], None, None], partial: Path | None, options: RunOptions
) -> Summary:
    summary = Summary()
    with (
        RowWriter(partial) if partial else nullcontext(None) as writer,
        closing(scores),
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


def _question(source: StorySet, metrics: Sequence[Metric]) -> dict[str, Any]:
    """What is scored: of the same stories, read the same way, a folder may answer more and more."""
    columns = {role: list(names) for role, names in source.columns.names.items()}
    question = {
        "input": source.checksum(),
        "format": source.kind,
        "encoding": source.encoding,
        "columns": columns,
    }
    if "images" in columns and any("images" in metric.reads for metric in metrics):
        question["pictures"] = digest_pictures(source)
    return question


def _record(
    source: StorySet,
    engine: Engine,
    question: dict[str, Any],
    kept: KeptMetrics,
    summary: Summary,
    stories: int,
    seconds: float,
) -> dict[str, Any]:
    new = describe_metrics(engine.metrics, engine.seconds)
    identities = [*kept.identities, *(metric.identity for metric in engine.metrics)]
    seen = {"pictures": kept.pictures} if kept.pictures else {}
    return {
        "fabula": __version__,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 3),
        "input": {
            "path": source.label,
            "format": source.kind,
            "stories": stories,
            **({"left_out": source.left_out} if source.left_out else {}),
        },
        "question": seen | question | {"metrics": identities},
        "metrics": [*kept.entries, *new],
        "versions": list_versions(),
        "summary": summary.rows(),
    }


def describe_metrics(
    metrics: Sequence[Metric], seconds: Mapping[str, float]
) -> list[dict[str, Any]]:
    """What run.json says of metrics, and the seconds that each took."""
    return [
        {
            "spec": metric.spec,
            "direction": metric.direction,
            "family": metric.card.family,
            "signature": metric.signature(),
            "short_signature": metric.signature(short=True),
            "seconds": round(seconds[metric.spec], 3),
        }
        for metric in metrics
    ]


def list_versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers may depend on."""
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
