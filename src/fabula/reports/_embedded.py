"""What a page carries for its scripts: all scores, and the texts of the stories it shows."""

from __future__ import annotations

import json
import math
import random
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.score import STATUSES, Missing
from fabula.core.story import Story
from fabula.reports.numbers import decimals_for
from fabula.reports.run_data import Array, ReportColumn, ReportData, spec_name

if TYPE_CHECKING:
    from fabula.metrics.user import User

_LABELS = ("system", "item")
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
# Share of the stories shown that is drawn at random, so that not only extremes are looked at.
_RANDOM_SHARE = 0.25
# Characters of scripts without blanks are words of their own, as in the metrics.
_UNSPACED = "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_WORD = re.compile(rf"{_UNSPACED}|(?:(?!{_UNSPACED})[^\W_])+")


def page_json(data: ReportData, chosen: Sequence[int], **more: Any) -> str:
    """Write all that the scripts of a run's report read; `more` is what else they do."""
    user = user_metric(column.scorer for column in data.columns)
    texts = texts_json(data.stories, chosen, user)
    return stories_json(
        data.stories, data.columns, (data.values, data.statuses), texts=texts, **more
    )


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
        "columns": [_column(*pair) for pair in zip(columns, scores[0].T, strict=True)],
        "ids": [story.id for story in stories],
        **{name: _number_labels([getattr(s, name) for s in stories]) for name in _LABELS},
        **more,
    }
    values = ",".join(_values(*column) for column in zip(scores[0].T, scores[1].T, strict=True))
    return script_safe(json.dumps(page, ensure_ascii=False)[:-1]) + f',"values":[{values}]}}'


def _column(column: ReportColumn, values: Array) -> dict[str, Any]:
    return {
        "scorer": column.scorer,
        "aspect": column.aspect,
        "title": column.title,
        "decimals": decimals_for(map(float, values)),
        "direction": column.direction,
        "baseline": column.is_baseline,
        "main": column.main,
    }


def script_safe(text: str) -> str:
    """Escape in JSON what could end a script element, and halves of characters."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _number_labels(labels: Sequence[str | None]) -> dict[str, list[Any]]:
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


@dataclass(frozen=True)
class Budget:
    """How many stories, and how many characters with their prompts and references."""

    stories: int
    chars: float


def choose_stories(data: ReportData, budget: Budget, *, seed: int) -> list[int]:
    """Give the places of the stories to show, in the order of the run."""
    if budget.stories >= len(data.stories):
        return _fitting(data, iter(range(len(data.stories))), budget)
    telling = int(budget.stories * (1 - _RANDOM_SHARE))
    chosen = dict.fromkeys(first_places(_telling(data), telling))
    rest = [place for place in range(len(data.stories)) if place not in chosen]
    random.Random(seed).shuffle(rest)
    return _fitting(data, iter([*chosen, *rest]), budget)


def first_places(places: Iterator[int], most: int) -> list[int]:
    """Take the first so many places that differ."""
    taken: dict[int, None] = {}
    for place in places:
        if len(taken) >= most:
            break
        taken[place] = None
    return list(taken)


def _telling(data: ReportData) -> Iterator[int]:
    """Best, worst and middle story by metric and system; the metrics before the baselines."""
    systems = list(data.places().values())
    for number, column in enumerate(data.columns):
        if column.main:
            ranked = [rank_stories(places, data.values[:, number], column) for places in systems]
            for pick in (0, -1, None):
                for order in ranked:
                    if len(order):
                        yield int(order[len(order) // 2 if pick is None else pick])


def rank_stories(places: Array, values: Array, column: ReportColumn) -> Array:
    """Places of stories that have a value, the best first."""
    there = places[np.isfinite(values[places])]
    sign = 1 if column.direction == "lower" else -1
    return there[np.argsort(sign * values[there], kind="stable")]


def _fitting(data: ReportData, places: Iterator[int], budget: Budget) -> list[int]:
    """Take what still fits; a reference or prompt that several stories share counts once."""
    taken: list[int] = []
    counted: set[str] = set()
    chars = 0
    for place in places:
        if len(taken) >= budget.stories:
            break
        texts = set(texts_of(data.stories[place])) - counted
        size = sum(map(len, texts))
        if chars + size <= budget.chars:
            taken.append(place)
            counted |= texts
            chars += size
    return sorted(taken)


def texts_of(story: Story) -> list[str]:
    """All that is to be read of a story: its text, prompt and references."""
    return [story.text, *([story.prompt] if story.prompt else []), *story.references]


def user_metric(scorers: Iterable[str]) -> User | None:
    """Build the first metric `user` among the scorers, if there is one."""
    for scorer in scorers:
        if spec_name(scorer) == "user":
            from fabula.metrics.user import User
            from fabula.scoring.catalogue import METRICS

            metric = METRICS.build(scorer)
            return metric if isinstance(metric, User) else None
    return None


def kept_spans(user: User, story: Story) -> list[tuple[int, int, int, int]]:
    """Where text and first reference share blocks: start and end in each, counted in UTF-16."""
    sides = [list(_WORD.finditer(text)) for text in (story.text, story.references[0])]
    words, published = ([match[0].lower() for match in side] for side in sides)
    try:
        blocks = user.kept_blocks(words, published)
    except Missing:
        return []
    here = [_span(sides[0], block.left, block.size) for block in blocks]
    there = [_span(sides[1], block.right, block.size) for block in blocks]
    ends = zip(_utf16(story.text, here), _utf16(story.references[0], there), strict=True)
    return [(*here_ends, *there_ends) for here_ends, there_ends in ends]


def _span(side: list[re.Match[str]], start: int, size: int) -> tuple[int, int]:
    return side[start].start(), side[start + size - 1].end()


def _utf16(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Count as JavaScript does, where characters beyond the first 65,536 are two."""
    wide = [place for place, char in enumerate(text) if ord(char) > 0xFFFF]
    return [
        (start + bisect_left(wide, start), end + bisect_left(wide, end)) for start, end in spans
    ]
