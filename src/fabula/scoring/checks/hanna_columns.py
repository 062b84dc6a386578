"""HANNA's published metric columns, regenerated from its stories."""

from __future__ import annotations

import ast
import csv
import gzip
import math
from collections.abc import Iterator
from pathlib import Path

from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.datasets._stories import StoryFile
from fabula.scoring.catalogue import METRICS
from fabula.scoring.checks._finding import Finding, correlation, equality, unchecked
from fabula.scoring.evaluate import evaluate

_PART = "HANNA's columns (Chhun et al., 2022), 1,056 stories"
_FIELDS = {
    "id": "story_id",
    "text": "story",
    "prompt": "prompt",
    "references": "human",
    "system": "model",
    "item": "prompt_id",
}
_STORIES = "hanna/hanna_stories.jsonl.gz"
_SCORES = "hanna/hanna_metric_scores_llm.csv.gz"

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
    folder = data / "data" if data else None
    if not folder or not (folder / _STORIES).exists() or not (folder / _SCORES).exists():
        why = f"needs {_STORIES} and {_SCORES} below --data/data"
        yield from (unchecked(_PART, column, why) for column in columns)
        return
    stories = list(StoryFile(folder / _STORIES, columns=_FIELDS))
    published = _published(folder / _SCORES)
    table = evaluate(stories, sorted({spec for spec, _ in columns.values()}))
    ours = {(score.scorer, score.aspect, score.story): score for score in table}
    for column, (spec, aspect) in columns.items():
        spelled = METRICS.build(spec).spec
        scores = [ours[spelled, aspect, story.id] for story in stories]
        theirs = [published[s.system or ""][column][int(s.item or 0)] for s in stories]
        yield _compared(column, stories, scores, theirs)


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


def _published(path: Path) -> dict[str, dict[str, list[float]]]:
    """Published values by system and column; a column's glyphs are left out of its name."""
    csv.field_size_limit(1 << 30)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return {
            row["Model"]: {
                name.rpartition(" ")[0]: ast.literal_eval(cell)
                for name, cell in row.items()
                if name != "Model" and cell.startswith("[")
            }
            for row in csv.DictReader(file)
        }
