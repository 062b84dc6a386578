"""Preference beside what people say of aspects and criteria."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS, UPVOTES
from fabula.learned.reader.config import CRITERIA
from fabula.meta.resampling import estimate_correlation
from fabula.replication.storyer._findings import Cell, Finding, Table
from fabula.replication.storyer._material import Material
from fabula.text.words import words

TITLE = "Preference beside ratings of aspects and criteria"
_RATED, _HANNA = "storyer_ratings", "hanna"
# So that the data set is told by its name alone, and read where it is there.
_TASKS = {_RATED: "aspects", _HANNA: "criteria"}


@dataclass(frozen=True)
class Settings:
    """Whose preference is looked at."""

    weights: str = "reader"


def analyse(material: Material, settings: Settings) -> Finding:
    """Correlate the preference of unseen stories with people's ratings of them."""
    votes = {
        (score.story, UPVOTES): score.value
        for score in material.dataset(_RATED).scores
        if score.scorer == UPVOTES
    }
    aspects = _rows(
        material,
        settings,
        _RATED,
        {**material.ratings(_RATED), **votes},
        names=(*ASPECTS, UPVOTES),
    )
    criteria = _rows(material, settings, _HANNA, material.ratings(_HANNA), names=CRITERIA)
    columns = ("rated", "Spearman ρ of the preference", "ρ of the number of words", "stories")
    note = "Preference of readers that had not seen the prompt; intervals by drawing prompts anew."
    tables = [
        Table("preference_aspects", "Aspects of StoryER, and upvotes", columns, aspects, note),
        Table("preference_criteria", "Criteria of HANNA", columns, criteria, note),
    ]
    return Finding("correlations", TITLE, (), tables)


def _rows(
    material: Material,
    settings: Settings,
    name: str,
    said: dict[tuple[str, str], float],
    *,
    names: tuple[str, ...],
) -> list[list[Cell]]:
    preference = material.unseen(settings.weights).raw("preference", _TASKS[name])
    stories = [one for one in material.dataset(name).stories if f"{name}:{one.id}" in preference]
    told = np.array([preference[f"{name}:{one.id}"] for one in stories])
    lengths = np.array([len(words(one.text)) for one in stories], dtype=float)
    items = [_item(one) for one in stories]
    rows: list[list[Cell]] = []
    for aspect in names:
        wanted = np.array([said.get((one.id, aspect), np.nan) for one in stories])
        found, beside = (
            estimate_correlation(column, wanted, items, resamples=material.resamples)
            for column in (told, lengths)
        )
        rows.append([aspect, found, beside, found.n])
    return rows


def _item(story: Story) -> str:
    return story.item or story.id
