"""HANNA's paper, from its ratings and scores, and its metric columns, regenerated from its stories.

Columns of string metrics are equal, or nearly. Those of models come from other checkpoints than
HANNA's: they are compared with the published ones where `fabula metrics regenerate hanna` has
made them, for an encoder's pass over all stories takes too long for a check.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabula.core.dataset import Dataset
from fabula.core.machine import switch_on
from fabula.core.metric import Metric
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.datasets import datasets_below, load_dataset, printed_below
from fabula.models.store.fetch import LOOK_ONLY
from fabula.replication.checks._result import CheckResult, compare_values, correlate_values, skip
from fabula.replication.hanna import read_printed, replicate
from fabula.replication.hanna.columns import (
    SAMPLE,
    by_machines,
    later_half,
    sample_by_item,
)
from fabula.reports.study_view import PrintedValue
from fabula.scoring.catalogue import METRICS, columns_of_release
from fabula.scoring.evaluate import cached_scores, evaluate
from fabula.scoring.s3_training import Correlations, correlate_by_story

_COLUMNS = "HANNA's columns (Chhun et al., 2022), 1,056 stories"
_MODEL_COLUMNS = (
    "HANNA's columns that ask a model, prompts 48 to 95 (chosen on 0 to 47), machine stories"
)

# The Perl script prints five decimals; its neighbours differ by one in the last.
_TOLERANCE = {"ROUGE": 1e-5 + 1e-9}
_USUAL_TOLERANCE = 1e-6
_SHARE = 0.999

# Not reproduced but approached: the published column comes from a tool with a paraphrase table.
_LEAST_R = {"METEOR": 0.96}

# What the columns of models have to reach on prompts on which nothing was chosen.
_LEAST_LATER_R = {
    "BERTScore F1": 0.88,
    "BERTScore Recall": 0.92,
    "SUPERT-SS": 0.75,
    "MoverScore": 0.50,
    "ROUGE-WE-3 Recall": 0.75,
    "ROUGE-WE-3 Precision": 0.75,
    "ROUGE-WE-3 F-Score": 0.75,
}
_QUICK = ("rouge_we", "s3")
_REMEDY = "run: fabula metrics regenerate hanna -o runs/columns"

StoryValues = dict[str, float]
_PAPER = "HANNA's paper (Chhun et al., 2022), from its ratings and released scores"
_PRINTED_VALUES = "reference/hanna_expected.json"
# Figures that rest on chance: how far the values may be off on average.
_MOST_ON_AVERAGE = {"Figures 7 and 26": 2.0, "Figure 7": 2.0}


def check_hanna_columns(data: Path | None) -> Iterator[CheckResult]:
    """Compare every column that a metric's card says it regenerates."""
    columns = columns_of_release("hanna")
    hanna = _load_release(datasets_below(data) / "hanna") if data else None
    if hanna is None:
        why = "needs hanna/ with stories and scores (fabula data show hanna) below --data"
        yield from (skip(_part_of(spec), column, why) for column, (spec, _) in columns.items())
        return
    published: dict[str, StoryValues] = {}
    for score in hanna.scores:
        published.setdefault(score.scorer, {})[score.story] = score.value
    machines = by_machines(hanna)
    specs = dict.fromkeys(spec for spec, _ in columns.values())
    # To check what is here is not to ask a hub for gigabytes.
    with switch_on(LOOK_ONLY):
        ours = _score_columns(hanna, [METRICS.build(spec) for spec in specs])
    for column, (spec, aspect) in columns.items():
        scores = ours.get((spec, aspect))
        if scores is None:
            yield skip(_part_of(spec), column, _REMEDY)
        elif absent := next((s for s in scores if s.status is Status.MISSING_MODEL), None):
            yield skip(_part_of(spec), column, absent.note)
        elif _part_of(spec) == _COLUMNS:
            ids = {story.id for story in machines}
            yield _compare_column(column, scores, published[column], machines=ids)
        else:
            yield _correlate_column(column, spec, machines, ours=scores, theirs=published[column])


def _part_of(spec: str) -> str:
    return _MODEL_COLUMNS if _asks_model(METRICS.build(spec)) else _COLUMNS


def _asks_model(metric: Metric) -> bool:
    return metric.card.family != "string"


def _score_columns(hanna: Dataset, metrics: Sequence[Metric]) -> dict[tuple[str, str], list[Score]]:
    """Score what is quick; the rest as it was scored before, if it was."""
    stories = list(hanna.stories)
    quick = [metric for metric in metrics if not _asks_model(metric) or metric.name in _QUICK]
    others = [metric for metric in metrics if metric not in quick]
    absent = [metric for metric in others if metric.absence]
    present = [metric for metric in others if metric not in absent]
    # One story is enough to hear how to get a model.
    tables = [evaluate(stories, quick), *([evaluate(stories[:1], absent)] if absent else [])]
    tables.append(cached_scores(stories, [metric for metric in present if not metric.slow]))
    sample = sample_by_item(by_machines(hanna), SAMPLE)
    tables.append(cached_scores(sample, [metric for metric in present if metric.slow]))
    scores: dict[tuple[str, str], list[Score]] = {}
    for score in (score for table in tables for score in table):
        scores.setdefault((score.scorer, score.aspect), []).append(score)
    return scores


def _load_release(folder: Path) -> Dataset | None:
    """Load the release, if both its texts and its scores are there."""
    if not folder.is_dir():
        return None
    hanna = load_dataset("hanna", folder)
    return hanna if len(hanna.scores) and hanna.stories[0].text else None


def _compare_column(
    column: str, scores: list[Score], theirs: StoryValues, *, machines: set[str]
) -> CheckResult:
    values = {
        score.story: (math.inf if math.isnan(score.value) else score.value, theirs[score.story])
        for score in scores
    }
    if column in _LEAST_R:
        harder = [pair for story, pair in values.items() if story in machines]
        every = list(values.values())
        return correlate_values(_COLUMNS, column, every, harder, least=_LEAST_R[column])
    tolerance = _TOLERANCE.get(column.partition("-")[0], _USUAL_TOLERANCE)
    return compare_values(
        _COLUMNS, column, list(values.values()), tolerance=tolerance, share=_SHARE
    )


def _correlate_column(
    column: str, spec: str, machines: list[Story], *, ours: list[Score], theirs: StoryValues
) -> CheckResult:
    values = {score.story: score.value for score in ours if not math.isnan(score.value)}
    later = correlate_by_story(later_half(machines), values, theirs)
    overall = correlate_by_story(machines, values, theirs)
    least = _LEAST_LATER_R.get(column)
    good = later is not None and (least is None or later.r >= least)
    return CheckResult(
        _MODEL_COLUMNS,
        f"{column}: `{spec}`, {getattr(METRICS.build(spec), 'model', '')}",
        "–" if least is None else f"r ≥ {least:g}",
        f"{_correlation_words(later)}; all prompts: {_correlation_words(overall)}",
        "reported" if least is None else "verified" if good else "short",
    )


def _correlation_words(of: Correlations | None) -> str:
    return f"r = {of.r:.3f}, ρ = {of.rho:.3f}, n = {of.n}" if of else "undefined"


def check_hanna_paper(data: Path | None) -> Iterator[CheckResult]:
    """Compare every printed number, table by table."""
    folder = datasets_below(data) / "hanna" if data else None
    values_file = printed_below(data, _PRINTED_VALUES) if data else None
    if not folder or not folder.is_dir() or not values_file or not values_file.is_file():
        why = f"needs hanna and {_PRINTED_VALUES} below --data"
        yield skip(_PAPER, "tables and figures", why)
        return
    hanna, printed = load_dataset("hanna", folder), read_printed(values_file)
    by_table: dict[str, list[PrintedValue]] = {}
    for value in replicate(hanna, printed):
        by_table.setdefault(value.table, []).append(value)
    yield from (_check_table(table, values) for table, values in by_table.items())


def _check_table(table: str, values: Sequence[PrintedValue]) -> CheckResult:
    """Count what holds; what is known to be a misprint is said, and does not count against us."""
    off = [abs(value.ours - value.printed) for value in values]
    wrong = [value for value in values if not value.holds and not value.note]
    most = _MOST_ON_AVERAGE.get(table.partition(":")[0].partition(" with")[0])
    mean = sum(off) / len(off)
    good = not wrong and (most is None or mean <= most)
    average = f", {most:g} on average" if most else ""
    words = [
        f"{sum(value.holds for value in values):,} of {len(values):,} within",
        f"largest difference {max(off):.2g}",
        *([f"mean {mean:.2g}"] if most else []),
        *(
            f"{misprint.what}: printed {misprint.printed:g}, {misprint.note}"
            for misprint in values
            if misprint.note
        ),
    ]
    return CheckResult(
        _PAPER,
        table,
        f"within {values[0].tolerance:.2g}{average}",
        ", ".join(words),
        "verified" if good else "short",
    )
