"""The strongest metrics of every aspect."""

from __future__ import annotations

import numpy as np

from fabula.meta.coefficients import Coefficient
from fabula.meta.levels import Level
from fabula.reports.study_blocks import Block, Section, TableBlock, TabsBlock, Words
from fabula.reports.study_view import COEFFICIENT_NAMES, View, labels, level_title
from fabula.reports.tables import Cell

_FIRST = 5


def section(view: View) -> Section | None:
    """List the five metrics with the largest correlation, sign apart, by aspect."""
    panels: dict[str, Block] = {}
    for level in view.grid_levels:
        for coefficient in view.coefficients:
            label = f"{level_title(level)}, {COEFFICIENT_NAMES[coefficient]}"
            panels[label] = _table(view, level, coefficient)
    if not panels or not view.raw.columns:
        return None
    remarks = view.remarks("strongest")
    blocks: list[Block] = [Words(remarks)] if remarks else []
    blocks.append(TabsBlock("The five strongest", panels))
    return Section("strongest", "The strongest metrics", blocks)


def _table(view: View, level: Level, coefficient: Coefficient) -> TableBlock:
    table = 100 * np.abs(view.table(view.raw, level, coefficient))
    names = labels(view.raw)
    rows = []
    for place, aspect in enumerate(view.aspects):
        order = np.argsort(-np.nan_to_num(table[:, place], nan=-1.0), kind="stable")[:_FIRST]
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
    found = view.printed_value(f"strongest_{level}", what)
    if found is None:
        return ours, None, None
    difference = Cell(
        found.ours - found.printed, tone="" if found.holds else "warn", title=found.note
    )
    return ours, found.printed, difference
