"""One ranking of all metrics."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.meta.levels import Level
from fabula.meta.ranking.metrics import MetricRanking, rank_metrics
from fabula.reports._study_blocks import Block, Section, TableBlock, Words
from fabula.reports.parts._view import View, level_title

_FIRST = 15
_PRINTED: dict[tuple[Level, ...], str] = {
    ("item",): "Table 6: story level",
    ("system",): "Table 6: system level, average ranks",
    ("item", "system"): "Table 6: both levels, average ranks",
}
_POINTS = (
    "Points are Borda's: in each column (three coefficients × the aspects) the weakest metric has "
    "0, the next 1, and so on; metrics that tie share the mean of their points."
)
_TIES = (
    "The paper breaks ties by the accident of an unstable sort (numpy before 1.25): at the level "
    "of systems, where ties are many, it prints 1120, 1110, 1095, 1070 and 1069 for the first five."
)


def section(view: View) -> Section | None:
    """Rank the metrics by Borda's points, level by level and together."""
    levels = view.grid_levels
    if not levels or not view.raw.columns:
        return None
    groups: list[tuple[Level, ...]] = [(level,) for level in levels]
    if len(levels) > 1:
        groups.append(tuple(levels))
    blocks: list[Block] = [Words([_POINTS, *([_TIES] if view.printed else [])])]
    blocks += [_table(view, group) for group in groups]
    return Section("ranking", "One ranking of metrics", blocks)


def _table(view: View, levels: Sequence[Level]) -> TableBlock:
    cards = view.dataset.scorers
    found: MetricRanking = rank_metrics(view.raw, view.gold, levels=levels, cards=cards)
    title = " and ".join(level_title(level) for level in levels)
    printed = _PRINTED.get(tuple(levels), "")
    rows = []
    for line in found.lines[:_FIRST]:
        held = view.printed_value(printed, line.metric)
        rows.append(
            (line.rank, line.metric, line.family, line.points,
             held.printed if held else None, line.mean)
        )  # fmt: skip
    return TableBlock(
        view.numbered("Table 6", title),
        ("rank", "metric", "family", "points", "printed", "mean |correlation|"),
        rows,
        f"ranking_{'_'.join(levels)}",
        f"The first {min(_FIRST, len(found.lines))} of {len(found.lines)}.",
        decimals=[None, None, None, 1, 1, 3],
    )
