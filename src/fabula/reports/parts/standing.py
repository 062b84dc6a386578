"""Which metric to believe: values with intervals, the trivial baselines and the noise ceiling."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fabula.meta.correlated import Correlated
from fabula.reports.correlations import study_words, table_order
from fabula.reports.figures.intervals import Band, Interval, draw_intervals
from fabula.reports.study_blocks import Block, FigureBlock, Section, TabsBlock, Words
from fabula.reports.study_view import COEFFICIENT_NAMES, View, level_title

# Metrics that a figure shows besides the baselines.
_MOST = 30


def section(view: View) -> Section | None:
    """Show the strongest metrics beside the baselines, aspect by aspect and level by level."""
    if not view.coefficients:
        return None
    coefficient = "spearman" if "spearman" in view.coefficients else view.coefficients[0]
    blocks: list[Block] = [Words(_findings(view, coefficient))]
    for level in view.levels:
        panels: dict[str, Block] = {}
        for aspect in view.aspects:
            lines = view.found.of(level=level, coefficient=coefficient, aspect=aspect)
            name = f"standing_{level}_{view.stems[aspect]}"
            title = f"{level_title(level)}, {aspect or 'gold'}: {COEFFICIENT_NAMES[coefficient]}"
            panels[aspect or "gold"] = FigureBlock(title, _figure(lines, title), name)
        blocks.append(TabsBlock(level_title(level), panels))
    blocks.append(Words(study_words(view.found)))
    return Section("standing", "Which metric to believe", blocks)


def _figure(lines: Sequence[Correlated], title: str) -> str:
    order = table_order(lines)
    proper = [one for one in lines if one.family != "baseline"]
    shown = {one.metric for one in lines if one.family == "baseline"}
    shown |= set([name for name in order if name in {one.metric for one in proper}][:_MOST])
    rows = [
        Interval(
            one.metric,
            one.value,
            one.low,
            one.high,
            "baseline" if one.family == "baseline" else "metric",
        )
        for one in lines
        if one.metric in shown
    ]
    ceiling = lines[0].ceiling if lines else math.nan
    band = None if math.isnan(ceiling) else Band(ceiling, 1.0, "beyond the noise ceiling")
    return draw_intervals(rows, title=title, x_label="correlation with the gold", band=band)


def _findings(view: View, coefficient: str) -> list[str]:
    """Say in a sentence a level whether any metric is worth more than counting words."""
    words = []
    for level in view.levels:
        lines = view.found.of(level=level, coefficient=coefficient)
        judged = [one for one in lines if not math.isnan(one.gain)]
        if not judged:
            words.append(f"**{level_title(level)}.** No trivial baselines are at hand to compare.")
            continue
        better = [one for one in judged if one.gain_low > 0]
        names = sorted({one.metric for one in better})
        told = f": {', '.join(names[:8])}{', …' if len(names) > 8 else ''}" if names else ""
        words.append(
            f"**{level_title(level)}.** Of {len(judged)} pairs of metric and aspect, "
            f"{len(better)} go beyond the best trivial baseline with an interval above 0{told}."
        )
    return words
