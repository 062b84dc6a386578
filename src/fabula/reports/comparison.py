"""Two systems compared, as a table to print and a sentence that says what was found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from fabula.core.card import ARROWS
from fabula.core.story import count_text
from fabula.meta.compare import Compared, Comparison
from fabula.meta.resampling import GROUPS, MOST_UNITS
from fabula.reports.numbers import decimals_for, interval_text, number_text, p_text
from fabula.reports.summary import cite_table, judge_words
from fabula.reports.tables import Cell, Table, Tone, render
from fabula.scoring.catalogue import label_scorers

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg"}
_HEAD = ("metric", "A", "B", "difference", "p", "A wins", "effect", "verdict")
_TONES: Mapping[str, Tone] = {"A": "good", "B": "other", "": "quiet"}


def render_comparison(form: str, comparison: Comparison, signatures: Mapping[str, str]) -> str:
    """Write a comparison as table, json, jsonl, csv or latex."""
    return render_comparisons(form, [comparison], signatures)


def render_comparisons(
    form: str, comparisons: Sequence[Comparison], signatures: Mapping[str, str]
) -> str:
    """Write comparisons of one system with others; the rows of several say with which."""
    several = len(comparisons) > 1
    rows = [
        ({"a": comparison.a, "b": comparison.b} if several else {})
        | row
        | {"signature": signatures.get(row["scorer"], "")}
        for comparison in comparisons
        for row in comparison.rows()
    ]
    records = [
        {
            "a": comparison.a,
            "b": comparison.b,
            "shared_items": comparison.shared,
            "procedure": asdict(comparison.procedure),
            "comparisons": comparison.tests,
            "words": comparison_words(comparison),
        }
        for comparison in comparisons
    ]
    record = {"compared": records} if several else records[0]
    tables = [comparison_table(comparison, signatures) for comparison in comparisons]
    return render(form, rows, tables, record)


def comparison_table(comparison: Comparison, signatures: Mapping[str, str]) -> Table:
    """Give a comparison as a table, with what was found in words below it."""
    labels = label_scorers((line.scorer, line.aspect) for line in comparison.lines)
    scorers = dict.fromkeys(line.scorer for line in comparison.lines)
    signed = {scorer: signatures[scorer] for scorer in scorers if scorer in signatures}
    return Table(
        _HEAD,
        [_cells(line, labels[line.scorer, line.aspect]) for line in comparison.lines],
        f"A is {comparison.a or 'nameless'}, B is {comparison.b or 'nameless'}: "
        f"{count_text(comparison.shared, 'shared item')}",
        [
            *comparison_words(comparison),
            *judge_words(((line.scorer, line.aspect) for line in comparison.lines), signed),
        ],
        cite=cite_table(signed) if signed else "",
        comments=list(signed.values()),
        gap=2,
    )


def comparison_words(comparison: Comparison) -> list[str]:
    """Say in plain words what was found, and how."""
    return [_finding(comparison), *_asides(comparison), _method(comparison)]


def _finding(comparison: Comparison) -> str:
    judging = [line for line in comparison.lines if line.direction != "descriptive"]
    judging = [line for line in judging if not math.isnan(line.p)]
    by_a = sum(line.favours == "A" for line in judging)
    by_b = sum(line.favours == "B" for line in judging)
    rest = len(judging) - by_a - by_b
    if not judging:
        return "No metric with a better way has values of both systems."
    a, b = comparison.a or "A", comparison.b or "B"
    if not by_a and not by_b:
        return f"No difference in quality was found between {a} and {b}: 0 of {_metrics(judging)}."
    return (
        f"Of {_metrics(judging)} with a better way, {by_a} {_prefer(by_a)} {a}, "
        f"{by_b} {_prefer(by_b)} {b} and {rest} {'finds' if rest == 1 else 'find'} no difference."
    )


def _asides(comparison: Comparison) -> list[str]:
    """Say what the finding does not: descriptive metrics, what was left out, what was in vain."""
    told = [line for line in comparison.lines if line.direction == "descriptive"]
    apart = sum(bool(line.favours) for line in told)
    words = []
    if told:
        words.append(
            f"{apart} of {_metrics(told)} without a better way (–) found a difference, "
            "which says nothing of quality: there A wins where it is higher."
        )
    if most := max((line.left_out for line in comparison.lines), default=0):
        words.append(
            f"Up to {count_text(most, 'item was', 'items were')} left out: a story or a value is "
            "missing (*)."
        )
    if comparison.blind:
        words.append(
            "No difference could have been found: take more items, fewer metrics or more resamples."
        )
    return words


def _method(comparison: Comparison) -> str:
    how = comparison.procedure
    level = f"{100 * (1 - how.alpha):g} %"
    many = max((line.items for line in comparison.lines), default=0) > MOST_UNITS
    over = f"items, more than {MOST_UNITS:,} in {GROUPS:,} groups by lot" if many else "items"
    return (
        f"p is corrected for {count_text(comparison.tests, 'comparison')} "
        f"({_CORRECTIONS[how.correction]}), level {how.alpha:g}; intervals ({level}) are not. "
        f"Sign-flip test and bootstrap over {over}, {how.resamples:,} resamples, seed {how.seed}. "
        "The effect is Cohen's d_z."
    )


def _metrics(lines: Sequence[Compared]) -> str:
    aspects = " (aspects counted apart)" if any(line.aspect for line in lines) else ""
    return f"{len(lines)} {'metric' if len(lines) == 1 else 'metrics'}{aspects}"


def _prefer(count: int) -> str:
    return "prefers" if count == 1 else "prefer"


def _cells(line: Compared, label: str) -> list[Cell]:
    head = Cell(f"{label} {ARROWS[line.direction]}{'*' * bool(line.left_out)}")
    if math.isnan(line.p):
        return [head, *[Cell(None)] * 6, Cell("too few", tone="quiet")]
    decimals = decimals_for((line.mean_a, line.mean_b))
    difference = number_text(line.difference.value, decimals, sign=True)
    ends = interval_text(*line.difference.interval, decimals, sign=True)
    more = "higher" if line.direction == "descriptive" else "better"
    return [
        head,
        Cell(line.mean_a, number_text(line.mean_a, decimals)),
        Cell(line.mean_b, number_text(line.mean_b, decimals)),
        Cell(line.difference.value, f"{difference} {ends}"),
        Cell(line.adjusted_p, p_text(line.adjusted_p)),
        Cell(line.wins.value, f"{100 * line.wins.value:.0f} %"),
        Cell(line.effect, number_text(line.effect, 2, sign=True)),
        Cell(f"{line.favours} {more}" if line.favours else "neither", tone=_TONES[line.favours]),
    ]
