"""Which metrics are strong: by class, with intervals, the first of each aspect, in one ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fabula.core.story import count_text
from fabula.meta.coefficients import Coefficient
from fabula.meta.levels import Level
from fabula.meta.ranking.metrics import MetricRanking, rank_metrics
from fabula.meta.results import MetricResult
from fabula.reports.correlations import study_words, table_order
from fabula.reports.figures.drawing import NARROW
from fabula.reports.figures.intervals import Band, Interval, draw_intervals
from fabula.reports.numbers import interval_text, number_text
from fabula.reports.study_blocks import Block, FigureBlock, Section, TableBlock, TabsBlock, Words
from fabula.reports.study_view import COEFFICIENT_NAMES, View, column_labels, level_title
from fabula.reports.tables import Cell, Tone

_FAMILIES = ("string", "embedding", "model", "learned", "judge", "baseline")
# Metrics that a figure shows besides the baselines.
_MOST = 30
_MOST_STRONGEST = 5
_MOST_RANKED = 15
# As tables of visual storytelling have them.
_SYMBOLS: Mapping[Coefficient, str] = {
    "spearman": "ρ", "pearson": "r", "kendall": "τ", "kendall_c": "τ-c",
}  # fmt: skip
_POINTS = (
    "Points are Borda's: in each column (three coefficients × the aspects) the weakest metric has "
    "0, the next 1, and so on; metrics that tie share the mean of their points."
)


def classes(view: View) -> Section | None:
    """Table metrics by family, by what they read and by which way is better."""
    cards = {column.label: view.card(column) for column in view.metrics.columns}
    if not any(card.family for card in cards.values()):
        return None
    rows = []
    for family in (*_FAMILIES, ""):
        for reads in sorted({card.uses for card in cards.values()}, reverse=True):
            names = [n for n, card in cards.items() if (card.family, card.uses) == (family, reads)]
            if names:
                lower = sum(cards[name].direction == "lower" for name in names)
                rows.append(
                    (family or "not declared", ", ".join(reads) or "the story alone", len(names),
                     lower, ", ".join(names))
                )  # fmt: skip
    table = TableBlock(
        view.numbered("classes", "Classes of metrics"),
        ("family", "reads besides the story", "metrics", "of them lower is better", "names"),
        rows,
        "classes",
        "From the cards of the scorers. A distance that nobody turns looks worse than it is.",
    )
    return Section("classes", "Classes of metrics", [table])


def standing(view: View) -> Section | None:
    """Show the strongest metrics beside the baselines, aspect by aspect and level by level."""
    if not view.coefficients:
        return None
    coefficient = "spearman" if "spearman" in view.coefficients else view.coefficients[0]
    blocks: list[Block] = [Words(_findings(view, coefficient))]
    for level in view.levels:
        panels: dict[str, Block] = {}
        for aspect in view.aspects:
            lines = view.result.of(level=level, coefficient=coefficient, aspect=aspect)
            name = f"standing_{level}_{view.stems[aspect]}"
            title = f"{level_title(level)}, {aspect or 'gold'}: {COEFFICIENT_NAMES[coefficient]}"
            panels[aspect or "gold"] = FigureBlock(
                title, _figure(lines, title), name, narrow=_figure(lines, title, NARROW)
            )
        blocks.append(TabsBlock(level_title(level), panels))
    blocks.append(Words(study_words(view.result)))
    return Section("standing", "Which metric to believe", blocks)


def _figure(lines: Sequence[MetricResult], title: str, width: int = 860) -> str:
    order = table_order(lines)
    proper = [line for line in lines if line.family != "baseline"]
    shown = {line.metric for line in lines if line.family == "baseline"}
    shown |= set([name for name in order if name in {line.metric for line in proper}][:_MOST])
    rows = [
        Interval(
            line.metric,
            line.estimate.value,
            line.estimate.low,
            line.estimate.high,
            "baseline" if line.family == "baseline" else "metric",
        )
        for line in lines
        if line.metric in shown
    ]
    ceiling = lines[0].ceiling if lines else math.nan
    band = None if math.isnan(ceiling) else Band(ceiling, 1.0, "beyond the noise ceiling")
    label = "correlation with the gold"
    return draw_intervals(rows, title=title, x_label=label, band=band, width=width)


def _findings(view: View, coefficient: str) -> list[str]:
    """Say in a sentence a level whether any metric is worth more than counting words."""
    words = []
    for level in view.levels:
        lines = view.result.of(level=level, coefficient=coefficient)
        judged = [line for line in lines if not math.isnan(line.gain.value)]
        if not judged:
            words.append(f"**{level_title(level)}.** No trivial baselines are at hand to compare.")
            continue
        better = [line for line in judged if line.gain.low > 0]
        names = sorted({line.metric for line in better})
        named = f": {', '.join(names[:8])}{', …' if len(names) > 8 else ''}" if names else ""
        words.append(
            f"**{level_title(level)}.** Of {len(judged)} pairs of metric and aspect, "
            f"{len(better)} go beyond the best trivial baseline with an interval above 0{named}."
        )
    return words


def strongest(view: View) -> Section | None:
    """List the five metrics with the largest correlation, sign apart, by aspect."""
    panels: dict[str, Block] = {}
    for level in view.grid_levels:
        for coefficient in view.coefficients:
            label = f"{level_title(level)}, {COEFFICIENT_NAMES[coefficient]}"
            panels[label] = _strongest_table(view, level, coefficient)
    if not panels or not view.raw.columns:
        return None
    remarks = view.remarks("strongest")
    blocks: list[Block] = [Words(remarks)] if remarks else []
    blocks.append(TabsBlock("The five strongest", panels))
    return Section("strongest", "The strongest metrics", blocks)


def _strongest_table(view: View, level: Level, coefficient: Coefficient) -> TableBlock:
    table = 100 * np.abs(view.table(view.raw, level, coefficient))
    names = column_labels(view.raw)
    rows = []
    for place, aspect in enumerate(view.aspects):
        order = np.argsort(-np.nan_to_num(table[:, place], nan=-1.0), kind="stable")[
            :_MOST_STRONGEST
        ]
        rows += [
            (aspect, rank, names[metric], *_cells(view, level, coefficient, aspect, names[metric],
                                                  float(table[metric, place])))
            for rank, metric in enumerate(order, 1)
        ]  # fmt: skip
    title = f"{level_title(level)}, {COEFFICIENT_NAMES[coefficient]}"
    return TableBlock(
        view.numbered(f"strongest_{level}", title),
        ("aspect", "rank", "metric", "|correlation| × 100", "printed", "difference"),
        rows,
        f"strongest_{level}_{coefficient}",
        "Without signs; the trivial baselines are left out here.",
        decimals=[None, None, None, 2, 2, 2],
    )


def _cells(
    view: View, level: Level, coefficient: Coefficient, aspect: str, metric: str, ours: float
) -> tuple[float, float | None, Cell | None]:
    what = f"{aspect}, {coefficient}, {metric}"
    value = view.printed_value(f"strongest_{level}", what)
    if value is None:
        return ours, None, None
    difference = Cell(
        value.ours - value.printed, tone="" if value.holds else "warn", title=value.note
    )
    return ours, value.printed, difference


def by_aspect(view: View) -> Section | None:
    """Table every metric's coefficients over all stories, aspect by aspect."""
    lines = view.result.of(level="pooled")
    if not lines or not view.coefficients:
        return None
    of_cell = {(line.metric, line.aspect, line.coefficient): line for line in lines}
    rows: list[list[Cell | str]] = [
        [metric, *(_aspect_cell(of_cell.get((metric, aspect, coefficient)))
                   for aspect in view.aspects for coefficient in _in_papers_order(view))]
        for metric in _metrics_first(lines)
    ]  # fmt: skip
    heads = [
        f"{aspect or 'gold'} {_SYMBOLS[coefficient]}"
        for aspect in view.aspects
        for coefficient in _in_papers_order(view)
    ]
    table = TableBlock(
        view.numbered("by_aspect", "Metrics and aspects, story by story"),
        ("metric", *heads),
        rows,
        "by_aspect",
        "Over all stories. Coloured: the 95 % interval, by drawing items anew, lies above 0; the "
        "title of a cell has it. Trivial baselines stand last.",
    )
    blocks: list[Block] = [table, *view.paper_blocks("by_aspect")]
    return Section("by_aspect", "Which metric follows which rating", blocks)


def _in_papers_order(view: View) -> list[Coefficient]:
    return [name for name in _SYMBOLS if name in view.coefficients]


def _metrics_first(lines: Sequence[MetricResult]) -> list[str]:
    """Metrics in the order of the study, then the trivial baselines."""
    ordered = sorted(lines, key=lambda line: line.family == "baseline")
    return list(dict.fromkeys(line.metric for line in ordered))


def _aspect_cell(line: MetricResult | None) -> Cell:
    if line is None or math.isnan(line.estimate.value):
        return Cell(None)
    value, low, high = line.estimate.value, line.estimate.low, line.estimate.high
    tone: Tone = "good" if low > 0 else ""
    ends = f"{interval_text(low, high, 3)}, {count_text(line.estimate.n, 'story', 'stories')}"
    return Cell(value, number_text(value, 3), tone, ends)


def ranking(view: View) -> Section | None:
    """Rank the metrics by Borda's points, level by level and together."""
    levels = view.grid_levels
    if not levels or not view.raw.columns:
        return None
    groups: list[tuple[Level, ...]] = [(level,) for level in levels]
    if len(levels) > 1:
        groups.append(tuple(levels))
    blocks: list[Block] = [Words([_POINTS, *view.remarks("ranking")])]
    blocks += [_ranking_table(view, group) for group in groups]
    return Section("ranking", "One ranking of metrics", blocks)


def _ranking_table(view: View, levels: Sequence[Level]) -> TableBlock:
    cards = view.dataset.scorers
    ranked: MetricRanking = rank_metrics(view.raw, view.gold, levels=levels, cards=cards)
    title = " and ".join(level_title(level) for level in levels)
    name, rows = f"ranking_{'_'.join(levels)}", []
    for line in ranked.lines[:_MOST_RANKED]:
        held = view.printed_value(name, line.metric)
        rows.append(
            (line.rank, line.metric, line.family, line.points,
             held.printed if held else None, line.mean)
        )  # fmt: skip
    return TableBlock(
        view.numbered(name, title),
        ("rank", "metric", "family", "points", "printed", "mean |correlation|"),
        rows,
        name,
        f"The first {min(_MOST_RANKED, len(ranked.lines))} of {len(ranked.lines)}.",
        decimals=[None, None, None, 1, 1, 3],
    )
