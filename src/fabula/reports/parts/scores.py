"""What metrics say by themselves: which were run, where they put the systems, on what they rest.

These parts need no ratings; where there are some, they are held against them too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fabula.core.story import Story, count_text
from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient, correlate
from fabula.meta.grid import Grid, GridColumn
from fabula.meta.levels import average_systems, correlation_table
from fabula.meta.resampling import estimate_correlation
from fabula.reports.figures.curves import draw_curves
from fabula.reports.figures.drawing import NARROW
from fabula.reports.numbers import decimals_for, number_text
from fabula.reports.standings import Standings, StreamedScores
from fabula.reports.study_blocks import Block, FigureBlock, Section, TableBlock, TabsBlock, Words
from fabula.reports.study_view import COEFFICIENT_NAMES, View, estimate_numbers, known_or_none
from fabula.reports.tables import Cell, Value

_MEANS_ABOUT = (
    "Means over the items with the place of the system in brackets; the title of a cell has its "
    "95 % interval, by drawing items anew. Coloured: better than every other beyond its interval."
)
# Of these no interval is given: with thousands of stories it would take minutes.
_WITHOUT_ENDS: tuple[Coefficient, ...] = ("pearson", "kendall")
_REFERENCES_ABOUT = (
    "Each metric that reads references is run again with the first one, two … of them, on the "
    "stories that have enough."
)


def columns(view: View) -> Section | None:
    """Table the metrics that were run, on how many stories, and why some have no value."""
    if not view.columns:
        return None
    rows = [
        (
            column.name,
            column.aspect or "every aspect",
            f"{column.spec}.{column.value}" if column.value else column.spec,
            Cell(column.scored, tone="" if column.scored == column.stories else "warn"),
            column.why,
        )
        for column in view.columns
    ]
    missing = [_name(column.name, column.aspect) for column in view.columns if not column.scored]
    words = f"**Missing here:** {', '.join(missing)}. The table says why." if missing else ""
    table = TableBlock(
        "Metrics that were run",
        ("column", "held against", "metric", "stories with a value", "why others have none"),
        rows,
        "columns",
        f"Of {count_text(view.columns[0].stories, 'story', 'stories')}.",
    )
    told: list[Block] = [Words([words])] if words else []
    return Section("columns", "Metrics of this study", [*told, table])


def _name(scorer: str, aspect: str) -> str:
    return f"{scorer} ({aspect})" if aspect else scorer


def means(view: View) -> Section | None:
    """Table the systems' means by every metric, with their places."""
    standings = _stand(view)
    if len(standings.systems) < 2 or not standings.columns:
        return None
    rows: list[list[Cell | str]] = [
        [column.label, *_place_cells(standings, number)]
        for number, column in enumerate(standings.columns)
    ]
    table = TableBlock(
        "Systems by the metrics", ("metric", *standings.systems), rows, "means", _MEANS_ABOUT
    )
    return Section("means", "Where metrics put the systems", [table])


def _stand(view: View) -> Standings:
    """Estimate the means of the metrics proper over the stories that are compared."""
    wanted = {(column.scorer, column.aspect) for column in view.raw.columns}
    by_story = {story.id: story for story in view.dataset.stories}
    chosen = [
        score
        for score in view.dataset.scores
        if (score.scorer, score.aspect) in wanted and score.story in view.metrics.layout.places
    ]
    order = {name: place for place, name in enumerate(by_story)}
    streamed = StreamedScores(most=len(by_story))
    for score in sorted(chosen, key=lambda score: order[score.story]):
        streamed.add(by_story[score.story], score)
    directions = {column.scorer: view.card(column).direction for column in view.raw.columns}
    return streamed.standings(directions, seed=view.result.study.seed)


def _place_cells(standings: Standings, number: int) -> list[Cell]:
    """Write a metric's mean of every system with its place; equal means share the better one."""
    values = standings.estimates.value[:, number]
    lower = standings.columns[number].direction == "lower"
    merits = [(-value if lower else value) for value in values.tolist()]
    cells = []
    for place, merit in enumerate(merits):
        if math.isnan(merit):
            cells.append(Cell(None))
            continue
        rank = 1 + sum(other > merit for other in merits)
        one = standings.estimates[place, number]
        low, high = (standings.number(end, number) for end in one.interval)
        best = standings.best[number] == place
        cells.append(
            Cell(
                one.value, f"{standings.number(one.value, number)} ({rank})",
                "good" if best else "", f"[{low}, {high}]",
            )
        )  # fmt: skip
    return cells


def published(view: View) -> Section | None:
    """Hold the metrics that were run against scores that came with the data set."""
    ours = {column.name for column in view.columns}
    grid = view.raw
    own = [column for column in grid.columns if column.scorer in ours]
    others = [column for column in grid.columns if column.scorer not in ours]
    if not own or not others:
        return None
    rows = [_compare(view, ours, theirs) for ours in own for theirs in others]
    table = TableBlock(
        "Ours and published scores of the same stories",
        ("here", "published", "Spearman ρ", "from", "to", "Pearson r", "Kendall τ", "stories"),
        rows,
        "published",
        "Over all stories that have both; intervals of 95 % by drawing items anew.",
        decimals=[None, None, 3, 3, 3, 3, 3, None],
    )
    return Section("published", "Beside published scores", [table])


def _compare(view: View, ours: GridColumn, theirs: GridColumn) -> list[Cell | Value]:
    columns = view.raw.columns
    x, y = (view.raw.values[columns.index(column)] for column in (ours, theirs))
    items = [item for item in view.raw.layout.items for _ in view.raw.layout.systems]
    rank = estimate_correlation(
        x.ravel(), y.ravel(), items, coefficient="spearman", resamples=view.result.study.resamples
    )
    both = (x.ravel(), y.ravel())
    plain = [known_or_none(_correlate(*both, how)) for how in _WITHOUT_ENDS]
    return [ours.label, theirs.label, *estimate_numbers(rank), *plain, rank.n]


def references(view: View) -> Section | None:
    """Show what one, two, three … references change: scores, places of systems, correlations."""
    if len(view.by_references) < 2:
        return None
    grids = {count: Grid.of(scores, view.metrics.layout)
             for count, scores in view.by_references.items()}  # fmt: skip
    blocks: list[Block] = [Words([_REFERENCES_ABOUT, *view.remarks("references")])]
    blocks.append(_changes(view, grids))
    if view.aspects:
        blocks.append(TabsBlock("Correlation with the ratings", _gold_panels(view, grids)))
        blocks.append(_gold_table(view, grids))
    return Section(
        "references", "By number of references", [*blocks, *view.paper_blocks("references")]
    )


def _changes(view: View, grids: dict[int, Grid]) -> TableBlock:
    most = max(grids)
    rows: list[list[Cell | str]] = [
        [column.label, *_change_cells(column, grids, most)] for column in grids[most].columns
    ]
    counts = [str(count) for count in grids]
    heads = [f"mean, {count}" for count in counts]
    heads += [f"stories: ρ of {count} with {most}" for count in counts[:-1]]
    heads += [f"systems: τ of {count} with {most}" for count in counts[:-1]]
    stories = int(np.isfinite(grids[most].values).any(axis=0).sum())
    return TableBlock(
        "Scores by number of references",
        ("metric", *heads),
        rows,
        "references_scores",
        f"Means over {count_text(stories, 'story', 'stories')}; ρ says how far the stories keep "
        "their order, τ how far the systems do.",
    )


def _change_cells(column: GridColumn, grids: dict[int, Grid], most: int) -> list[Cell]:
    values = {count: grid.values[grid.columns.index(column)] for count, grid in grids.items()}
    averages = [float(np.nanmean(one)) for one in values.values()]
    decimals = decimals_for(averages)
    whole = values[most]
    stories = [_correlate(one.ravel(), whole.ravel(), "spearman") for one in values.values()]
    systems = [
        _correlate(average_systems(one[None])[0], average_systems(whole[None])[0], "kendall")
        for one in values.values()
    ]
    cells = [Cell(mean, number_text(mean, decimals)) for mean in averages]
    for value in (*stories[:-1], *systems[:-1]):
        cells.append(Cell(None) if math.isnan(value) else Cell(value, number_text(value, 2)))
    return cells


def _correlate(x: Values, y: Values, coefficient: Coefficient) -> float:
    """Correlate where both are known; NaN where that is nowhere or all is equal."""
    known = ~(np.isnan(x) | np.isnan(y))
    return float(correlate(x[known], y[known], coefficient)) if known.sum() > 1 else math.nan


def _tables(view: View, grids: dict[int, Grid]) -> dict[int, Values]:
    """Give ρ with every aspect over all stories, by number of references: columns × aspects."""
    lower = {name for name, card in view.dataset.scorers.items() if card.direction == "lower"}
    return {
        count: correlation_table(
            grid.orient(lower), view.gold, level="pooled", coefficient="spearman"
        )
        for count, grid in grids.items()
    }


def _gold_panels(view: View, grids: dict[int, Grid]) -> dict[str, Block]:
    tables, counts = _tables(view, grids), list(grids)
    panels: dict[str, Block] = {}
    for place, aspect in enumerate(view.aspects):
        lines = {
            column.label: [float(tables[count][number, place]) for count in counts]
            for number, column in enumerate(grids[counts[0]].columns)
        }
        title = f"{aspect or 'gold'}: {COEFFICIENT_NAMES['spearman']} by number of references"
        drawn, narrow = (
            draw_curves(
                counts, lines, title=title, x_label="references", y_label="correlation",
                width=width,
            )
            for width in (760, NARROW)
        )  # fmt: skip
        panels[aspect or "gold"] = FigureBlock(
            title, drawn, f"references_{view.stems[aspect]}", narrow=narrow
        )
    return panels


def _gold_table(view: View, grids: dict[int, Grid]) -> TableBlock:
    tables = _tables(view, grids)
    rows: list[list[Cell | str]] = [
        [
            column.label,
            *(
                Cell(None if math.isnan(value) else value, number_text(value, 3))
                for place in range(len(view.aspects))
                for value in (float(table[number, place]) for table in tables.values())
            ),
        ]
        for number, column in enumerate(next(iter(grids.values())).columns)
    ]
    heads = [f"{aspect or 'gold'}, {count}" for aspect in view.aspects for count in grids]
    title = "Spearman ρ with the ratings, by number of references"
    return TableBlock(title, ("metric", *heads), rows, "references_ratings")


def order(view: View) -> Section | None:
    """Table how likely each sentence follows the one before it, in the stories of the example."""
    specs = [column.spec for column in view.columns if column.scored]
    spec = next((spec for spec in specs if spec.startswith("rovist_c")), "")
    stories = [story for story in view.example_stories if story.text]
    if not spec or not stories:
        return None
    rows = _order_rows(spec, stories)
    most = max(len(row) for row in rows) - 2
    heads = [f"{number} → {number + 1}" for number in range(1, most + 1)]
    filled = [[row[0], *row[1:-1], *[Cell(None)] * (most + 2 - len(row)), row[-1]] for row in rows]
    table = TableBlock(
        "Sentence by sentence: in their own order?",
        ("story", *heads, "mean"),
        filled,
        "order",
        f"Probabilities of `{spec}`. Low ones say where a story breaks.",
        decimals=3,
    )
    return Section("order", "From sentence to sentence", [table, *view.paper_blocks("order")])


def _order_rows(spec: str, stories: Sequence[Story]) -> list[list[Cell | str]]:
    """Ask the metric about every pair of neighbours."""
    from fabula.learned.rovist_c import RovistC
    from fabula.scoring.catalogue import METRICS

    metric = METRICS.build(spec)
    assert isinstance(metric, RovistC)
    rows: list[list[Cell | str]] = []
    for story in stories:
        chances = [step.probability for step in metric.transitions(story)]
        mean = sum(chances) / len(chances) if chances else None
        rows.append([story.system or story.id, *(Cell(one) for one in chances), Cell(mean)])
    return rows
