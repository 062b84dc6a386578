"""What an author kept of a suggestion: USER, ROUGE, and where the kept text stood in it.

The values are those of the metrics `user` and `rouge` (stop words out, no stemming) on the
suggestion beside the whole published entry; words are parted and blocks searched once for all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from fabula.core.metric import Value
from fabula.core.score import Missing, Reading, Score
from fabula.core.story import Story
from fabula.metrics.rouge import Rouge
from fabula.metrics.user import User
from fabula.studio.authorship import Marks
from fabula.text.diff import Block
from fabula.text.kept_words import match_sentences

# The scorer of what no metric of the catalogue says.
KEPT = "kept"
# The scorer of counts that need a tagger and come later, by `kept_words.py`.
KEPT_WORDS = "kept_words"
_KEPT_SIGNATURE = "kept|tok:unicode|group:3|rev:1"
_ORDERS: tuple[Literal[1, 2, 3, 4, "L", "W"], ...] = (1, 2, 3, 4, "L", "W")


@cache
def kept_metrics(stop_words: str = "user") -> tuple[User, tuple[Rouge, ...]]:
    """USER, and ROUGE-1 to 4, L and W as they stand beside it; the stop words are read once."""
    rouges = tuple(Rouge(n=n, stem=False, stop_words=stop_words) for n in _ORDERS)
    return User(stop_words=stop_words), rouges


@cache
def signature_of(scorer: str) -> str:
    """What to quote beside a score of `score_suggestion`, by its scorer."""
    user, rouges = kept_metrics()
    signatures = {metric.spec: metric.signature() for metric in (user, *rouges)}
    return signatures.get(scorer, _KEPT_SIGNATURE)


def score_suggestion(
    generated: str,
    published: str,
    *,
    story: str = "suggestion",
    marks: Marks | None = None,
    stop_words: str = "user",
) -> list[Score]:
    """Score a suggestion beside the entry that was published; `story` is its identity.

    Recall, precision and F of USER and ROUGE, then of `kept`: the number of blocks that count
    for USER (`spans`) and the words of the longest (`longest`); by the `marks` of the draft the
    share of its characters that still stand (`marked`) and the number that stand rewritten
    (`edited`); and for each of its sentences that some of the entry come from, how many do
    (`sentence:0`, …).
    """
    user, rouges = kept_metrics(stop_words)
    item = Story(id=story, text=generated, references=(published,))
    words = user.words(generated), user.words(published)
    scores = _score_blocks(user, item, words)
    content = [[word for word in side if word not in user.left_out] for side in words]
    for rouge in rouges:
        scores += rouge.scores_of(item, _read(rouge, item, rouge.compare_words, *content))
    if marks is not None:
        scores += _score_marks(item, marks)
    origins = Counter(match_sentences(generated, published))
    origins.pop(None, None)
    return scores + [
        Score(story, KEPT, f"sentence:{place}", float(count))
        for place, count in sorted(origins.items())
    ]


def _score_blocks(user: User, item: Story, words: tuple[list[str], list[str]]) -> list[Score]:
    """USER, and what its blocks are."""
    blocks: list[Block] = []

    def compare() -> Value:
        blocks.extend(user.kept_blocks(*words))
        return user.share(*words, blocks)

    reading = _read(user, item, compare)
    sizes = [block.size for block in blocks]
    counts = {"spans": len(sizes), "longest": max(sizes, default=0)}
    return user.scores_of(item, reading) + [
        Score(item.id, KEPT, aspect, float(count), reading.status, reading.coverage, reading.note)
        for aspect, count in counts.items()
    ]


def _read(metric: User | Rouge, item: Story, compare: Callable[..., Value], *words: Any) -> Reading:
    """Read what a comparison of words says, as the metric itself would of the texts."""
    if (obstacle := metric.obstacle(item)) is not None:
        return obstacle
    try:
        value = compare(*words)
    except Missing as missing:
        return metric.missing(missing.status, missing.note)
    if isinstance(value, Reading):
        return value
    return Reading(value if isinstance(value, tuple) else (value,))


def _score_marks(item: Story, marks: Marks) -> list[Score]:
    """What the log says of a suggestion's characters; one taken over twice counts once."""
    lengths = Counter[str]()
    for run in marks:
        if run.suggestion_id == item.id:
            lengths[run.origin] += run.length
    share = min(1.0, lengths["machine"] / len(item.text)) if item.text else math.nan
    return [
        Score(item.id, KEPT, "marked", share),
        Score(item.id, KEPT, "edited", float(lengths["edited"])),
    ]
