"""How the aspects of the gold go together."""

from __future__ import annotations

import numpy as np

from fabula.meta.levels import correlation_table
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.study_blocks import Block, FigureBlock, Section, TabsBlock, Words
from fabula.reports.study_view import COEFFICIENT_NAMES, View, level_title


def section(view: View) -> Section | None:
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
