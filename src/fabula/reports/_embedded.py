"""What a report's page carries for its scripts: all scores, and the texts that were chosen."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from fabula.reports._blocks import kept_spans, user_metric
from fabula.reports._choose import texts_of
from fabula.reports._report_data import STATUSES, Array, ReportData

_LABELS = ("system", "item")
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def page_json(data: ReportData, chosen: Sequence[int]) -> str:
    """Write all that the scripts read as JSON that may stand inside a script element."""
    labels = {name: _numbered([getattr(s, name) for s in data.stories]) for name in _LABELS}
    page = {
        "statuses": STATUSES,
        "columns": [
            {
                "scorer": column.scorer,
                "aspect": column.aspect,
                "direction": column.direction,
                "baseline": column.is_baseline,
                "main": column.main,
            }
            for column in data.columns
        ],
        "ids": [story.id for story in data.stories],
        **labels,
        "texts": _texts(data, chosen),
    }
    columns = zip(data.values.T, data.statuses.T, strict=True)
    values = ",".join(_values(*column) for column in columns)
    return script_safe(json.dumps(page, ensure_ascii=False)[:-1]) + f',"values":[{values}]}}'


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


def _texts(data: ReportData, chosen: Sequence[int]) -> dict[str, Any]:
    """Texts once each, and for each story shown the numbers of its own."""
    stories = [data.stories[place] for place in chosen]
    texts = list(dict.fromkeys(text for story in stories for text in texts_of(story)))
    number = {text: place for place, text in enumerate(texts)}
    shown: dict[int, dict[str, Any]] = {}
    user = user_metric(column.scorer for column in data.columns)
    for place, story in zip(chosen, stories, strict=True):
        shown[place] = {"text": number[story.text]}
        if story.prompt:
            shown[place]["prompt"] = number[story.prompt]
        if story.references:
            shown[place]["references"] = [number[text] for text in story.references]
            if user:
                shown[place]["blocks"] = kept_spans(user, story)
    return {"all": texts, "shown": shown}
