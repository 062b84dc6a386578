"""What a report's page carries for its scripts: all scores, and the texts that were chosen."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fabula.core.story import Story
from fabula.reports._blocks import kept_spans, user_metric
from fabula.reports._choose import texts_of
from fabula.reports.run_data import STATUSES, Array, ReportColumn, ReportData

if TYPE_CHECKING:
    from fabula.metrics.user import User

_LABELS = ("system", "item")
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def page_json(data: ReportData, chosen: Sequence[int]) -> str:
    """Write all that the scripts of a run's report read."""
    user = user_metric(column.scorer for column in data.columns)
    texts = texts_json(data.stories, chosen, user)
    return stories_json(data.stories, data.columns, (data.values, data.statuses), texts=texts)


def stories_json(
    stories: Sequence[Story],
    columns: Sequence[ReportColumn],
    scores: tuple[Array, Array],
    **more: Any,
) -> str:
    """Write stories with their scores as JSON that may stand inside a script element.

    `scores` are values and statuses, stories × columns; `more` is what else the page carries.
    """
    page = {
        "statuses": STATUSES,
        "columns": [_column(column) for column in columns],
        "ids": [story.id for story in stories],
        **{name: _numbered([getattr(s, name) for s in stories]) for name in _LABELS},
        **more,
    }
    values = ",".join(_values(*column) for column in zip(scores[0].T, scores[1].T, strict=True))
    return script_safe(json.dumps(page, ensure_ascii=False)[:-1]) + f',"values":[{values}]}}'


def _column(column: ReportColumn) -> dict[str, Any]:
    return {
        "scorer": column.scorer,
        "aspect": column.aspect,
        "direction": column.direction,
        "baseline": column.is_baseline,
        "main": column.main,
    }


def script_safe(text: str) -> str:
    """Escape in JSON what could end a script element, and halves of characters."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _numbered(labels: Sequence[str | None]) -> dict[str, list[Any]]:
    """Give labels once each, and the number of each story's; -1 for none."""
    names = list(dict.fromkeys(label for label in labels if label))
    number = {name: place for place, name in enumerate(names)}
    return {"names": names, "of": [number.get(label or "", -1) for label in labels]}


def _values(values: Array, statuses: Array) -> str:
    """Write a column to four digits; a missing value is its status' number as a string."""
    pairs = zip(values.tolist(), statuses.tolist(), strict=True)
    parts = (f'"{status}"' if math.isnan(value) else f"{value:.4g}" for value, status in pairs)
    return f"[{','.join(parts)}]"


def texts_json(
    stories: Sequence[Story], chosen: Sequence[int], user: User | None = None
) -> dict[str, Any]:
    """Texts once each, and for each story shown the numbers of its own; `user` finds blocks."""
    shown = [stories[place] for place in chosen]
    texts = list(dict.fromkeys(text for story in shown for text in texts_of(story)))
    number = {text: place for place, text in enumerate(texts)}
    return {
        "all": texts,
        "shown": {
            place: _parts_of(story, number, user)
            for place, story in zip(chosen, shown, strict=True)
        },
    }


def _parts_of(story: Story, number: dict[str, int], user: User | None) -> dict[str, Any]:
    parts: dict[str, Any] = {"text": number[story.text]}
    if story.prompt:
        parts["prompt"] = number[story.prompt]
    if story.references:
        parts["references"] = [number[text] for text in story.references]
        if user:
            parts["blocks"] = kept_spans(user, story)
    return parts
