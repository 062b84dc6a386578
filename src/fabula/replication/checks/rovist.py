"""RoViST-NR as published for human stories of the VIST test set."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from fabula.core.errors import InputError
from fabula.core.score import Status
from fabula.datasets import load_dataset
from fabula.replication.checks._finding import Finding, equality, unchecked
from fabula.scoring.evaluate import evaluate

_PART = "RoViST-NR (Wang et al., 2022), as published for human VIST stories"
_CLAIM = "rovist_nr(compat=True)"
_FOLDER = "rovist_scores"


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare the published values with ours."""
    folder = data / "data" / _FOLDER if data else None
    if not folder or not folder.is_dir():
        yield unchecked(_PART, _CLAIM, f"needs {_FOLDER} below --data/data")
        return
    try:
        dataset = load_dataset("rovist", folder)
    except InputError as error:
        yield unchecked(_PART, _CLAIM, str(error))
        return
    published = {score.story: score.value for score in dataset.scores.of("RoViST-NR")}
    stories = [story for story in dataset.stories if story.id in published]
    scores = evaluate(stories, _CLAIM).scores
    if any(score.status is Status.MISSING_MODEL for score in scores):
        yield unchecked(_PART, _CLAIM, scores[0].note)
        return
    values = [(s.value if s.ok else math.inf, published[s.story]) for s in scores]
    yield equality(_PART, _CLAIM, values, tolerance=1e-4, share=0.997)
