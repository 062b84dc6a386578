"""One ranking of all metrics."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.meta.levels import Level
from fabula.meta.ranking.metrics import MetricRanking, rank_metrics
from fabula.reports.study_blocks import Block, Section, TableBlock, Words
from fabula.reports.study_view import View, level_title

_FIRST = 15
_POINTS = (
    "Points are Borda's: in each column (three coefficients × the aspects) the weakest metric has "
    "0, the next 1, and so on; metrics that tie share the mean of their points."
)


def section(view: View) -> Section | None:
    """Rank the metrics by Borda's points, level by level and together."""
    levels = view.grid_levels
    if not levels or not view.raw.columns:
        return None
    groups: list[tuple[Level, ...]] = [(level,) for level in levels]
    if len(levels) > 1:
        groups.append(tuple(levels))
    blocks: list[Block] = [Words([_POINTS, *view.remarks("ranking")])]
    blocks += [_table(view, group) for group in groups]
    return Section("ranking", "One ranking of metrics", blocks)


def _table(view: View, levels: Sequence[Level]) -> TableBlock:
    cards = view.dataset.scorers
    found: MetricRanking = rank_metrics(view.raw, view.gold, levels=levels, cards=cards)
    title = " and ".join(level_title(level) for level in levels)
    name, rows = f"ranking_{'_'.join(levels)}", []
    for line in found.lines[:_FIRST]:
        held = view.printed_value(name, line.metric)
        rows.append(
            (line.rank, line.metric, line.family, line.points,
             held.printed if held else None, line.mean)
        )  # fmt: skip
    return TableBlock(
        view.numbered(name, title),
        ("rank", "metric", "family", "points", "printed", "mean |correlation|"),
        rows,
        name,
        f"The first {min(_FIRST, len(found.lines))} of {len(found.lines)}.",
        decimals=[None, None, None, 1, 1, 3],
    )
