"""A review to read: in a terminal, as JSON, or as a page that needs nothing else."""

from __future__ import annotations

import math
import shutil
import textwrap
from collections.abc import Sequence

from fabula.core.errors import SettingError
from fabula.core.table import json_text, without_halves
from fabula.reports.numbers import number_text
from fabula.scoring.review import AspectReview, MissingPart, PlacedTransition, Review

FORMS = ("text", "json", "html")
_BAR = 10
_SPARKS = "▁▂▃▄▅▆▇█"
_MOST_SPARKS = 60
_MOST_REPEATED = 5
ASPECT_WORDS = {
    "opening": "opening",
    "middle": "middle",
    "ending": "ending",
    "character": "character",
    "scene": "scene",
    "heartwarming": "warmth",
    "sad": "sadness",
    "horror": "horror",
    "funny": "humour",
    "novelty": "idea",
}
_DECIMALS = {"mattr": 2, "type_token_ratio": 2, "word_length": 2}


def render_review(form: str, review: Review) -> str:
    """Write a review as text, json or html."""
    if form == "json":
        return json_text(review.plain(), indent=2)
    if form == "html":
        # The page takes its words from here.
        from fabula.reports._review_page import review_page

        return review_page(review)
    if form != "text":
        raise SettingError(f"a review is not written as {form}", f"known: {', '.join(FORMS)}")
    return f"{scores_text(review)}\n\n{comments_text(review)}".strip()


def scores_text(review: Review) -> str:
    """Write all but the comments, which may come later."""
    parts = [
        review.story.id,
        *([_warnings(review)] if review.warnings or review.missing else []),
        f"{_wrap(preference_words(review))}{_track(review)}",
        _criteria(review),
        _aspects(review),
        _flow(review),
        _repetition(review),
        _statistics(review),
    ]
    return without_halves("\n\n".join(part for part in parts if part))


def comments_text(review: Review) -> str:
    """Write the comments."""
    lines = ["Comments"]
    for aspect in review.aspects:
        if aspect.comment:
            lines.append(f"  {ASPECT_WORDS[aspect.name]}, {number_text(aspect.rating, 1)}")
            lines.append(_wrap(aspect.comment, indent=4))
    return without_halves("\n".join(lines)) if len(lines) > 1 else ""


def _width() -> int:
    return min(96, max(60, shutil.get_terminal_size((96, 24)).columns))


def _wrap(text: str, indent: int = 2) -> str:
    lead = " " * indent
    text = " ".join(text.split())
    return textwrap.fill(text, _width(), initial_indent=lead, subsequent_indent=lead)


def _warnings(review: Review) -> str:
    lines = [f"! {warning}" for warning in review.warnings]
    lines += [f"! {words}" for words in missing_words(review.missing)]
    return "\n".join(map(_wrap, lines))


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
        f"  {name:<14}{_bar(value)} {number_text(value, 1):>4}"
        for name, value in review.criteria.items()
    ]
    return "\n".join(["Criteria, from 1 to 5", *rows]) if rows else ""


def _aspects(review: Review) -> str:
    lines = [
        "Aspects, from 1 to 5; what raters give as a rule; how likely readers are to speak of them"
    ]
    for aspect in review.aspects:
        if math.isfinite(aspect.rating):
            rating, usual = number_text(aspect.rating, 1), number_text(aspect.usual, 1)
            line = f"  {ASPECT_WORDS[aspect.name]:<14}{_bar(aspect.rating)} {rating:>4}{usual:>7}"
            if math.isfinite(aspect.confidence):
                line += f"{aspect.confidence:>7.0%}".replace("%", " %")
            lines.append(f"{line}   {aspect_reason(aspect)}".rstrip())
    return "\n".join(lines) if len(lines) > 1 else ""


def _bar(value: float) -> str:
    if not math.isfinite(value):
        return "·" * _BAR
    filled = round((min(max(value, 1), 5) - 1) / 4 * _BAR)
    return "█" * filled + "░" * (_BAR - filled)


def _flow(review: Review) -> str:
    if review.weakest is None:
        return ""
    weakest = review.transitions[review.weakest]
    text = review.story.text
    first, second = text[slice(*weakest.first)], text[slice(*weakest.second)]
    lines = [
        "From sentence to sentence",
        f"  {_sparkline(review.transitions)}",
        _wrap(flow_words(review)),
        _wrap(f"“{_tail(first)}” → “{_head(second)}”", indent=4),
    ]
    return "\n".join(lines)


def _sparkline(transitions: tuple[PlacedTransition, ...]) -> str:
    """Draw the curve in a line; of many steps the lowest of each group."""
    size = math.ceil(len(transitions) / _MOST_SPARKS)
    groups = [transitions[at : at + size] for at in range(0, len(transitions), size)]
    lows = [min(transition.probability for transition in group) for group in groups]
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
    lines = [_wrap(f"{run.count} × “{_head(run.text)}”") for run in shown]
    more = len(review.repetition) - len(shown)
    return "\n".join(["Repetition", *lines, *([f"  and {more:,} more"] if more else [])])


def _statistics(review: Review) -> str:
    pairs = [
        f"{statistic_name(name)} {statistic_text(name, value)}"
        for name, value in review.statistics.items()
    ]
    return f"Statistics\n{_wrap(' · '.join(pairs))}" if review.statistics else ""


def preference_words(review: Review) -> str:
    """Say where a story stands among those that people wrote."""
    if not math.isfinite(review.percentile):
        if math.isfinite(review.preference):
            return f"Preference {number_text(review.preference, 1)}; no percentile is known for it."
        return "There is no preference for this story."
    low, high = review.interval
    words = f"Liked better than about {review.percentile:.0f} of 100 human stories"
    if not (math.isfinite(low) and math.isfinite(high)):
        return f"{words}."
    if round(low) == round(high):
        return f"{words}; another training would say the same."
    return f"{words}; between {low:.0f} and {high:.0f}."


def flow_words(review: Review) -> str:
    """Say where the story holds together least."""
    if review.weakest is None:
        return "There is no step from sentence to sentence to look at."
    weakest = review.transitions[review.weakest]
    return (
        f"The weakest of {len(review.transitions):,} steps from one sentence to the next is number "
        f"{review.weakest + 1:,}: the second sentence is given {weakest.probability:.0%} to follow "
        "the first."
    ).replace("%", " %")


def missing_words(missing: Sequence[MissingPart]) -> list[str]:
    """Say what cannot be had, and what to do: once for all parts with the same reason."""
    names_by_reason: dict[str, list[str]] = {}
    for part in missing:
        names_by_reason.setdefault(part.why, []).append(part.part)
    return [f"No {', '.join(names)}: {why}" for why, names in names_by_reason.items()]


def aspect_reason(aspect: AspectReview) -> str:
    """Say why an aspect has no comment; nothing where it may have one."""
    return "" if aspect.evidence.found else f"No comment: {aspect.evidence.reason}."


def statistic_text(name: str, value: float) -> str:
    """Write a statistic: counts whole, others with the digits that tell something."""
    if value == int(value) and name not in _DECIMALS:
        return f"{int(value):,}".replace("-", "−")
    return number_text(value, _DECIMALS.get(name, 2))


def statistic_name(name: str) -> str:
    """Write the name of a statistic without underscores."""
    return name.replace("_", " ")
