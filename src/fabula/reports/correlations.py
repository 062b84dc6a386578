"""How far metrics agree with people, as tables to print: metrics × aspects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from fabula._version import __version__
from fabula.core.card import ARROWS
from fabula.core.story import count_text
from fabula.meta.levels import LEVEL_WORDS, Level
from fabula.meta.results import CHOICE_FIGURES, MetricResult
from fabula.meta.study import StudyResult
from fabula.reports.numbers import coefficient_text, decimals_for, interval_text, number_text
from fabula.reports.standings import find_best
from fabula.reports.tables import Cell, Table, Value, render

NAMES = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "kendall": "Kendall's τ-b",
    "kendall_c": "Kendall's τ-c",
    "pairwise": "Pairwise accuracy",
    "soft_pairwise": "Soft pairwise accuracy",
    "accuracy": "accuracy",
    "strict_accuracy": "ties wrong",
    "distance": "distance",
    "distance_sd": "in deviations",
}
# With more aspects than this, a line with intervals does not fit on a screen.
_MOST_WITH_ENDS = 4
_SIGNS = {
    "oriented": "turned so that more is better",
    "raw": "with their signs as they are",
    "absolute": "without their signs",
}


def render_correlations(form: str, result: StudyResult, tables: Sequence[tuple[Level, str]]) -> str:
    """Write what a study found as table, json, jsonl, csv or latex.

    `tables` are the levels and coefficients of which tables are printed; data has all.
    """
    rows = [line.row() for line in result.correlations]
    record = {
        "dataset": result.dataset.name,
        "study": asdict(result.study),
        "words": study_words(result),
    }
    there = dict.fromkeys((line.level, line.coefficient) for line in result.correlations)
    # Stories without systems have no level but the pooled one, whatever was asked for.
    asked = [table for table in tables if table in there] or list(there)
    shown = [table for table in asked if _has_values(result, *table)] or asked[:1]
    if {coefficient for _, coefficient in there} >= {*CHOICE_FIGURES}:
        printed = [_choice_table(result)]
    else:
        printed = [_table(result, *table) for table in shown]
    if printed:
        legend = _legend(result.correlations)
        notes = (legend, *study_words(result))
        printed[-1] = replace(printed[-1], notes=notes, cite=study_signature(result))
    return render(form, rows, printed, record)


def study_signature(result: StudyResult) -> str:
    """What the numbers depend on, on one line."""
    how = result.study
    control = f"|control:{how.control}" if how.control else ""
    return (
        f"study|{result.dataset.name}|sign:{how.sign}|draw:{how.drawn}|resamples:{how.resamples}|"
        f"seed:{how.seed}|alpha:{how.alpha:g}|settle:{'yes' if how.settle else 'no'}"
        f"{control}|fabula:{__version__}"
    )


def _has_values(result: StudyResult, level: str, coefficient: str) -> bool:
    """Whether there is a value to show: an accuracy of systems has none for items."""
    lines = result.of(level=level, coefficient=coefficient)
    return any(not math.isnan(line.estimate.value) for line in lines)


def study_words(result: StudyResult) -> list[str]:
    """Say in plain words what the numbers rest on and what they cannot bear."""
    items, systems = result.metrics.layout.shape
    stories = len(result.metrics.layout.places)
    how = result.study
    left = ", ".join(() if how.references else result.dataset.card.reference_systems)
    counts = [
        count_text(stories, "story", "stories"),
        *([count_text(items, "item")] if items < stories else []),
        *([count_text(systems, "system")] if systems > 1 else []),
    ]
    return [
        ", ".join(counts)
        + (f" ({left} left out: it wrote the references)" if left else "")
        + f"; {count_text(len(result.metrics.columns), 'column')} of metrics, "
        + f"{count_text(len(result.gold.columns), 'aspect')}.",
        f"Coefficients are {_SIGNS[how.sign]}. Intervals: {100 * (1 - how.alpha):g} %, bootstrap "
        f"over {'systems and items' if how.drawn == 'both' else 'items'}, {how.resamples:,} draws, "
        f"seed {how.seed}.",
        *([f"Correlations are partial: {how.control} is held constant."] if how.control else []),
        *result.cautions,
    ]


def table_order(lines: Sequence[MetricResult]) -> list[str]:
    """Metrics from the largest mean over the aspects down; undefined ones last.

    A metric that declares no direction stands where its strength puts it, whatever the sign.
    """
    means: dict[str, list[float]] = {}
    for line in lines:
        value = abs(line.estimate.value) if line.direction == "descriptive" else line.estimate.value
        means.setdefault(line.metric, []).append(value)
    return sorted(means, key=lambda name: (-_mean(means[name]), name))


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else -math.inf


def _table(result: StudyResult, level: Level, coefficient: str) -> Table:
    lines = result.of(level=level, coefficient=coefficient)
    by_cell = {(line.metric, line.aspect): line for line in lines}
    aspects = list(dict.fromkeys(line.aspect for line in lines))
    writer = _CellWriter(_best(lines), ends=len(aspects) <= _MOST_WITH_ENDS)
    rows: list[tuple[Cell | Value, ...]] = [
        (_label(metric, lines), *(writer.cell(by_cell.get((metric, a))) for a in aspects))
        for metric in table_order(lines)
    ]
    ceilings = [_ceiling(lines, aspect) for aspect in aspects]
    if not all(map(math.isnan, ceilings)):
        cells = (Cell(value, coefficient_text(value), "quiet") for value in ceilings)
        rows.append((Cell("noise ceiling", tone="quiet"), *cells))
    given = f", {result.study.control} held constant" if result.study.control else ""
    title = f"{result.dataset.name}: {NAMES[coefficient]}{given}, {level} level"
    return Table(
        ("metric", *(aspect or "gold" for aspect in aspects)),
        rows,
        f"{title} ({LEVEL_WORDS[level]})",
        across="aspect",
    )


def _choice_table(result: StudyResult) -> Table:
    """Give a row a metric: how often, and by how much, it is higher for the better story."""
    by_figure = {name: result.of(coefficient=name) for name in CHOICE_FIGURES}
    writer = _CellWriter(_best(by_figure["accuracy"]), ends=True)
    plain = _CellWriter(set(), ends=True)
    rows: list[tuple[Cell | Value, ...]] = []
    for metric in table_order(by_figure["accuracy"]):
        lines = [next(x for x in by_figure[name] if x.metric == metric) for name in CHOICE_FIGURES]
        strict, pairs = coefficient_text(lines[1].estimate.value), lines[0].estimate.n
        rows.append(
            (
                _label(metric, lines),
                writer.cell(lines[0]),
                Cell(lines[1].estimate.value, strict),
                _distance_cell(lines[2]),
                plain.cell(lines[3]),
                Cell(pairs, f"{pairs:,}"),
            )
        )
    names = [NAMES[name] for name in CHOICE_FIGURES]
    title = f"{result.dataset.name}: choices between two stories, people's and metrics'"
    return Table(("metric", *names, "pairs"), rows, title)


def _distance_cell(line: MetricResult) -> Cell:
    """Write a distance in its metric's unit, which may be thousands or thousandths."""
    result = line.estimate
    if math.isnan(result.value):
        return Cell(None, tone="quiet")
    decimals = decimals_for([result.value])
    ends = interval_text(result.low, result.high, decimals)
    return Cell(result.value, f"{number_text(result.value, decimals)} {ends}".rstrip())


def _legend(lines: Sequence[MetricResult]) -> str:
    base = sum(line.family == "baseline" for line in lines)
    signs = "* some items undefined and left out"
    if not base:
        return f"{signs}. No trivial baselines: the texts are not at hand."
    return f"° trivial baseline, + beyond the best of them (interval above 0), {signs}."


def _label(metric: str, lines: Sequence[MetricResult]) -> str:
    line = next(line for line in lines if line.metric == metric)
    sign = "°" if line.family == "baseline" else ARROWS[line.direction]  # type: ignore[index]
    return f"{metric} {sign}"


def _best(lines: Sequence[MetricResult]) -> set[tuple[str, str]]:
    """Metric and aspect where one metric's interval is better than that of every other."""
    best = set()
    for aspect in dict.fromkeys(line.aspect for line in lines):
        known = [
            line for line in lines if line.aspect == aspect and not math.isnan(line.estimate.value)
        ]
        place = find_best(
            [line.estimate.low for line in known], [line.estimate.high for line in known]
        )
        if place is not None:
            best.add((known[place].metric, aspect))
    return best


@dataclass(frozen=True)
class _CellWriter:
    """How cells are written: which are the best, and whether the ends of intervals fit in."""

    best: set[tuple[str, str]]
    ends: bool

    def cell(self, line: MetricResult | None) -> Cell:
        if line is None or math.isnan(line.estimate.value):
            return Cell(None, tone="quiet")
        result, ends = line.estimate, ""
        if self.ends and not math.isnan(result.low):
            ends = f" [{coefficient_text(result.low)} {coefficient_text(result.high)}]"
        marks = ("+" if line.gain.low > 0 else "") + ("*" if result.undefined else "")
        text = f"{coefficient_text(result.value)}{marks}{ends}"
        return Cell(result.value, text, "good" if (line.metric, line.aspect) in self.best else "")


def _ceiling(lines: Sequence[MetricResult], aspect: str) -> float:
    return next((line.ceiling for line in lines if line.aspect == aspect), math.nan)
