"""What a study's page carries for its scripts: stories, scores, ratings, coefficients."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from fabula.core.score import Score, Status
from fabula.reports._embedded import stories_json, texts_json
from fabula.reports._study_blocks import ScatterBlock, StudyStories
from fabula.reports.run_data import STATUSES

_UNDEFINED = STATUSES.index(str(Status.UNDEFINED))


def study_json(study: StudyStories, explorers: Sequence[ScatterBlock]) -> str:
    """Write all that the explorers and the reader need."""
    statuses = np.where(np.isfinite(study.values), STATUSES.index(str(Status.OK)), _UNDEFINED)
    ratings = _ratings(study)
    return stories_json(
        study.stories,
        study.columns,
        (study.values, statuses),
        texts=texts_json(study.stories, range(len(study.stories))),
        ratings=ratings,
        explorers=[_explorer(one, study, ratings["aspects"]) for one in explorers],
    )


def _ratings(study: StudyStories) -> dict[str, Any]:
    """Ratings by story and rater, and their means by aspect."""
    aspects = list(dict.fromkeys(rating.aspect for rating in study.ratings))
    by_story: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for rating in study.ratings:
        by_story[rating.story][_rater(rating)][rating.aspect] = rating.value
    found = [by_story.get(story.id, {}) for story in study.stories]
    return {
        "aspects": aspects,
        "of": [
            [[rater, [_or_none(given.get(a, math.nan)) for a in aspects]] for rater, given in
             sorted(one.items())]
            for one in found
        ],
        "gold": [[_mean(one, aspect) for aspect in aspects] for one in found],
    }  # fmt: skip


def _rater(rating: Score) -> str:
    return rating.scorer.removeprefix("human:")


def _mean(given: dict[str, dict[str, float]], aspect: str) -> float | None:
    there = [one[aspect] for one in given.values() if math.isfinite(one.get(aspect, math.nan))]
    return round(sum(there) / len(there), 4) if there else None


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _explorer(block: ScatterBlock, study: StudyStories, aspects: Sequence[str]) -> dict[str, Any]:
    labels = [column.label for column in study.columns]
    names = list(dict.fromkeys(name for one in block.coefficients.values() for name in one))
    return {
        "about": block.about,
        "column": labels.index(block.metric) if block.metric else 0,
        "aspect": aspects.index(block.aspect) if block.aspect else 0,
        "names": names,
        "coefficients": [
            [_coefficients(block, names, label, aspect) for aspect in aspects] for label in labels
        ],
    }


def _coefficients(
    block: ScatterBlock, names: Sequence[str], label: str, aspect: str
) -> list[float | None] | None:
    given = block.coefficients.get((label, aspect))
    if given is None:
        return None
    values = [_or_none(given.get(name, math.nan)) for name in names]
    return [None if value is None else round(value, 4) for value in values]
