"""Systems by their mean ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fabula.core.table import ScoreTable
from fabula.meta.systems.means import AVERAGE, SystemMean, system_means
from fabula.reports.standings import find_best
from fabula.reports.study_blocks import Section, TableBlock
from fabula.reports.study_view import View
from fabula.reports.tables import Cell


def section(view: View) -> Section | None:
    """Table the means of the systems with t intervals, best first."""
    asked = [one for one in view.dataset.ratings if one.aspect in view.aspects]
    ratings = ScoreTable(view.dataset.stories, asked)
    means = {(one.system, one.aspect): one for one in system_means(ratings, average=True)}
    systems = list(dict.fromkeys(system for system, _ in means))
    if len(systems) < 2:
        return None
    aspects = [*view.aspects, AVERAGE]
    systems.sort(key=lambda system: -means[system, AVERAGE].mean)
    best = {aspect: _best([means[system, aspect] for system in systems]) for aspect in aspects}
    rows: list[list[Cell | str]] = [
        [
            system,
            *(_cell(view, means[system, aspect], best[aspect] == system) for aspect in aspects),
        ]
        for system in systems
    ]
    note = "Means of all ratings with the reach of their 95 % t intervals."
    table = TableBlock(
        view.numbered("systems", "Systems by their ratings"),
        ("system", *aspects),
        rows,
        "systems",
        " ".join([note, *view.remarks("systems")]),
    )
    return Section("systems", "Systems by their ratings", [table])


def _best(means: Sequence[SystemMean]) -> str | None:
    """Name the system whose interval is better than that of every other."""
    known = [mean for mean in means if math.isfinite(mean.mean)]
    place = find_best([mean.low for mean in known], [mean.high for mean in known])
    return None if place is None else known[place].system


def _cell(view: View, mean: SystemMean, best: bool) -> Cell:
    text = f"{mean.mean:.2f} ± {mean.high - mean.mean:.2f}"
    printed = view.printed_value("systems", f"{mean.system}, {mean.aspect}")
    title = f"printed {printed.printed:.2f}" if printed else None
    return Cell(mean.mean, text, "good" if best else "", title)
