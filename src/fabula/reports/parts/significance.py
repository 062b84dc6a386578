"""Which of two metrics agrees better with people, beyond chance."""

from __future__ import annotations

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.levels import Level, correlation_table
from fabula.meta.significance.clusters import rank_clusters, significant_ranks
from fabula.meta.significance.permutation import perm_matrix
from fabula.meta.significance.sign_flips import benjamini_hochberg
from fabula.meta.significance.williams import williams_matrix
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.study_blocks import Block, FigureBlock, Section, TableBlock, TabsBlock, Words
from fabula.reports.study_view import View, labels, level_title

_MOST = 20
_CLUSTER_HEADS = ("cluster", "beaten by", "metric", "mean r by item")
_ABOUT = (
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


def section(view: View) -> Section | None:
    """Draw Williams' p-values for every two metrics, and cluster the selection."""
    if len(view.systems) < 4 or len(view.raw.columns) < 2:
        return None
    blocks: list[Block] = [Words([_ABOUT, *view.remarks("significance")])]
    for level in view.grid_levels:
        blocks.append(TabsBlock(f"Williams, {level_title(level).lower()}", _panels(view, level)))
    if "item" in view.levels:
        blocks += [Words([_CLUSTERS]), TabsBlock("Clusters", _cluster_panels(view))]
    return Section("significance", "Which difference counts", blocks)


def _panels(view: View, level: Level) -> dict[str, Block]:
    raw = view.raw
    between = correlation_table(raw, raw, level=level, coefficient="pearson")
    with_gold = view.table(raw, level, "pearson")
    items, systems = view.gold.layout.shape
    names = labels(raw)
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
    grid = view.selection.only(view.selection.columns[:_MOST])
    baselines = [one for one in view.metrics.columns if view.is_baseline(one)]
    grid = view.metrics.only([*dict.fromkeys([*grid.columns, *baselines])])
    names = labels(grid)
    panels: dict[str, Block] = {}
    for place, aspect in enumerate(view.aspects):
        value = view.table(grid, "item", "pearson")[:, place]
        p = perm_matrix(
            grid.values, view.gold.values[place], level="item", coefficient="pearson",
            seed=view.found.study.seed,
        )  # fmt: skip
        order = [int(one) for one in np.argsort(-np.nan_to_num(value, nan=-2.0), kind="stable")]
        p = _corrected(p)
        clusters, ranks = rank_clusters(order, p), significant_ranks(p)
        rows = [(clusters[one], ranks[one] - 1, names[one], float(value[one])) for one in order]
        panels[aspect or "gold"] = TableBlock(
            f"Clusters of metrics: {aspect}", _CLUSTER_HEADS, rows,
            f"clusters_{view.stems[aspect]}", decimals=[None, None, None, 3],
        )  # fmt: skip
    return panels


def _corrected(p: Values) -> Values:
    """Correct all p-values of a matrix together."""
    return benjamini_hochberg(p.ravel()).reshape(p.shape)
