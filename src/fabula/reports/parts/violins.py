"""How the ratings of every system spread."""

from __future__ import annotations

from fabula.reports.figures.violins import draw_violins
from fabula.reports.study_blocks import FigureBlock, Section
from fabula.reports.study_view import View


def section(view: View) -> Section | None:
    """Draw the ratings, systems × aspects."""
    systems = {story.id: story.system or "" for story in view.dataset.stories}
    gathered: dict[str, dict[str, list[float]]] = {}
    for score in view.dataset.ratings:
        if score.ok and score.aspect in view.aspects:
            by_aspect = gathered.setdefault(systems[score.story], {})
            by_aspect.setdefault(score.aspect or "gold", []).append(score.value)
    if len(gathered) < 2:
        return None
    values = [one.value for one in view.dataset.ratings if one.ok]
    low, high = view.dataset.card.scale(view.aspects[0]) or (min(values), max(values))
    title = "Ratings by system and aspect"
    drawn = draw_violins(gathered, title=title, low=low, high=high, order=view.aspects[0] or "gold")
    figure = FigureBlock(title, drawn, "violins", "All ratings; the dot is the mean.")
    return Section("violins", "How ratings spread", [figure])
