"""Rankings of metrics and of systems, to print: a table, the words below it, and plain rows."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from fabula._version import __version__
from fabula.core.card import ARROWS
from fabula.core.story import count_text
from fabula.meta.levels import LEVEL_WORDS, Level
from fabula.meta.ranking.metrics import MetricRanking, RankedMetric
from fabula.meta.ranking.systems import RankedSystem, Resampling, SystemRanking
from fabula.reports.numbers import interval_text, number_text
from fabula.reports.tables import Cell, Table, Value, render

_RULES = {
    "borda": "points",
    "mean": "mean",
    "kemeny": "places",
    "win_rate": "win rate",
    "bradley_terry": "strength",
    "elo": "Elo",
}


def render_metric_ranking(
    form: str, ranking: MetricRanking, name: str, *, top: int | None = None
) -> str:
    """Write a ranking of metrics as table, json, jsonl, csv or latex."""
    lines = ranking.lines[:top]
    rows = [_plain(_metric_row(line)) for line in lines]
    record = {
        "dataset": name,
        "by": ranking.rule,
        "levels": list(ranking.levels),
        "aspects": list(ranking.aspects),
        "columns": ranking.columns,
        "metrics": len(ranking.lines),
        "words": metric_words(ranking),
    }
    if ranking.optimum:
        record |= {"distance": ranking.optimum.distance, "solutions": ranking.optimum.solutions}
    title = f"{count_text(len(ranking.lines), 'metric')} by agreement with people on {name}"
    head = ("metric", "rank", *_metric_heads(ranking))
    cells = tuple(_metric_cells(line, ranking) for line in lines)
    levels = "+".join(ranking.levels)
    cite = f"rank|{name}|by:{ranking.rule}|levels:{levels}|fabula:{__version__}"
    table = Table(head, cells, title, metric_words(ranking), cite=cite)
    return render(form, rows, [table], record)


def metric_words(ranking: MetricRanking) -> list[str]:
    """Say in plain words how the metrics were ranked and what to mind."""
    words = [
        f"Made of {count_text(ranking.columns, 'column')}: Pearson's r, Spearman's rho and "
        f"Kendall's tau-b with {count_text(len(ranking.aspects), 'aspect')}, "
        + " and ".join(f"{LEVEL_WORDS[level]} ({level})" for level in ranking.levels)
        + ". What counts is the size of a correlation, not its sign."
    ]
    if ranking.optimum:
        words.append(_kemeny_words(ranking))
    if baselines := [line for line in ranking.lines if line.family == "baseline"]:
        best = baselines[0]
        below = sum(line.rank > best.rank for line in ranking.lines if line.family != "baseline")
        words.append(
            f"The best trivial baseline, {best.metric}, has rank {best.rank}; "
            f"below it: {count_text(below, 'metric')}."
        )
    if against := sum(line.against for line in ranking.lines):
        words.append(f"Against the declared direction (!): {count_text(against, 'metric')}.")
    if undefined := sum(bool(line.undefined) for line in ranking.lines):
        words.append(
            "Without a value in some columns, and last there (*): "
            f"{count_text(undefined, 'metric')}."
        )
    return words


def _kemeny_words(ranking: MetricRanking) -> str:
    assert ranking.optimum
    count = ranking.optimum.solutions
    alike = "no other ranking is as good" if count == 1 else f"{count:,} rankings are as good"
    return (
        "The order disagrees with the columns on "
        f"{count_text(ranking.optimum.distance, 'pair')} of metrics, the least there can be; "
        f"{alike}."
    )


def _metric_row(line: RankedMetric) -> dict[str, Any]:
    row = asdict(line)
    levels = row.pop("by_level")
    return row | {f"mean_{level}": value for level, value in levels.items()}


def _metric_heads(ranking: MetricRanking) -> tuple[str, ...]:
    own = () if ranking.rule == "mean" else (_RULES[ranking.rule],)
    return (*own, "mean |r|", *(f"{part} |r|" for part in _parts(ranking)))


def _parts(ranking: MetricRanking) -> tuple[Level, ...]:
    """Levels to show apart: none where there is but one."""
    return ranking.levels if len(ranking.levels) > 1 else ()


def _metric_cells(line: RankedMetric, ranking: MetricRanking) -> tuple[Cell | Value, ...]:
    marks = "!" * line.against + "*" * bool(line.undefined)
    label = f"{line.metric} {ARROWS[line.direction]}{marks}"
    name = Cell(label, tone="quiet" if line.family == "baseline" else "")
    own = {
        "borda": (Cell(line.points, f"{line.points:,.1f}".removesuffix(".0")),),
        "kemeny": (_places(line.first, line.last),),
        "mean": (),
    }[ranking.rule]
    means = (line.mean, *(line.by_level[level] for level in _parts(ranking)))
    return (name, line.rank, *own, *(Cell(mean, number_text(mean, 3)) for mean in means))


def render_system_ranking(
    form: str, ranking: SystemRanking, name: str, *, how: Resampling, top: int | None = None
) -> str:
    """Write a ranking of systems as table, json, jsonl, csv or latex."""
    lines = ranking.lines[:top]
    rows = [_plain(line.row()) for line in lines]
    words = system_words(ranking, how)
    record = {
        "dataset": name,
        "by": ranking.rule,
        "aspect": ranking.aspect,
        "source": ranking.source,
        "over": ranking.over,
        "items": ranking.items,
        "procedure": asdict(how),
        "words": words,
    }
    on = f" ({ranking.aspect})" if ranking.aspect else ""
    title = (
        f"{count_text(len(ranking.lines), 'system')} of {name} by {ranking.source} of people{on}"
    )
    level = f"{100 * (1 - how.alpha):g} %"
    unit = ranking.over if ranking.rule == "mean" else "choices"
    head = ("system", "rank", "places", "cluster", _RULES[ranking.rule], level, unit)
    cells = tuple(_system_cells(line, ranking.rule) for line in lines)
    cite = (
        f"rank|{name}|systems|by:{ranking.rule}|{ranking.source}{on.replace(' ', '')}|"
        f"resamples:{how.resamples}|seed:{how.seed}|alpha:{how.alpha:g}|fabula:{__version__}"
    )
    return render(form, rows, [Table(head, cells, title, words, cite=cite)], record)


def system_words(ranking: SystemRanking, how: Resampling) -> list[str]:
    """Say in plain words what the values and clusters are."""
    interval = (
        f"Intervals are Student's t over {ranking.over}."
        if ranking.rule == "mean"
        else f"Intervals: bootstrap over {count_text(ranking.items, 'item')}, "
        f"{how.resamples:,} resamples, seed {how.seed}."
    )
    words = [
        f"{interval} Places and clusters go by sign-flip tests on the items that two systems "
        f"share, corrected for all pairs (Holm), level {how.alpha:g}: a cluster ends where all "
        "systems above are told apart from all below."
    ]
    if left_out := sum(line.estimate.undefined for line in ranking.lines):
        words.append(f"{left_out:,} {ranking.over} were left out: a rating is missing.")
    return words


def _system_cells(line: RankedSystem, rule: str) -> tuple[Cell | Value, ...]:
    decimals = 1 if rule == "elo" else 3
    where = (line.rank, _places(line.first, line.last), line.cluster)
    ranking = line.estimate
    interval = Cell(ranking.low, interval_text(ranking.low, ranking.high, decimals) or "–")
    count = Cell(ranking.n, f"{ranking.n:,}{'*' * bool(ranking.undefined)}")
    value = Cell(ranking.value, number_text(ranking.value, decimals))
    return (line.system or "nameless", *where, value, interval, count)


def _places(first: int, last: int) -> Cell:
    return Cell(first, str(first) if first == last else f"{first}–{last}")


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in row.items()
    }
