"""How far every metric agrees with every aspect."""

from __future__ import annotations

from fabula.meta.grid import Grid
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.study_blocks import Block, FigureBlock, Section, TabsBlock, Words
from fabula.reports.study_view import COEFFICIENT_NAMES, View, labels, level_title

_MORE = (
    "All values with their intervals, n, undefined items, noise ceilings and gains over the best "
    "trivial baseline are in `tables/correlations.csv`."
)


def section(view: View) -> Section | None:
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
                labels(grid),
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
    how = view.found.study
    plain = f" Nothing is held constant here, not even {how.control}." if how.control else ""
    if how.sign != "oriented":
        return f"Signs as they are.{plain}"
    return f"Turned so that more is better; negative: the metric goes the wrong way.{plain}"
