"""Do metrics tell good systems from one another? Correlation over the best k systems."""

from __future__ import annotations

import numpy as np

from fabula.meta.systems.top_k import top_k_correlations
from fabula.reports.figures.curves import draw_curves
from fabula.reports.study_blocks import Block, FigureBlock, Section, TabsBlock, Words
from fabula.reports.study_view import COEFFICIENT_NAMES, View, labels

_LEAST = 4
_ABOUT = (
    "The more systems are left out from below, the harder it gets: a metric that only tells "
    "bad systems from good ones loses its correlation. With four to ten systems every value is "
    "very uncertain."
)


def section(view: View) -> Section | None:
    """Draw |correlation| of the systems' means over the best k, for every k from four on."""
    if len(view.systems) <= _LEAST:
        return None
    sizes = range(_LEAST, len(view.systems) + 1)
    names = view.options("top_k").get("metrics") or labels(view.selection)[:8]
    grid = view.chosen(names)
    blocks: list[Block] = [Words([_ABOUT, *view.remarks("top_k")])]
    for coefficient in ("spearman", "pearson"):
        found = np.abs(top_k_correlations(grid, view.gold, sizes=sizes, coefficient=coefficient))
        panels: dict[str, Block] = {}
        for place, aspect in enumerate(view.aspects):
            lines = {
                name: [float(one) for one in found[number, place]]
                for number, name in enumerate(labels(grid))
            }
            title = view.numbered("top_k", f"{aspect}, {COEFFICIENT_NAMES[coefficient]}")
            drawn = draw_curves(
                list(sizes), lines, title=title, x_label="k best systems", y_label="|correlation|",
                low=0, high=1,
            )  # fmt: skip
            panels[aspect or "gold"] = FigureBlock(
                title, drawn, f"top_k_{coefficient}_{view.stems[aspect]}"
            )
        blocks.append(TabsBlock(f"Top k, {COEFFICIENT_NAMES[coefficient]}", panels))
    return Section("top_k", "The best systems alone", blocks)
