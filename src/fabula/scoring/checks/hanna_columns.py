"""HANNA's published metric columns, regenerated from its stories."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from fabula.core.dataset import Dataset
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.scoring.catalogue import METRICS
from fabula.scoring.checks._finding import Finding, correlation, equality, unchecked
from fabula.scoring.evaluate import evaluate

_PART = "HANNA's columns (Chhun et al., 2022), 1,056 stories"

# The Perl script prints five decimals; its neighbours differ by one in the last.
_TOLERANCE = {"ROUGE": 1e-5 + 1e-9}
_USUAL_TOLERANCE = 1e-6
_SHARE = 0.999

# Not reproduced but approached: the published column comes from a tool with a paraphrase table.
_LEAST_R = {"METEOR": 0.96}


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare every column that a metric's card says it regenerates."""
    columns = {
        column: found
        for name in METRICS.names()
        for column, found in METRICS.get(name).card.published.get("hanna", {}).items()
    }
    hanna = _release(data / "data" / "hanna") if data else None
    if hanna is None:
        why = "needs hanna/ with stories and scores (fabula data show hanna) below --data/data"
        yield from (unchecked(_PART, column, why) for column in columns)
        return
    stories = list(hanna.stories)
    published = {(score.scorer, score.story): score.value for score in hanna.scores}
    table = evaluate(stories, sorted({spec for spec, _ in columns.values()}))
    ours = {(score.scorer, score.aspect, score.story): score for score in table}
    for column, (spec, aspect) in columns.items():
        spelled = METRICS.build(spec).spec
        scores = [ours[spelled, aspect, story.id] for story in stories]
        theirs = [published[column, story.id] for story in stories]
        yield _compared(column, stories, scores, theirs)


def _release(folder: Path) -> Dataset | None:
    """Load the release, if both its texts and its scores are there."""
    if not folder.is_dir():
        return None
    found = load_dataset("hanna", folder)
    return found if len(found.scores) and found.stories[0].text else None


def _compared(
    column: str, stories: list[Story], scores: list[Score], theirs: list[float]
) -> Finding:
    if any(score.status is Status.MISSING_MODEL for score in scores):
        return unchecked(_PART, column, scores[0].note)
    values = [
        (math.inf if math.isnan(score.value) else score.value, value)
        for score, value in zip(scores, theirs, strict=True)
    ]
    if column in _LEAST_R:
        machine = [pair for pair, s in zip(values, stories, strict=True) if s.system != "Human"]
        return correlation(_PART, column, values, machine, least=_LEAST_R[column])
    tolerance = _TOLERANCE.get(column.partition("-")[0], _USUAL_TOLERANCE)
    return equality(_PART, column, values, tolerance=tolerance, share=_SHARE)
