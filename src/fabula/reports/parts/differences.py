"""What metrics tell apart: two metrics, two systems, the best systems alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.grid import Grid
from fabula.meta.levels import Level, correlate_top_k, correlation_table
from fabula.meta.ranking.labels import label_f1
from fabula.meta.significance.permutation import perm_matrix
from fabula.meta.significance.sign_flips import benjamini_hochberg
from fabula.meta.significance.williams import rank_clusters, significant_ranks, williams_matrix
from fabula.reports.figures.curves import draw_curves
from fabula.reports.figures.drawing import NARROW
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.study_blocks import Block, FigureBlock, Section, TableBlock, TabsBlock, Words
from fabula.reports.study_view import COEFFICIENT_NAMES, View, column_labels, level_title

_MOST = 20
_CLUSTER_HEADS = ("cluster", "beaten by", "metric", "mean r by item")
_SIGNIFICANCE_ABOUT = (
    "**Williams' test** asks whether the metric in the row correlates better with the ratings than "
    "the one in the column, given that the two correlate with each other (Pearson, sizes compared, "
    "signs kept right). At the level of systems n is their number, so little can be told apart. "
    "At item level the test treats a mean of correlations as one correlation over the items, as "
    "is usual; the permutation test below does not need to."
)
_CLUSTERS = (
    "**Permutation test** (PERM-BOTH of Deutsch, Dror and Roth, 2021) on mean correlations by "
    "item: scores of two metrics are swapped story by story. Corrected by Benjamini and Hochberg. "
    "A new cluster begins where every metric above beats the next one; within a cluster do not "
    "rely on the order."
)
_LABELS_ABOUT = (
    "For every two systems the items are drawn again and again; a system that has the higher "
    "mean in 95 % of the draws is called better. The figure is the weighted F1 of a metric's "
    "labels against those of the ratings. Metrics for which lower is better are turned first."
)
_LEAST = 4
_TOP_K_ABOUT = (
    "The more systems are left out from below, the harder it gets: a metric that only tells "
    "bad systems from good ones loses its correlation. With four to ten systems every value is "
    "very uncertain."
)


def significance(view: View) -> Section | None:
    """Draw Williams' p-values for every two metrics, and cluster the selection."""
    if len(view.systems) < 4 or len(view.raw.columns) < 2:
        return None
    blocks: list[Block] = [Words([_SIGNIFICANCE_ABOUT, *view.remarks("significance")])]
    for level in view.grid_levels:
        blocks.append(
            TabsBlock(f"Williams, {level_title(level).lower()}", _significance_panels(view, level))
        )
    if "item" in view.levels:
        blocks += [Words([_CLUSTERS]), TabsBlock("Clusters", _cluster_panels(view))]
    return Section("significance", "Which difference counts", blocks)


def _significance_panels(view: View, level: Level) -> dict[str, Block]:
    raw = view.raw
    between = correlation_table(raw, raw, level=level, coefficient="pearson")
    with_gold = view.table(raw, level, "pearson")
    items, systems = view.gold.layout.shape
    names = column_labels(raw)
    panels: dict[str, Block] = {}
    for place, aspect in enumerate(view.aspects):
        strengths = np.abs(with_gold[:, place])
        order = np.argsort(-np.nan_to_num(strengths, nan=-1.0), kind="stable").tolist()
        p = williams_matrix(with_gold[:, place], between, items if level == "item" else systems)
        p = np.where(np.isnan(p), 1 - p.T, p)
        title = f"Williams p, {level_title(level).lower()}, {aspect}"
        drawn = draw_heatmap(p, names, names, title=title, scale="p", order=order)
        note = "p that the row's metric beats the column's; strongest metrics first."
        panels[aspect or "gold"] = FigureBlock(
            title, drawn, f"williams_{level}_{view.stems[aspect]}", note
        )
    return panels


def _cluster_panels(view: View) -> dict[str, Block]:
    grid = view.selection.select(view.selection.columns[:_MOST])
    baselines = [column for column in view.metrics.columns if view.is_baseline(column)]
    grid = view.metrics.select([*dict.fromkeys([*grid.columns, *baselines])])
    names = column_labels(grid)
    panels: dict[str, Block] = {}
    for place, aspect in enumerate(view.aspects):
        value = view.table(grid, "item", "pearson")[:, place]
        p = perm_matrix(
            grid.values, view.gold.values[place], level="item", coefficient="pearson",
            seed=view.result.study.seed,
        )  # fmt: skip
        order = [int(place) for place in np.argsort(-np.nan_to_num(value, nan=-2.0), kind="stable")]
        p = _correct(p)
        clusters, ranks = rank_clusters(order, p), significant_ranks(p)
        rows = [(clusters[at], ranks[at] - 1, names[at], float(value[at])) for at in order]
        panels[aspect or "gold"] = TableBlock(
            f"Clusters of metrics: {aspect}", _CLUSTER_HEADS, rows,
            f"clusters_{view.stems[aspect]}", decimals=[None, None, None, 3],
        )  # fmt: skip
    return panels


def _correct(p: Values) -> Values:
    """Correct all p-values of a matrix together."""
    return benjamini_hochberg(p.ravel()).reshape(p.shape)


def labels(view: View) -> Section | None:
    """Draw the F1 of every metric as published and turned, the selection and all."""
    if len(view.systems) < 3 or not view.raw.columns:
        return None
    lower = {name for name, card in view.dataset.scorers.items() if card.direction == "lower"}
    seed, resamples = view.result.study.seed, view.result.study.resamples
    how: dict[str, Any] = {"lower": lower, "seed": seed, "resamples": resamples}
    turned = label_f1(view.raw, view.gold, **how)
    if not view.printed_values:
        panels = _labels_panels(view, {"turned": turned})
        blocks: list[Block] = [Words([_LABELS_ABOUT]), TabsBlock("Weighted F1", panels)]
        return Section("labels", "Which system is better", blocks)
    plain = label_f1(view.raw, view.gold, compat=True, **how)
    blocks = [
        Words([_LABELS_ABOUT, *view.remarks("labels")]),
        TabsBlock("Weighted F1", _labels_panels(view, {"turned": turned, "as published": plain})),
        _changes(view, plain, turned),
    ]
    return Section("labels", "Which system is better", blocks)


def _labels_panels(view: View, tables: Mapping[str, Values]) -> dict[str, Block]:
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
    names = column_labels(view.raw)
    chosen = table[[names.index(name) for name in column_labels(grid)]]
    whole = np.column_stack([chosen, chosen.mean(axis=1)])
    title = f"Weighted F1, {words}"
    drawn = draw_heatmap(
        whole, column_labels(grid), [*view.aspects, "mean"], title=title, scale="sequential", low=0,
        high=1,
    )  # fmt: skip
    return FigureBlock(view.numbered("labels", title), drawn, stem)


def _changes(view: View, plain: Values, turned: Values) -> TableBlock:
    names = column_labels(view.raw)
    means = [(name, float(a), float(b)) for name, a, b in
             zip(names, plain.mean(axis=1), turned.mean(axis=1), strict=True)]  # fmt: skip
    places = {name: rank for rank, (name, _, _) in
              enumerate(sorted(means, key=lambda mean: -mean[1]), 1)}  # fmt: skip
    rows = [
        (rank, name, b, places[name], a, b - a)
        for rank, (name, a, b) in enumerate(sorted(means, key=lambda mean: -mean[2]), 1)
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


def top_k(view: View) -> Section | None:
    """Draw |correlation| of the systems' means over the best k, for every k from four on."""
    if len(view.systems) <= _LEAST:
        return None
    sizes = range(_LEAST, len(view.systems) + 1)
    names = view.options("top_k").get("metrics") or column_labels(view.selection)[:8]
    grid = view.chosen(names)
    blocks: list[Block] = [Words([_TOP_K_ABOUT, *view.remarks("top_k")])]
    for coefficient in ("spearman", "pearson"):
        strengths = np.abs(correlate_top_k(grid, view.gold, sizes=sizes, coefficient=coefficient))
        panels: dict[str, Block] = {}
        for place, aspect in enumerate(view.aspects):
            lines = {
                name: [float(value) for value in strengths[number, place]]
                for number, name in enumerate(column_labels(grid))
            }
            title = view.numbered("top_k", f"{aspect}, {COEFFICIENT_NAMES[coefficient]}")
            drawn, narrow = (
                draw_curves(
                    list(sizes), lines, title=title, x_label="k best systems",
                    y_label="|correlation|", low=0, high=1, width=width,
                )
                for width in (760, NARROW)
            )  # fmt: skip
            panels[aspect or "gold"] = FigureBlock(
                title, drawn, f"top_k_{coefficient}_{view.stems[aspect]}", narrow=narrow
            )
        blocks.append(TabsBlock(f"Top k, {COEFFICIENT_NAMES[coefficient]}", panels))
    return Section("top_k", "The best systems alone", blocks)
