"""Correlations as coloured matrices: aspects, metrics, and the two against each other."""

from __future__ import annotations

import numpy as np

from fabula.meta.grid import Grid
from fabula.meta.levels import correlation_table
from fabula.reports.figures.cluster import cluster
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.study_blocks import Block, FigureBlock, Section, TabsBlock, Words
from fabula.reports.study_view import COEFFICIENT_NAMES, View, column_labels, level_title

_MORE = (
    "All values with their intervals, n, undefined items, noise ceilings and gains over the best "
    "trivial baseline are in `tables/correlations.csv`."
)


def criteria(view: View) -> Section | None:
    """Draw aspects × aspects, at every level and by every coefficient."""
    if len(view.aspects) < 2 or not view.coefficients:
        return None
    panels: dict[str, Block] = {}
    means = []
    for level in view.grid_levels or view.levels:
        for coefficient in view.coefficients:
            table = correlation_table(view.gold, view.gold, level=level, coefficient=coefficient)
            pairs = table[np.triu_indices(len(table), 1)]
            known = pairs[~np.isnan(pairs)]
            label = f"{level_title(level)}, {COEFFICIENT_NAMES[coefficient]}"
            means.append(f"{label.lower()} {f'{known.mean():.2f}' if len(known) else '–'}")
            drawn = draw_heatmap(
                table, view.aspects, view.aspects, title=f"Aspects: {label}", low=-1, high=1
            )
            panels[label] = FigureBlock(
                view.numbered("criteria", label), drawn, f"criteria_{level}_{coefficient}"
            )
    words = Words([f"Mean correlation of two aspects: {', '.join(means)}."])
    return Section(
        "criteria", "How aspects go together", [words, TabsBlock("Aspects × aspects", panels)]
    )


def between_metrics(view: View) -> Section | None:
    """Draw metrics × metrics, clustered, at every level and by every coefficient."""
    if len(view.metrics.columns) < 3 or not view.coefficients:
        return None
    panels: dict[str, Block] = {}
    for level in view.grid_levels or view.levels:
        for coefficient in view.coefficients:
            table = correlation_table(
                view.metrics, view.metrics, level=level, coefficient=coefficient
            )
            label = f"{level_title(level)}, {COEFFICIENT_NAMES[coefficient]}"
            names = column_labels(view.metrics)
            drawn = draw_heatmap(
                table,
                names,
                names,
                title=f"Metrics and metrics: {label}",
                low=-1,
                high=1,
                order=cluster(table),
            )
            note = "Ordered by average linkage on 1 − |r|: neighbours say the same."
            panels[label] = FigureBlock(label, drawn, f"between_{level}_{coefficient}", note)
    block = TabsBlock("Metrics × metrics", panels)
    return Section("between_metrics", "How metrics go together", [block])


def correlations(view: View) -> Section | None:
    """Draw metrics × aspects: the selection, then all."""
    if not view.coefficients:
        return None
    blocks: list[Block] = []
    if view.file.selection:
        blocks.append(TabsBlock("A selection", _panels(view, view.selection, "selection")))
    blocks.append(TabsBlock("All metrics", _panels(view, view.metrics, "all")))
    blocks.append(Words([_MORE]))
    return Section("correlations", "Metrics and aspects", blocks)


def _panels(view: View, grid: Grid, name: str) -> dict[str, Block]:
    panels: dict[str, Block] = {}
    families = [view.card(column).family or "–" for column in grid.columns]
    for level in view.grid_levels or view.levels:
        for coefficient in view.coefficients:
            label = f"{level_title(level)}, {COEFFICIENT_NAMES[coefficient]}"
            drawn = draw_heatmap(
                view.table(grid, level, coefficient),
                column_labels(grid),
                view.aspects,
                title=f"Metrics and aspects: {label}",
                low=-1,
                high=1,
                row_groups=families,
            )
            stem = f"metrics_{name}_{level}_{coefficient}"
            panels[label] = FigureBlock(label, drawn, stem, _note(view))
    return panels


def _note(view: View) -> str:
    how = view.result.study
    plain = f" Nothing is held constant here, not even {how.control}." if how.control else ""
    if how.sign != "oriented":
        return f"Signs as they are.{plain}"
    return f"Turned so that more is better; negative: the metric goes the wrong way.{plain}"
