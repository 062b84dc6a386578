"""Systems by their mean ratings."""

from __future__ import annotations

from fabula.core.table import ScoreTable
from fabula.meta.systems.means import AVERAGE, SystemMean, system_means
from fabula.reports._study_blocks import Section, TableBlock
from fabula.reports.parts._view import View
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
    best = {a: max(means[s, a].mean for s in systems) for a in aspects}
    rows: list[list[Cell | str]] = [
        [system, *(_cell(view, means[system, aspect], best[aspect]) for aspect in aspects)]
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


def _cell(view: View, one: SystemMean, best: float) -> Cell:
    text = f"{one.mean:.2f} ± {one.high - one.mean:.2f}"
    printed = view.printed_value("systems", f"{one.system}, {one.aspect}")
    title = f"printed {printed.printed:.2f}" if printed else None
    return Cell(one.mean, text, "good" if one.mean == best else "", title)
