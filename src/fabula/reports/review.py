"""A review to read: in a terminal, as JSON, or as a page that needs nothing else."""

from __future__ import annotations

import math
import shutil
import textwrap
from collections.abc import Iterable

from fabula.core.errors import SettingError
from fabula.core.table import HALVES, json_text
from fabula.reports._review_page import review_page
from fabula.reports._review_words import (
    ASPECT_WORDS,
    aspect_reason,
    flow_words,
    label,
    lack_words,
    number,
    standing_words,
    statistic,
)
from fabula.scoring._review_parts import Review, Step

FORMS = ("text", "json", "html")
_BAR = 10
_SPARKS = "▁▂▃▄▅▆▇█"
_MOST_SPARKS = 60
_MOST_REPEATED = 5


def render_review(form: str, review: Review) -> str:
    """Write a review as text, json or html."""
    if form == "json":
        return json_text(review.plain(), indent=2)
    if form == "html":
        return review_page(review)
    if form != "text":
        raise SettingError(f"a review is not written as {form}", f"known: {', '.join(FORMS)}")
    return f"{scores_text(review)}\n\n{comments_text(review)}".strip()


def scores_text(review: Review) -> str:
    """Write all but the comments, which may come later."""
    parts = [
        review.story.id,
        *([_warned(review)] if review.warnings or review.lacks else []),
        f"{_wrapped(standing_words(review))}{_track(review)}",
        _criteria(review),
        _aspects(review),
        _flow(review),
        _repetition(review),
        _statistics(review),
    ]
    return _whole("\n\n".join(part for part in parts if part))


def comments_text(review: Review) -> str:
    """Write the comments."""
    told = [
        f"  {ASPECT_WORDS[one.name]}, {number(one.rating)}\n{_wrapped(one.comment, indent=4)}"
        for one in review.aspects
        if one.comment
    ]
    return _whole("\n".join(["Comments", *told])) if told else ""


def _whole(text: str) -> str:
    return text.encode("utf-8", HALVES).decode()


def _width() -> int:
    return min(96, max(60, shutil.get_terminal_size((96, 24)).columns))


def _wrapped(text: str, indent: int = 2) -> str:
    lead = " " * indent
    text = " ".join(text.split())
    return textwrap.fill(text, _width(), initial_indent=lead, subsequent_indent=lead)


def _warned(review: Review) -> str:
    lines = [f"! {warning}" for warning in review.warnings]
    lines += [f"! {words}" for words in lack_words(review.lacks)]
    return "\n".join(map(_wrapped, lines))


def _track(review: Review) -> str:
    """Draw the percentile and its interval on a line from 0 to 100."""
    if not math.isfinite(review.percentile):
        return ""
    places = ["─"] * 51
    ends = [round(end / 2) for end in review.interval if math.isfinite(end)]
    if len(ends) == 2:
        places[ends[0] : ends[1] + 1] = "━" * (ends[1] - ends[0] + 1)
    places[round(review.percentile / 2)] = "●"
    return f"\n  0 {''.join(places)} 100"


def _criteria(review: Review) -> str:
    rows = [
        f"  {name:<14}{_bar(value)} {number(value):>4}" for name, value in review.criteria.items()
    ]
    return "\n".join(["Criteria, from 1 to 5", *rows]) if rows else ""


def _aspects(review: Review) -> str:
    rated = [one for one in review.aspects if math.isfinite(one.rating)]
    rows = [
        f"  {ASPECT_WORDS[one.name]:<14}{_bar(one.rating)} {number(one.rating):>4}"
        f"{number(one.usual):>7}{_sure(one.confidence)}{_because(aspect_reason(one))}"
        for one in rated
    ]
    head = (
        "Aspects, from 1 to 5; what raters give as a rule; how likely readers are to speak of them"
    )
    return "\n".join([head, *rows]) if rows else ""


def _sure(confidence: float) -> str:
    return f"{confidence:>7.0%}".replace("%", " %") if math.isfinite(confidence) else ""


def _because(reason: str) -> str:
    return f"   {reason}" if reason else ""


def _bar(value: float) -> str:
    if not math.isfinite(value):
        return "·" * _BAR
    filled = round((min(max(value, 1), 5) - 1) / 4 * _BAR)
    return "█" * filled + "░" * (_BAR - filled)


def _flow(review: Review) -> str:
    if review.weakest is None:
        return ""
    step = review.steps[review.weakest]
    text = review.story.text
    first, second = text[slice(*step.first)], text[slice(*step.second)]
    lines = [
        "From sentence to sentence",
        f"  {_sparkline(review.steps)}",
        _wrapped(flow_words(review)),
        _wrapped(f"“{_tail(first)}” → “{_head(second)}”", indent=4),
    ]
    return "\n".join(lines)


def _sparkline(steps: tuple[Step, ...]) -> str:
    """Draw the curve in a line; of many steps the lowest of each group."""
    size = math.ceil(len(steps) / _MOST_SPARKS)
    groups = [steps[at : at + size] for at in range(0, len(steps), size)]
    lows = [min(one.probability for one in group) for group in groups]
    return "".join(_SPARKS[min(int(low * len(_SPARKS)), len(_SPARKS) - 1)] for low in lows)


def _head(text: str, most: int = 12) -> str:
    words = text.split()
    return " ".join(words[:most]) + (" …" if len(words) > most else "")


def _tail(text: str, most: int = 12) -> str:
    words = text.split()
    return ("… " if len(words) > most else "") + " ".join(words[-most:])


def _repetition(review: Review) -> str:
    if not review.repetition:
        return "Repetition\n  No run of four words or more comes again."
    shown = review.repetition[:_MOST_REPEATED]
    lines = [_wrapped(f"{one.count} × “{_head(one.text)}”") for one in shown]
    more = len(review.repetition) - len(shown)
    return "\n".join(["Repetition", *lines, *([f"  and {more:,} more"] if more else [])])


def _statistics(review: Review) -> str:
    pairs: Iterable[str] = (
        f"{label(name)} {statistic(name, value)}" for name, value in review.statistics.items()
    )
    return f"Statistics\n{_wrapped(' · '.join(pairs))}" if review.statistics else ""
