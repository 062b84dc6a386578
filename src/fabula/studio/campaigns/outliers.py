"""Raters whose answers are unlike those of the others, or too like one other's.

Every test is made of all raters at once. Its p-values are corrected by Holm, so that in a campaign
of honest raters the chance of one flag or more by a test stays below `_LEVEL`; with few tasks
nothing can be told, and nothing is said. What the others do is found out in the campaign itself,
without the rater in question.

- `all_same`: nearly every answer is the same, far beyond how usual that answer is.
- `all_lowest`: far more stories than usual get the lowest answer to everything.
- `agreement`: the correlation with the mean of the others lies below what was asked for, with all
  of its interval (Fisher's z).
- `scattered`: questions whose answers go together for others do not for this rater: Cronbach's
  alpha of the rater's own answers, tested by F (Feldt, 1965), is far below what is usual here.
- `copycat`: answers are those that somebody gave before, far beyond chance. The later one is the
  copy.
- `same_text`: whole sentences are those of somebody else, or the rater's own again and again.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from fabula.core.story import count_text
from fabula.meta.arrays import Values
from fabula.meta.coefficients import correlate
from fabula.meta.distributions import binomial_tail, f_tail
from fabula.meta.raters.icc import spearman_brown, two_way
from fabula.meta.raters.ratings import complete_rows
from fabula.meta.significance.sign_flips import holm
from fabula.studio.campaigns.definition import Question
from fabula.studio.campaigns.work import Work, WorkAssignment
from fabula.text.words import words

# Check, rater, assignment, evidence.
Outlier = tuple[str, str, str | None, str]
# Chance that anybody is flagged by one test in a campaign of honest raters.
_LEVEL = 0.05
_MOSTLY = 0.9
_FEWEST_STORIES = 8
_FEWEST_COPIES, _COPIED_SHARE = 4, 0.3
_FEWEST_WORDS, _MANY_WORDS = 5, 12
_REPEATED = 3
# Questions that hang together less than this say nothing of who answers at random.
_LEAST_UNITY = 0.15


@dataclass(frozen=True)
class _Row:
    """What a rater said of one story, or of one task where its stories are compared.

    `pattern` is the answer to all closed questions; `placed` the same with places on the page in
    the stead of stories; `numbers` are the answers on scales, by question, NaN where there is none.
    """

    one: WorkAssignment
    unit: str
    pattern: str
    placed: str
    numbers: tuple[float, ...]
    is_lowest: bool


def find_outliers(work: Work) -> Iterator[Outlier]:
    """Go through the raters that are unlike the others."""
    rows = [row for one in work.submitted for row in _make_rows(work, one)]
    by_rater: dict[str, list[_Row]] = {}
    for row in rows:
        by_rater.setdefault(row.one.rater, []).append(row)
    others = [row for row in rows if not row.one.is_rejected]
    checks = work.definition.checks
    if checks.all_same:
        yield from _find_same(by_rater, others, checks.all_same)
    if checks.all_lowest:
        yield from _find_lowest(by_rater, others)
    if checks.agreement is not None:
        yield from _find_apart(by_rater, others, checks.agreement)
    yield from _find_scattered(by_rater)
    yield from _find_copies(by_rater, others)
    yield from _find_texts(work)


def _make_rows(work: Work, one: WorkAssignment) -> Iterator[_Row]:
    """Make the rows of an assignment; duplicates and planted stories say nothing of the others."""
    if work.kind_of(one) != "story":
        return
    questions = work.definition.questions
    closed = [question for question in questions if question.kind not in ("text", "spans")]
    places = {story: place for place, story in enumerate(one.shown)}
    compared = [question for question in closed if question.compares]
    asked = [question for question in closed if not question.compares]
    if asked:
        for story in one.shown:
            given = [one.answer(question, story) for question in asked]
            yield _make_row(one, story, asked, given, places)
    if compared:
        given = [one.answer(question, "") for question in compared]
        yield _make_row(one, one.task, compared, given, places)


def _make_row(
    one: WorkAssignment,
    unit: str,
    questions: Sequence[Question],
    given: Sequence[Any],
    places: Mapping[str, int],
) -> _Row:
    scales = [
        (question, value)
        for question, value in zip(questions, given, strict=True)
        if question.kind == "scale"
    ]
    numbers = tuple(
        float(value) if isinstance(value, int | float) else math.nan for _, value in scales
    )
    lowest = bool(scales) and all(value == question.low for question, value in scales)
    plain = [_drop_reasons(value) for value in given]
    pattern, placed = _spell(plain), _spell([_place(value, places) for value in plain])
    return _Row(one, unit, pattern, placed, numbers, lowest)


def _spell(given: Sequence[Any]) -> str:
    return json.dumps(given, sort_keys=True, ensure_ascii=False)


def _drop_reasons(value: Any) -> Any:
    """Give the ratings of chosen aspects without the reasons for them."""
    if not isinstance(value, Mapping):
        return value
    return {
        name: part.get("rating") if isinstance(part, Mapping) else part
        for name, part in value.items()
    }


def _place(value: Any, places: Mapping[str, int]) -> Any:
    """Write where on the page a story stood, in the stead of which it was."""
    if isinstance(value, str):
        return places.get(value, value)
    if isinstance(value, list):
        return [_place(part, places) for part in value]
    if isinstance(value, Mapping) and value.keys() <= {"best", "worst"}:
        return {name: _place(part, places) for name, part in value.items()}
    return value


def _pick_small(p: Mapping[str, float]) -> Iterator[str]:
    """Raters whose p-value is small, whichever number of them was tested."""
    adjusted = holm(np.array(list(p.values()), dtype=np.float64)) if p else ()
    yield from (rater for rater, value in zip(p, adjusted, strict=True) if value < _LEVEL)


def _find_same(
    by_rater: Mapping[str, list[_Row]], others: Sequence[_Row], least: int
) -> Iterator[Outlier]:
    usual = Counter(row.placed for row in others)
    p, evidence = {}, {}
    for rater, rows in by_rater.items():
        pattern, count = Counter(row.placed for row in rows).most_common(1)[0]
        if len(rows) < least or count < _MOSTLY * len(rows):
            continue
        own = [row for row in others if row.one.rater == rater]
        alike = usual[pattern] - sum(row.placed == pattern for row in own)
        share = (alike + 1) / (len(others) - len(own) + 1)
        # The first of them says nothing yet.
        p[rater] = binomial_tail(count - 1, len(rows) - 1, share)
        evidence[rater] = (
            f"{count} of {len(rows)} answers are the same, {pattern}; "
            f"others give it to {alike / max(1, len(others) - len(own)):.1%}"
        )
    yield from (("all_same", rater, None, evidence[rater]) for rater in _pick_small(p))


def _find_lowest(by_rater: Mapping[str, list[_Row]], others: Sequence[_Row]) -> Iterator[Outlier]:
    p, evidence = {}, {}
    for rater, rows in by_rater.items():
        count = sum(row.is_lowest for row in rows)
        if count <= len(rows) / 2 or len(rows) < 3:
            continue
        rest = [row.is_lowest for row in others if row.one.rater != rater]
        share = (sum(rest) + 1) / (len(rest) + 1)
        p[rater] = binomial_tail(count, len(rows), share)
        evidence[rater] = (
            f"{count} of {len(rows)} stories got the lowest answer to everything; "
            f"others give it to {sum(rest) / max(1, len(rest)):.1%}"
        )
    yield from (("all_lowest", rater, None, evidence[rater]) for rater in _pick_small(p))


def _find_apart(
    by_rater: Mapping[str, list[_Row]], others: Sequence[_Row], bar: float
) -> Iterator[Outlier]:
    """Find raters whose correlation with the mean of the others is surely below the bar."""
    means = _average_rows(others)
    by_unit: dict[str, dict[str, float]] = {}
    for row in others:
        if not math.isnan(mean := means(row)):
            by_unit.setdefault(row.unit, {})[row.one.rater] = mean
    p, evidence = {}, {}
    for rater, rows in by_rater.items():
        pairs = []
        for row in rows:
            rest = [value for name, value in by_unit.get(row.unit, {}).items() if name != rater]
            if rest and not math.isnan(own := means(row)):
                pairs.append((own, statistics.fmean(rest)))
        if len(pairs) < _FEWEST_STORIES:
            continue
        own_values, rest_values = np.array(pairs).T
        r = float(correlate(own_values, rest_values))
        if math.isnan(r):
            continue
        reach = 1 / math.sqrt(len(pairs) - 3)
        z = math.atanh(max(-0.999, min(0.999, r)))
        p[rater] = NormalDist().cdf((z - math.atanh(bar)) / reach)
        most = math.tanh(z + NormalDist().inv_cdf(0.975) * reach)
        evidence[rater] = (
            f"the correlation with the mean of the others is {r:.2f} over "
            f"{count_text(len(pairs), 'story', 'stories')} (95 %: at most {most:.2f}), and at "
            f"least {bar:.2f} is asked for"
        )
    yield from (("agreement", rater, None, evidence[rater]) for rater in _pick_small(p))


def _average_rows(rows: Sequence[_Row]) -> Any:
    """Make a function that averages a row's answers, each question in its own spread."""
    width = max((len(row.numbers) for row in rows), default=0)
    table = np.array([row.numbers for row in rows if len(row.numbers) == width and width])
    if not table.size:
        return lambda row: math.nan
    with np.errstate(invalid="ignore"):
        centre, spread = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
    spread[spread == 0] = 1.0

    def average(row: _Row) -> float:
        if len(row.numbers) != width:
            return math.nan
        scaled = (np.array(row.numbers) - centre) / spread
        there = scaled[~np.isnan(scaled)]
        return float(there.mean()) if len(there) else math.nan

    return average


def _find_scattered(by_rater: Mapping[str, list[_Row]]) -> Iterator[Outlier]:
    """Find raters whose answers to different questions have surely less to do with one another.

    The bar is half of what is usual here for the correlation of two answers about one story.
    """
    tables = {rater: _complete_numbers(rows) for rater, rows in by_rater.items()}
    found = {
        rater: two_way(table)
        for rater, table in tables.items()
        if len(table) >= _FEWEST_STORIES and table.shape[1] > 2
    }
    single = {rater: iccs[1].value for rater, iccs in found.items() if iccs[1].f < math.inf}
    known = [value for value in single.values() if not math.isnan(value)]
    usual = statistics.median(known) if known else math.nan
    if not usual >= _LEAST_UNITY:
        return
    p, evidence = {}, {}
    for rater, value in single.items():
        icc = found[rater][3]
        if math.isnan(value):
            continue
        bar = spearman_brown(usual / 2, icc.k)
        # F · (1 - alpha) has Fisher's distribution, where alpha is the true one (Feldt, 1965).
        p[rater] = 1 - f_tail(icc.f * (1 - bar), icc.df1, icc.df2)
        evidence[rater] = (
            f"two answers about one story correlate by {value:.2f} over "
            f"{count_text(icc.stories, 'story', 'stories')}; {usual:.2f} is usual here"
        )
    yield from (("scattered", rater, None, evidence[rater]) for rater in _pick_small(p))


def _complete_numbers(rows: Sequence[_Row]) -> Values:
    width = max((len(row.numbers) for row in rows), default=0)
    table = [row.numbers for row in rows if len(row.numbers) == width]
    return complete_rows(np.array(table, dtype=np.float64).reshape(len(table), width))


def _find_copies(by_rater: Mapping[str, list[_Row]], others: Sequence[_Row]) -> Iterator[Outlier]:
    """Find raters whose answers were all there before."""
    by_unit: dict[str, list[_Row]] = {}
    for row in others:
        by_unit.setdefault(row.unit, []).append(row)
    earlier = {id(row): _list_earlier(row, by_unit) for rows in by_rater.values() for row in rows}
    pairs = {rater: sum(len(earlier[id(row)]) for row in rows) for rater, rows in by_rater.items()}
    equal = {
        rater: sum(other.pattern == row.pattern for row in rows for other in earlier[id(row)])
        for rater, rows in by_rater.items()
    }
    p, evidence = {}, {}
    for rater, rows in by_rater.items():
        comparable = [row for row in rows if earlier[id(row)]]
        copied = [
            row
            for row in comparable
            if any(other.pattern == row.pattern for other in earlier[id(row)])
        ]
        if len(copied) < max(_FEWEST_COPIES, _COPIED_SHARE * len(comparable)):
            continue
        rest = sum(pairs.values()) - pairs[rater]
        usual = (sum(equal.values()) - equal[rater] + 1) / (rest + 1)
        chance = statistics.fmean(1 - (1 - usual) ** len(earlier[id(row)]) for row in comparable)
        p[rater] = binomial_tail(len(copied), len(comparable), chance)
        evidence[rater] = (
            f"{len(copied)} of {len(comparable)} answers are exactly what somebody else had "
            f"submitted before{_name_model(copied, earlier)}; {chance:.1%} is usual here"
        )
    yield from (("copycat", rater, None, evidence[rater]) for rater in _pick_small(p))


def _list_earlier(row: _Row, by_unit: Mapping[str, list[_Row]]) -> list[_Row]:
    """Others' answers about the same, submitted before this one."""
    moment = row.one.submitted_at
    return [
        other
        for other in by_unit.get(row.unit, ())
        if other.one.rater != row.one.rater
        and moment
        and other.one.submitted_at
        and other.one.submitted_at < moment
    ]


def _name_model(copied: Sequence[_Row], earlier: Mapping[int, list[_Row]]) -> str:
    """Say how many of the copies are of one and the same rater's answers, if most are."""
    models = Counter(
        other.one.rater
        for row in copied
        for other in earlier[id(row)]
        if other.pattern == row.pattern
    )
    count = models.most_common(1)[0][1] if models else 0
    return f", {count} of them by one rater" if count > len(copied) / 2 else ""


def _find_texts(work: Work) -> Iterator[Outlier]:
    """Find texts that are somebody else's, or that a rater writes under story after story."""
    first: dict[str, str] = {}
    own: dict[str, Counter[str]] = {}
    copied: dict[str, list[str]] = {}
    for one in work.submitted:
        if work.kind_of(one) == "duplicate":
            continue
        for text in dict.fromkeys(_list_texts(work, one)):
            key = " ".join(words(text))
            if len(key.split()) < _FEWEST_WORDS:
                continue
            own.setdefault(one.rater, Counter())[key] += 1
            if first.setdefault(key, one.rater) != one.rater:
                copied.setdefault(one.rater, []).append(key)
    for rater, texts in copied.items():
        if len(texts) > 1 or len(texts[0].split()) >= _MANY_WORDS:
            said = f"{count_text(len(texts), 'text')} word for word as another rater wrote before"
            yield "same_text", rater, None, f"{said}: {_shorten(texts[0])}"
    for rater, counts in own.items():
        text, count = counts.most_common(1)[0]
        if count >= _REPEATED:
            yield "same_text", rater, None, f"the same text {count} times: {_shorten(text)}"


def _list_texts(work: Work, one: WorkAssignment) -> Iterator[str]:
    """What a rater wrote: answers in words, and reasons."""
    for question in work.definition.questions:
        for place in [""] if question.compares else one.shown:
            given = one.answer(question, place)
            if question.kind == "text" and isinstance(given, str):
                yield given
            parts = given.values() if isinstance(given, Mapping) else given
            for part in parts if isinstance(parts, list | type({}.values())) else ():
                if isinstance(part, Mapping) and isinstance(part.get("reason"), str):
                    yield part["reason"]


def _shorten(text: str) -> str:
    return f"“{text[:60]}{'…' if len(text) > 60 else ''}”"
