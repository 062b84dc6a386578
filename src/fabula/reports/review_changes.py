"""Two drafts of a story side by side: what changed, and how each score moved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from fabula.core.card import Direction
from fabula.core.story import count_text
from fabula.learned.writers import WriterOpinion
from fabula.reports.numbers import number_text, statistic_name, statistic_text
from fabula.reports.pages import escape, tag
from fabula.reports.review import missing_words, unlike_words
from fabula.scoring.catalogue import METRICS
from fabula.scoring.review import Review
from fabula.text.diff import Change, diff_words
from fabula.text.words import words

_Ends = tuple[float, float]
Verdict = Literal["better", "worse", "within noise", "same", "other"]
# A change smaller than what is shown of a value is none.
_LEAST = {0: 0.5, 1: 0.05, 2: 0.005}


@dataclass(frozen=True)
class Move:
    """How a value moved from one draft to the next.

    `noise` is half the width of its interval, the wider of the two; NaN where there is none.
    """

    name: str
    before: float
    after: float
    direction: Direction
    decimals: int = 2
    noise: float = math.nan
    intervals: tuple[tuple[float, float], ...] = ()

    @property
    def difference(self) -> float:
        """How much higher the later draft has it."""
        return self.after - self.before

    @property
    def verdict(self) -> Verdict:
        """What the difference says, in the direction of the metric."""
        if not math.isfinite(self.difference) or abs(self.difference) < _LEAST[self.decimals]:
            return "same"
        if abs(self.difference) < self.noise:
            return "within noise"
        if self.direction == "descriptive":
            return "other"
        return "better" if (self.difference > 0) == (self.direction == "higher") else "worse"


def list_moves(before: Review, after: Review) -> list[Move]:
    """List how the scores moved that both reviews have; what is counted comes last."""
    both = (before.interval, after.interval)
    places = before.percentile, after.percentile
    moves = [
        Move("preference, percentile", *places, _direct("storyer"), 0, *_measure_noise(both)),
        Move("preference", before.preference, after.preference, _direct("storyer")),
        *_move_writers(before.writers, after.writers),
        *_pair(before.criteria, after.criteria, "criteria", "criteria: {}", 1),
        Move("coherence", before.coherence, after.coherence, _direct("coherence")),
        Move("sentence order", before.order, after.order, _direct("rovist_c")),
        Move("closeness to the prompt", before.prompt, after.prompt, _direct("supert")),
    ]
    # The percentile is the preference on a scale that can be read, and has the interval.
    if math.isfinite(moves[0].difference):
        del moves[1]
    moves += _pair(before.statistics, after.statistics, "", "{}", 2)
    return [move for move in moves if math.isfinite(move.before) and math.isfinite(move.after)]


def _move_writers(before: WriterOpinion | None, after: WriterOpinion | None) -> Iterator[Move]:
    if before and after:
        both, places = (before.interval, after.interval), (before.percentile, after.percentile)
        noise = _measure_noise(both)
        yield Move("writers, percentile", *places, _direct("writers"), 0, *noise)


def _measure_noise(intervals: tuple[_Ends, _Ends]) -> tuple[float, tuple[_Ends, ...]]:
    """Give half of the wider interval, and both; NaN and none where one is not known."""
    widths = [high - low for low, high in intervals]
    return (max(widths) / 2, intervals) if all(map(math.isfinite, widths)) else (math.nan, ())


def _pair(
    before: Mapping[str, float], after: Mapping[str, float], metric: str, name: str, decimals: int
) -> Iterator[Move]:
    direction = _direct(metric) if metric else "descriptive"
    for key, value in before.items():
        if key in after:
            yield Move(name.format(key), value, after[key], direction, decimals)


def _direct(metric: str) -> Direction:
    return METRICS.get(metric).card.direction


def render_moves(before: Review, after: Review) -> dict[str, str]:
    """Write how each score moved, for a page, and what is missing of either review."""
    moves = list_moves(before, after)
    counted = set(before.statistics)
    judged = [move for move in moves if move.name not in counted]
    numbers = [move for move in moves if move.name in counted]
    return {
        "moved": _write_table(judged, _write_value) if judged else "",
        "counted": _write_table(numbers, _write_count),
        "lacking": _write_lacks(before, after),
    }


def _write_table(moves: list[Move], write: Callable[[Move, float], str]) -> str:
    heads = ("", "before", "after", "change")
    head = "".join(tag("th", words, scope="col") for words in heads)
    rows = [tag("tr", _write_row(move, write)) for move in moves]
    return tag("table", tag("thead", tag("tr", head)) + tag("tbody", "\n".join(rows)))


def _write_row(move: Move, write: Callable[[Move, float], str]) -> str:
    before, after = (
        write(move, value) + _write_interval(move, at)
        for at, value in enumerate((move.before, move.after))
    )
    name = statistic_name(move.name)
    verdict = move.verdict
    arrow = "" if verdict == "same" else "▲ " if move.difference > 0 else "▼ "
    sign = "+" if move.difference > 0 else ""
    change = "no change" if verdict == "same" else f"{sign}{write(move, move.difference)}"
    marked = tag("span", arrow, aria_hidden="true") + change
    if verdict not in ("same", "other"):
        marked += " " + tag("span", verdict, class_="said")
    cells = [tag("th", escape(name[0].upper() + name[1:]), scope="row")]
    cells += [tag("td", cell, class_="num") for cell in (before, after)]
    return "".join([*cells, tag("td", marked, class_=f"num to-{verdict.replace(' ', '-')}")])


def _write_value(move: Move, value: float) -> str:
    return number_text(value, move.decimals)


def _write_count(move: Move, value: float) -> str:
    return statistic_text(move.name, value)


def _write_interval(move: Move, at: int) -> str:
    if not move.intervals:
        return ""
    low, high = move.intervals[at]
    return " " + tag("span", f"{low:.0f} to {high:.0f}", class_="between")


def _write_lacks(before: Review, after: Review) -> str:
    lines = []
    for name, review in (("Before", before), ("After", after)):
        lines += [f"{name}: {unlike_words(review)}"] if review.unlike else []
        lines += [f"{name}: {warning}" for warning in review.warnings]
    lines += missing_words(list(dict.fromkeys((*before.missing, *after.missing))))
    if not lines:
        return ""
    return tag("ul", "".join(tag("li", escape(line)) for line in lines))


def render_changes(before: str, after: str) -> dict[str, str]:
    """Write both texts, what is gone from the first and what is new in the second marked."""
    changes = diff_words(before, after)
    return {
        "before": "".join(_mark(change, change.left, "del") for change in changes),
        "after": "".join(_mark(change, change.right, "ins") for change in changes),
        "changed": escape(_sum_up(changes)),
    }


def _mark(change: Change, text: str, kind: str) -> str:
    if change.is_same or not text.strip():
        return escape(text)
    # Blanks around a change are nobody's.
    inside = text.strip()
    lead, _, tail = text.partition(inside)
    return escape(lead) + tag(kind, escape(inside)) + escape(tail)


def _sum_up(changes: list[Change]) -> str:
    kept, gone, new = (
        sum(len(words(text)) for text in texts)
        for texts in (
            [change.right for change in changes if change.is_same],
            [change.left for change in changes if not change.is_same],
            [change.right for change in changes if not change.is_same],
        )
    )
    if not gone and not new:
        return "Both drafts are the same."
    return f"{count_text(kept, 'word')} kept, {gone:,} gone, {new:,} new."
