"""How far the raters agree."""

from __future__ import annotations

import math

from fabula.meta.raters.agreement import Agreement, agree
from fabula.reports.study_blocks import Block, Section, TableBlock, Words
from fabula.reports.study_view import View
from fabula.reports.tables import Cell

_UNKNOWN = (
    "**Needs rater ids.** The release gives the ratings of a story in the order they came, not who "
    "gave them. ICC(1) does not ask who; ICC(2) and ICC(3) do, and from these columns they would "
    "be wrong. With the annotation file, which names the raters, they are computed here."
)


def section(view: View) -> Section | None:
    """Table every coefficient that the ratings allow; those that need known raters say so."""
    found = agree(view.dataset, resamples=view.found.study.resamples, seed=view.found.study.seed)
    if all(math.isnan(line.value) for line in found.lines):
        return None
    blocks: list[Block] = [_table(view, found)]
    if not found.raters_known:
        blocks.insert(0, Words([_UNKNOWN]))
    if view.publication:
        blocks += view.publication.blocks("raters")
    return Section("raters", "How far raters agree", blocks)


def _table(view: View, found: Agreement) -> TableBlock:
    statistics = list(dict.fromkeys(line.statistic for line in found.lines))
    rows: list[list[Cell | str]] = [
        [statistic, *(_cell(found, aspect, statistic) for aspect in found.aspects)]
        for statistic in statistics
    ]
    return TableBlock(
        view.numbered("raters", "Agreement of raters"),
        ("coefficient", *(aspect or "gold" for aspect in found.aspects)),
        rows,
        "raters",
        "With 95 % intervals: by F for the ICC, else by bootstrap over stories.",
    )


def _cell(found: Agreement, aspect: str, statistic: str) -> Cell:
    line = found.line(aspect, statistic)
    if line is None or math.isnan(line.value):
        return Cell(None, title=line.note if line else "")
    ends = "" if math.isnan(line.low) else f" [{line.low:.2f}, {line.high:.2f}]"
    text = f"{line.value:.2f}{ends}".replace("-", "−")
    return Cell(line.value, text, title=line.note)
