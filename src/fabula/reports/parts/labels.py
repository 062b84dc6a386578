"""Who is better of every two systems: do metrics say what people say?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.grid import Grid
from fabula.meta.systems.labels import label_f1
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.study_blocks import Block, FigureBlock, Section, TableBlock, TabsBlock, Words
from fabula.reports.study_view import View
from fabula.reports.study_view import labels as labels_of

_ABOUT = (
    "For every two systems the items are drawn again and again; a system that has the higher "
    "mean in 95 % of the draws is called better. The figure is the weighted F1 of a metric's "
    "labels against those of the ratings. Metrics for which lower is better are turned first."
)


def section(view: View) -> Section | None:
    """Draw the F1 of every metric as published and turned, the selection and all."""
    if len(view.systems) < 3 or not view.raw.columns:
        return None
    lower = {name for name, card in view.dataset.scorers.items() if card.direction == "lower"}
    seed, resamples = view.found.study.seed, view.found.study.resamples
    how: dict[str, Any] = {"lower": lower, "seed": seed, "resamples": resamples}
    turned = label_f1(view.raw, view.gold, **how)
    if not view.printed_values:
        panels = _panels(view, {"turned": turned})
        blocks: list[Block] = [Words([_ABOUT]), TabsBlock("Weighted F1", panels)]
        return Section("labels", "Which system is better", blocks)
    plain = label_f1(view.raw, view.gold, compat=True, **how)
    blocks = [
        Words([_ABOUT, *view.remarks("labels")]),
        TabsBlock("Weighted F1", _panels(view, {"turned": turned, "as published": plain})),
        _changes(view, plain, turned),
    ]
    return Section("labels", "Which system is better", blocks)


def _panels(view: View, tables: Mapping[str, Values]) -> dict[str, Block]:
    """Draw the selection, if there is one, and all metrics."""
    grids = {"All": view.raw}
    if view.file.selection:
        grids = {"Selection": view.chosen(view.file.selection, view.raw), **grids}
    return {
        f"{name}, {words}": _figure(
            view, grid, table, f"f1_{name.lower()}_{words.replace(' ', '_')}", words
        )
        for words, table in tables.items()
        for name, grid in grids.items()
    }


def _figure(view: View, grid: Grid, table: Values, stem: str, words: str) -> FigureBlock:
    names = labels_of(view.raw)
    chosen = table[[names.index(name) for name in labels_of(grid)]]
    whole = np.column_stack([chosen, chosen.mean(axis=1)])
    title = f"Weighted F1, {words}"
    drawn = draw_heatmap(
        whole, labels_of(grid), [*view.aspects, "mean"], title=title, scale="sequential", low=0,
        high=1,
    )  # fmt: skip
    return FigureBlock(view.numbered("labels", title), drawn, stem)


def _changes(view: View, plain: Values, turned: Values) -> TableBlock:
    names = labels_of(view.raw)
    means = [(name, float(a), float(b)) for name, a, b in
             zip(names, plain.mean(axis=1), turned.mean(axis=1), strict=True)]  # fmt: skip
    places = {name: rank for rank, (name, _, _) in
              enumerate(sorted(means, key=lambda one: -one[1]), 1)}  # fmt: skip
    rows = [
        (rank, name, b, places[name], a, b - a)
        for rank, (name, a, b) in enumerate(sorted(means, key=lambda one: -one[2]), 1)
        if rank <= 12 or abs(b - a) > 1e-9
    ]
    return TableBlock(
        "What changes once distances are turned",
        ("rank", "metric", "mean F1 turned", "rank as published", "as published", "change"),
        rows,
        "f1_changes",
        "The first twelve, and every metric that is turned.",
        decimals=[None, None, 3, None, 3, 3],
    )
