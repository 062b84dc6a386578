"""How the metrics go together."""

from __future__ import annotations

from fabula.meta.levels import correlation_table
from fabula.reports.figures.cluster import cluster
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.study_blocks import Block, FigureBlock, Section, TabsBlock
from fabula.reports.study_view import COEFFICIENT_NAMES, View, labels, level_title


def section(view: View) -> Section | None:
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
            names = labels(view.metrics)
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
