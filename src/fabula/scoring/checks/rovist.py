"""RoViST-NR as published for human stories of the VIST test set."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path

from fabula.core.score import Status
from fabula.core.story import Story
from fabula.scoring.checks._finding import Finding, equality, unchecked
from fabula.scoring.evaluate import evaluate

_PART = "RoViST-NR (Wang et al., 2022), as published for human VIST stories"
_CLAIM = "rovist_nr(compat=True)"
_STORIES, _SCORES = "rovist_scores/stories.json.gz", "rovist_scores/rovist_nr.csv"


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare the published values with ours."""
    folder = data / "data" if data else None
    if not folder or not (folder / _STORIES).exists() or not (folder / _SCORES).exists():
        yield unchecked(_PART, _CLAIM, f"needs {_STORIES} and {_SCORES} below --data/data")
        return
    with gzip.open(folder / _STORIES, "rt", encoding="utf-8") as file:
        texts = json.load(file)
    with (folder / _SCORES).open(encoding="utf-8", newline="") as file:
        published = {row["story_id"]: float(row["R_score"]) for row in csv.DictReader(file)}
    scores = evaluate([Story(key, texts[key]) for key in published], _CLAIM).scores
    if any(score.status is Status.MISSING_MODEL for score in scores):
        yield unchecked(_PART, _CLAIM, scores[0].note)
        return
    values = [(s.value if s.ok else math.inf, published[s.story]) for s in scores]
    yield equality(_PART, _CLAIM, values, tolerance=1e-4, share=0.997)
