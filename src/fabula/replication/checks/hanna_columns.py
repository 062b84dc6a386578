"""HANNA's published metric columns, regenerated from its stories.

Those of string metrics are equal, or nearly. Those of models come from other checkpoints than
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
from fabula.datasets import load_dataset
from fabula.replication.checks._finding import Finding, correlation, equality, unchecked
from fabula.replication.hanna.columns import (
    SAMPLE,
    by_machines,
    later_half,
    sample_by_item,
)
from fabula.scoring.catalogue import METRICS, columns_of_release
from fabula.scoring.evaluate import cached_scores, evaluate
from fabula.scoring.s3_training import Correlations, correlate_by_story

_PART = "HANNA's columns (Chhun et al., 2022), 1,056 stories"
_MODELS = "HANNA's columns that ask a model, prompts 48 to 95 (chosen on 0 to 47), machine stories"

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

Values = dict[str, float]


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare every column that a metric's card says it regenerates."""
    columns = columns_of_release("hanna")
    hanna = _release(data / "data" / "hanna") if data else None
    if hanna is None:
        why = "needs hanna/ with stories and scores (fabula data show hanna) below --data/data"
        yield from (unchecked(_part(spec), column, why) for column, (spec, _) in columns.items())
        return
    published: dict[str, Values] = {}
    for score in hanna.scores:
        published.setdefault(score.scorer, {})[score.story] = score.value
    machines = by_machines(hanna)
    specs = dict.fromkeys(spec for spec, _ in columns.values())
    # To check what is here is not to ask a hub for gigabytes.
    with switch_on("FABULA_OFFLINE"):
        ours = _scores(hanna, [METRICS.build(spec) for spec in specs])
    for column, (spec, aspect) in columns.items():
        found = ours.get((spec, aspect))
        if found is None:
            yield unchecked(_part(spec), column, _REMEDY)
        elif absent := next((s for s in found if s.status is Status.MISSING_MODEL), None):
            yield unchecked(_part(spec), column, absent.note)
        elif _part(spec) == _PART:
            yield _compared(column, found, published[column], machines={s.id for s in machines})
        else:
            yield _agreeing(column, spec, machines, ours=found, theirs=published[column])


def _part(spec: str) -> str:
    return _MODELS if _asks_model(METRICS.build(spec)) else _PART


def _asks_model(metric: Metric) -> bool:
    return metric.card.family != "string"


def _scores(hanna: Dataset, metrics: Sequence[Metric]) -> dict[tuple[str, str], list[Score]]:
    """Score what is quick; the rest as it was scored before, if it was."""
    stories = list(hanna.stories)
    quick = [one for one in metrics if not _asks_model(one) or one.name in _QUICK]
    rest = [one for one in metrics if one not in quick]
    absent = [one for one in rest if one.absence]
    rest = [one for one in rest if one not in absent]
    # One story is enough to hear how to get a model.
    tables = [evaluate(stories, quick), *([evaluate(stories[:1], absent)] if absent else [])]
    tables.append(cached_scores(stories, [one for one in rest if not one.slow]))
    tables.append(
        cached_scores(sample_by_item(by_machines(hanna), SAMPLE), [one for one in rest if one.slow])
    )
    found: dict[tuple[str, str], list[Score]] = {}
    for score in (score for table in tables for score in table):
        found.setdefault((score.scorer, score.aspect), []).append(score)
    return found


def _release(folder: Path) -> Dataset | None:
    """Load the release, if both its texts and its scores are there."""
    if not folder.is_dir():
        return None
    found = load_dataset("hanna", folder)
    return found if len(found.scores) and found.stories[0].text else None


def _compared(column: str, scores: list[Score], theirs: Values, *, machines: set[str]) -> Finding:
    values = {
        score.story: (math.inf if math.isnan(score.value) else score.value, theirs[score.story])
        for score in scores
    }
    if column in _LEAST_R:
        harder = [pair for story, pair in values.items() if story in machines]
        every = list(values.values())
        return correlation(_PART, column, every, harder, least=_LEAST_R[column])
    tolerance = _TOLERANCE.get(column.partition("-")[0], _USUAL_TOLERANCE)
    return equality(_PART, column, list(values.values()), tolerance=tolerance, share=_SHARE)


def _agreeing(
    column: str, spec: str, machines: list[Story], *, ours: list[Score], theirs: Values
) -> Finding:
    values = {score.story: score.value for score in ours if not math.isnan(score.value)}
    later = correlate_by_story(later_half(machines), values, theirs)
    overall = correlate_by_story(machines, values, theirs)
    least = _LEAST_LATER_R.get(column)
    good = later is not None and (least is None or later.r >= least)
    return Finding(
        _MODELS,
        f"{column}: `{spec}`, {getattr(METRICS.build(spec), 'model', '')}",
        "–" if least is None else f"r ≥ {least:g}",
        f"{_said(later)}; all prompts: {_said(overall)}",
        "reported" if least is None else "verified" if good else "short",
    )


def _said(found: Correlations | None) -> str:
    return f"r = {found.r:.3f}, ρ = {found.rho:.3f}, n = {found.n}" if found else "undefined"
