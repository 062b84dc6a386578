"""What people said: how far raters agree, how systems are rated, how ratings spread."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from fabula.core.score import Score
from fabula.core.table import ScoreTable
from fabula.meta.arrays import average_ranks
from fabula.meta.grid import Grid
from fabula.meta.ranking.means import AVERAGE, system_means
from fabula.meta.raters.agreement import Agreement, agree
from fabula.meta.resampling import Estimate
from fabula.reports.correlations import NAMES
from fabula.reports.figures.violins import draw_violins
from fabula.reports.standings import find_best
from fabula.reports.study_blocks import Block, FigureBlock, Section, TableBlock, Words
from fabula.reports.study_view import View, estimate_numbers
from fabula.reports.tables import Cell

_UNKNOWN = (
    "**Needs rater ids.** The release gives the ratings of a story in the order they came, not who "
    "gave them. ICC(1) does not ask who; ICC(2) and ICC(3) do, and from these columns they would "
    "be wrong. With the annotation file, which names the raters, they are computed here."
)


def raters(view: View) -> Section | None:
    """Table every coefficient that the ratings allow; those that need known raters say so."""
    agreement = agree(
        view.dataset, resamples=view.result.study.resamples, seed=view.result.study.seed
    )
    if all(math.isnan(line.estimate.value) for line in agreement.lines):
        return None
    blocks: list[Block] = [_table(view, agreement)]
    if not agreement.raters_known:
        blocks.insert(0, Words([_UNKNOWN]))
    blocks += view.paper_blocks("raters")
    return Section("raters", "How far raters agree", blocks)


def _table(view: View, agreement: Agreement) -> TableBlock:
    statistics = list(dict.fromkeys(line.statistic for line in agreement.lines))
    rows: list[list[Cell | str]] = [
        [statistic, *(_raters_cell(agreement, aspect, statistic) for aspect in agreement.aspects)]
        for statistic in statistics
    ]
    return TableBlock(
        view.numbered("raters", "Agreement of raters"),
        ("coefficient", *(aspect or "gold" for aspect in agreement.aspects)),
        rows,
        "raters",
        "With 95 % intervals: by F for the ICC, else by bootstrap over stories.",
    )


def _raters_cell(agreement: Agreement, aspect: str, statistic: str) -> Cell:
    line = agreement.line(aspect, statistic)
    if line is None or math.isnan(line.estimate.value):
        return Cell(None, title=line.note if line else "")
    ends = (
        ""
        if math.isnan(line.estimate.low)
        else f" [{line.estimate.low:.2f}, {line.estimate.high:.2f}]"
    )
    text = f"{line.estimate.value:.2f}{ends}".replace("-", "−")
    return Cell(line.estimate.value, text, title=line.note)


def systems(view: View) -> Section | None:
    """Table the means of the systems with t intervals, best first."""
    asked = [rating for rating in view.dataset.ratings if rating.aspect in view.aspects]
    ratings = ScoreTable(view.dataset.stories, asked)
    means = system_means(ratings, average=True)
    systems = list(dict.fromkeys(system for system, _ in means))
    if len(systems) < 2:
        return None
    aspects = [*view.aspects, AVERAGE]
    systems.sort(key=lambda system: -means[system, AVERAGE].value)
    best = {
        aspect: _best({system: means[system, aspect] for system in systems}) for aspect in aspects
    }
    rows: list[list[Cell | str]] = [
        [
            system,
            *(
                _systems_cell(view, system, aspect, means[system, aspect], best[aspect] == system)
                for aspect in aspects
            ),
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


def _best(means: Mapping[str, Estimate]) -> str | None:
    """Name the system whose interval is better than that of every other."""
    known = [system for system, mean in means.items() if math.isfinite(mean.value)]
    place = find_best(
        [means[system].low for system in known], [means[system].high for system in known]
    )
    return None if place is None else known[place]


def _systems_cell(view: View, system: str, aspect: str, mean: Estimate, best: bool) -> Cell:
    text = f"{mean.value:.2f} ± {mean.high - mean.value:.2f}"
    printed = view.printed_value("systems", f"{system}, {aspect}")
    title = f"printed {printed.printed:.2f}" if printed else None
    return Cell(mean.value, text, "good" if best else "", title)


def votes(view: View) -> Section | None:
    """Correlate the ratings of every item's stories with their ranks by share of votes."""
    labels = [name for name, card in view.dataset.scorers.items() if card.family == "label"]
    if not labels or len(view.systems) < 2 or not view.coefficients:
        return None
    study = replace(
        view.result.study, scorers=tuple(labels), levels=("item",),
        coefficients=view.coefficients, control="", ceilings=False,
    )  # fmt: skip
    lines = study.run(replace(view.dataset, scores=_rank_in_items(view, labels))).correlations
    rows = [
        (line.metric, line.aspect or "gold", NAMES[line.coefficient],
         *estimate_numbers(line.estimate), line.estimate.n, line.estimate.undefined)
        for line in lines
    ]  # fmt: skip
    table = TableBlock(
        view.numbered("votes", "Ratings and the story that is chosen"),
        (
            "chosen by",
            "aspect",
            "coefficient",
            "mean over items",
            "from",
            "to",
            "items",
            "left out",
        ),
        rows,
        "votes",
        "Of each item the mean ratings of its stories beside their ranks by share of votes; with "
        "95 % intervals, by drawing items anew. Items in which all votes or ratings are equal have "
        "no ranks and are left out.",
        decimals=[None, None, None, 3, 3, 3, None, None],
    )
    blocks: list[Block] = [table, *view.paper_blocks("votes")]
    return Section("votes", "Which rating goes with being chosen", blocks)


def _rank_in_items(view: View, labels: list[str]) -> ScoreTable:
    """Put ranks among the stories of an item in place of shares; the most votes rank highest."""
    layout = view.metrics.layout
    stories = {cell: story for story, cell in layout.places.items()}
    grid = Grid.of((one for one in view.dataset.scores if one.scorer in labels), layout)
    ranked = []
    for column, values in zip(grid.columns, grid.values, strict=True):
        for item, row in enumerate(values):
            there = np.flatnonzero(~np.isnan(row))
            ranks = average_ranks(row[there])
            ranked += [
                Score(stories[item, int(system)], column.scorer, column.aspect, float(rank))
                for system, rank in zip(there, ranks, strict=True)
            ]
    return ScoreTable(view.dataset.stories, ranked)


def violins(view: View) -> Section | None:
    """Draw the ratings, systems × aspects."""
    systems = {story.id: story.system or "" for story in view.dataset.stories}
    gathered: dict[str, dict[str, list[float]]] = {}
    for score in view.dataset.ratings:
        if score.ok and score.aspect in view.aspects:
            by_aspect = gathered.setdefault(systems[score.story], {})
            by_aspect.setdefault(score.aspect or "gold", []).append(score.value)
    if len(gathered) < 2:
        return None
    values = [rating.value for rating in view.dataset.ratings if rating.ok]
    low, high = view.dataset.card.scale(view.aspects[0]) or (min(values), max(values))
    title = "Ratings by system and aspect"
    drawn = draw_violins(gathered, title=title, low=low, high=high, order=view.aspects[0] or "gold")
    narrow = [
        draw_violins(
            {system: {aspect: given.get(aspect, [])} for system, given in gathered.items()},
            title=f"{title}: {aspect}", low=low, high=high, order=aspect,
        )
        for aspect in dict.fromkeys(name for given in gathered.values() for name in given)
    ]  # fmt: skip
    note = "All ratings; the dot is the mean."
    figure = FigureBlock(title, drawn, "violins", note, narrow="".join(narrow))
    return Section("violins", "How ratings spread", [figure])
