"""Blocks that an author kept of a suggestion, as the metric `user` finds them, for display."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fabula.core.score import Missing
from fabula.core.story import Story
from fabula.reports.run_data import spec_name

if TYPE_CHECKING:
    from fabula.metrics.user import User

# Characters of scripts without blanks are words of their own, as in the metrics.
_UNSPACED = "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_WORD = re.compile(rf"{_UNSPACED}|(?:(?!{_UNSPACED})[^\W_])+")


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
    words, published = ([found[0].lower() for found in side] for side in sides)
    try:
        blocks = user.kept_blocks(words, published)
    except Missing:
        return []
    here = [_span(sides[0], block.left, block.size) for block in blocks]
    there = [_span(sides[1], block.right, block.size) for block in blocks]
    ends = zip(_utf16(story.text, here), _utf16(story.references[0], there), strict=True)
    return [(*one, *other) for one, other in ends]


def _span(side: list[re.Match[str]], start: int, size: int) -> tuple[int, int]:
    return side[start].start(), side[start + size - 1].end()


def _utf16(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Count as JavaScript does, where characters beyond the first 65,536 are two."""
    wide = [place for place, char in enumerate(text) if ord(char) > 0xFFFF]
    return [
        (start + bisect_left(wide, start), end + bisect_left(wide, end)) for start, end in spans
    ]
