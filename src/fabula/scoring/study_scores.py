"""The columns of a study: metrics that its file names, run over the stories of its data set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import SettingError, UserError, closest
from fabula.core.metric import Metric
from fabula.core.protocols import Progress, track
from fabula.core.score import Score
from fabula.core.story import Story, count_text
from fabula.core.table import ScoreTable
from fabula.meta.study import StudyFile
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import evaluate

# `rouge(n=2).recall`: one value of a metric that gives several.
_ONE_VALUE = re.compile(r"(\w+(?:\(.*\))?)\.(\w+)")


@dataclass(frozen=True)
class StudyColumn:
    """A column that a study asks for: how many stories have a value, and why others have none.

    `aspect` is the gold that it is held against; "" stands for every one. `value` is which of
    several values of the metric it is.
    """

    name: str
    spec: str
    aspect: str = ""
    value: str = ""
    scored: int = 0
    stories: int = 0
    why: str = ""


@dataclass(frozen=True)
class ScoredStudy:
    """A data set with the scores that a study asks for; `by_references` by their number."""

    dataset: Dataset
    columns: tuple[StudyColumn, ...] = ()
    by_references: Mapping[int, ScoreTable] = field(default_factory=dict)


@dataclass(frozen=True)
class _Wanted:
    """A metric by the name of its column; `value` is which of its values is meant."""

    name: str
    aspect: str
    metric: Metric
    value: str


def score_study(
    file: StudyFile, dataset: Dataset, *, cache: bool = False, progress: Progress | None = None
) -> ScoredStudy:
    """Run the metrics of a study file; one that lacks something gives no column, and says why.

    What a metric lacks (pictures, a package, weights) stands in its column; the others run.
    """
    wanted = list(_read_wanted(file.metrics))
    if file.items:
        dataset = choose_items(dataset, file.items)
    if file.human:
        dataset = tell_reference(dataset, file.human)
    if not wanted:
        return ScoredStudy(dataset)
    readable = [story for story in dataset.stories if story.text]
    scores: list[Score] = []
    columns = []
    for column in track(wanted, progress):
        found, why = _run(column, readable, cache=cache)
        known = [score for score in found if score.ok]
        columns.append(
            StudyColumn(
                column.name, column.metric.spec, column.aspect, column.value, len(known),
                len(dataset.stories), why or _describe_missing(found, len(dataset.stories)),
            )
        )  # fmt: skip
        scores += found if known else []
    cards = {
        column.name: ScorerCard(
            column.metric.card.family, column.metric.direction, column.metric.reads
        )
        for column, ran in zip(wanted, columns, strict=True)
        if ran.scored
    }
    joined = replace(
        dataset,
        scores=ScoreTable(dataset.stories, [*dataset.scores, *scores]),
        scorers={**dataset.scorers, **cards},
    )
    return ScoredStudy(joined, tuple(columns), _vary_references(file, wanted, readable, cache))


def _read_wanted(metrics: Mapping[str, object]) -> Iterator[_Wanted]:
    for name, spelled in metrics.items():
        by_aspect = spelled if isinstance(spelled, Mapping) else {"": spelled}
        for aspect, text in by_aspect.items():
            if not isinstance(text, str):
                raise SettingError(
                    f"[metrics] {name}: {text!r} is no metric", "name one, such as 'rouge(n=2)'"
                )
            yield _Wanted(name, aspect, *_build(name, text))


def _build(name: str, text: str) -> tuple[Metric, str]:
    """Build a metric; of several values the one without a name is meant, or else the last."""
    parted = _ONE_VALUE.fullmatch(text.strip())
    metric = METRICS.build(parted[1] if parted else text)
    main = "" if "" in metric.aspects else metric.aspects[-1]
    value = parted[2] if parted else main
    if value not in metric.aspects:
        known = closest(value, metric.aspects)
        raise SettingError(f"[metrics] {name}: {metric.name} gives no {value!r}", known)
    return metric, value


def _run(wanted: _Wanted, stories: Sequence[Story], *, cache: bool) -> tuple[list[Score], str]:
    """Score stories for one column; or say why that cannot be done."""
    try:
        table = evaluate(list(stories), wanted.metric, cache=cache)
    except UserError as error:
        return [], str(error)
    scores = [
        replace(score, scorer=wanted.name, aspect=wanted.aspect)
        for score in table
        if score.aspect == wanted.value
    ]
    return scores, ""


def _describe_missing(scores: Sequence[Score], stories: int) -> str:
    """Say what most of the stories without a value lack."""
    notes = Counter(score.note or str(score.status) for score in scores if not score.ok)
    if untold := stories - len(scores):
        notes["the story has no text"] += untold
    if not notes:
        return ""
    (note, _), *others = notes.most_common()
    more = f" (and {count_text(len(others), 'other reason')})" if others else ""
    return f"{note}{more}"


def _vary_references(
    file: StudyFile, wanted: Sequence[_Wanted], stories: Sequence[Story], cache: bool
) -> dict[int, ScoreTable]:
    """Score the stories that have enough references with the first one, two … of them.

    Every metric that reads references is asked, unless the file names some.
    """
    asked = file.options.get("references", {})
    counts, names = asked.get("counts", ()), asked.get("metrics", ())
    for name in names:
        if name not in file.metrics:
            problem = f"[references] metrics: no column is called {name!r}"
            raise SettingError(problem, closest(name, file.metrics))
    if any(count < 1 for count in counts):
        raise SettingError("[references] counts: a count is below 1", "give 1 or more")
    chosen = [
        column
        for column in wanted
        if "reference" in column.metric.needs and (not names or column.name in names)
    ]
    most = max(counts, default=1)
    enough = [story for story in stories if len(story.nonblank_references) >= most]
    tables = {}
    for count in sorted(set(counts)) if chosen and enough else ():
        fewer = [replace(story, references=story.nonblank_references[:count]) for story in enough]
        scores = [score for column in chosen for score in _run(column, fewer, cache=cache)[0]]
        tables[count] = ScoreTable(fewer, scores)
    return tables


def choose_items(dataset: Dataset, count: int) -> Dataset:
    """Take so many items at even distances, of those that every system told if there are any.

    Stories without an item are items by themselves.
    """
    if count < 1:
        raise SettingError(f"items = {count} will not do", "give 1 or more")
    by_item: dict[str, list[Story]] = {}
    for story in dataset.stories:
        by_item.setdefault(story.item if story.item is not None else story.id, []).append(story)
    systems = {story.system for story in dataset.stories}
    whole = [item for item, told in by_item.items() if {one.system for one in told} == systems]
    among = whole or list(by_item)
    places = np.linspace(0, len(among) - 1, min(count, len(among))).round().astype(int)
    kept = [story for place in dict.fromkeys(places.tolist()) for story in by_item[among[place]]]
    return _keep_stories(dataset, kept)


def _keep_stories(dataset: Dataset, stories: Sequence[Story]) -> Dataset:
    """Put these stories in place of all; what is said of others is left out."""
    ids = {story.id for story in stories}

    def keep(scores: Iterable[Score]) -> ScoreTable:
        return ScoreTable(stories, [score for score in scores if score.story in ids])

    return replace(
        dataset,
        stories=tuple(stories),
        ratings=keep(dataset.ratings),
        scores=keep(dataset.scores),
        preferences=tuple(
            one for one in dataset.preferences if one.better in ids and one.worse in ids
        ),
    )


def tell_reference(dataset: Dataset, system: str) -> Dataset:
    """Make the first reference of every item a story of `system`, and a reference no longer.

    So people's stories are scored as the systems' are, against references that nobody here wrote.
    An item with fewer than two references stays as it is.
    """
    if any(story.system == system for story in dataset.stories):
        raise SettingError(f"human = {system!r} is a system of the data set", "name another")
    told: dict[str, Story] = {}
    stories: list[Story] = []
    for story in dataset.stories:
        first, *others = story.references or ("",)
        if story.item is not None and others:
            told.setdefault(story.item, Story(
                f"{system}/{story.item}", first, references=tuple(others), system=system,
                item=story.item, prompt=story.prompt,
            ))  # fmt: skip
            story = replace(story, references=tuple(others))
        stories.append(story)
    return _keep_stories(dataset, (*stories, *told.values()))
