"""What people keep of suggestions, drawn: figures, and a page with all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fabula.meta.resampling import NO_ESTIMATE
from fabula.reports.edits import (
    ALL,
    MEANS,
    TITLES,
    call_share,
    list_machines,
    list_shares,
    note_extent,
    quote_printed,
    render_edits,
    tabulate_kind,
)
from fabula.reports.figures.bars import Bar, draw_bars
from fabula.reports.figures.curves import draw_curves
from fabula.reports.figures.drawing import NARROW
from fabula.reports.figures.intervals import Interval, draw_intervals
from fabula.reports.study_blocks import Block, FigureBlock, Section, TableBlock, Words
from fabula.reports.study_page import write_study
from fabula.studio.edit_kinds import EditAnalysis, EditKind, KindShare
from fabula.studio.printed import PrintedFigures

_ABOUT: Mapping[EditKind, str] = {
    "suggestions": "USER: the share of a suggestion's words that was published, mean.",
    "words": "Of the words of each part of speech, the share that was published.",
    "names": "People, places and things that a suggestion names, by where the story had them: in a "
    "character's name, in a card's, in any text before.",
    "known": "The same in two: what stood in the story before, and what the model brought in.",
    "sentences": "By place in a suggestion; one is kept if a published sentence comes from it.",
    "time": "USER by when a suggestion was published.",
    "experience": "USER by how many suggestions their author had published, this one counted.",
}
# A chart has no more models than these; the table has all.
_MOST_DRAWN = 3


def draw_kept(analysis: EditAnalysis, kind: EditKind, *, width: int = 860) -> str:
    """Draw the share that was kept of every column of a kind."""
    if kind == "time":
        return _draw_time(analysis, width)
    if kind == "known":
        return _draw_known(analysis, width)
    names = _list_drawn(analysis)
    rows = [
        Interval(
            call_share(share) if kind != "suggestions" else name or ALL,
            100 * share.rate.value,
            100 * share.rate.low,
            100 * share.rate.high,
            group=name if len(names) > 1 and kind != "suggestions" else "",
            note=f"{share.kept:,.0f} of {share.generated:,.0f}",
        )
        for name in names
        for share in _drop_rare(analysis.of(kind, name))
    ]
    label = "USER, %" if kind in MEANS else "% that was kept"
    return draw_intervals(
        rows, title=TITLES[kind], x_label=label, low=0, sort=kind == "words", decimals=1,
        width=width,
    )  # fmt: skip


def draw_gains(analysis: EditAnalysis, *, width: int = 860) -> str:
    """Draw how much more of what was kept each part of speech is than of what was written."""
    rows = [
        Interval(
            call_share(share),
            100 * share.gain.value,
            100 * share.gain.low,
            100 * share.gain.high,
            note=f"{100 * share.of_generated.value:.1f} % of written, "
            f"{100 * share.of_kept.value:.1f} % of kept",
        )
        for share in _drop_rare(analysis.of("words"))
    ]
    return draw_intervals(
        rows, title="Kept more often than written, by part of speech",
        x_label="points of % of kept words over % of written", decimals=2, width=width,
    )  # fmt: skip


def _drop_rare(shares: Sequence[KindShare]) -> Sequence[KindShare]:
    """Leave out what too few units have for an interval, where others have one."""
    known = [share for share in shares if not math.isnan(share.rate.low)]
    return known or shares


def _list_drawn(analysis: EditAnalysis) -> list[str]:
    """Name the machines that are drawn, those with most suggestions; all of them together where
    there is one."""
    counts = analysis.machines
    most = sorted(list_machines(analysis), key=lambda name: -counts[name])[:_MOST_DRAWN]
    return most or [""]


def _draw_known(analysis: EditAnalysis, width: int) -> str:
    rows = [
        Bar(
            f"{name or ALL}, {which}",
            {call_share(share): 100 * getattr(share, side).value for share in shares},
            text=" ",
        )
        for name in _list_drawn(analysis)
        for which, side in (("written", "of_generated"), ("kept", "of_kept"))
        if (shares := analysis.of("known", name))
    ]
    return draw_bars(rows, title=TITLES["known"], x_label="% of names", high=100, width=width)


def _draw_time(analysis: EditAnalysis, width: int) -> str:
    starts = sorted({share.column.name for share in analysis.of("time")})
    lines, bands = {}, {}
    for name in _list_drawn(analysis):
        found = {share.column.name: share.rate for share in analysis.of("time", name)}
        rates = [found.get(start, NO_ESTIMATE) for start in starts]
        lines[name or ALL] = [100 * rate.value for rate in rates]
        bands[name or ALL] = (
            [100 * rate.low for rate in rates],
            [100 * rate.high for rate in rates],
        )
    return draw_curves(
        list(range(len(starts))), lines, title=TITLES["time"], x_label="published from",
        y_label="USER, %", bands=bands, low=0, x_names=starts, width=width,
    )  # fmt: skip


def write_edits(
    folder: Path,
    analysis: EditAnalysis,
    printed: PrintedFigures,
    *,
    source: str,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> Path:
    """Write a page with all tables and figures, and each of them as a file beside it."""
    sections = [
        Section(kind, TITLES[kind], _make_blocks(analysis, kind, printed))
        for kind in TITLES
        if analysis.of(kind)
    ]
    facts: dict[str, str | int] = {
        "suggestions": sum(analysis.machines.values()),
        "models": len(analysis.machines),
        "authors": analysis.authors,
        "games": analysis.games,
    }
    return write_study(
        folder,
        title=f"What is kept: {source}",
        lead=Words(note_extent(analysis)),
        sections=sections,
        facts=facts,
        signatures=[analysis.signature],
        files={"edits.json": render_edits("json", analysis, printed)},
        inputs=inputs,
        overwrite=overwrite,
    )


def _make_blocks(analysis: EditAnalysis, kind: EditKind, printed: PrintedFigures) -> list[Block]:
    table = tabulate_kind(analysis, kind, printed)
    heads = [head.name for head in table.heads]
    figure = FigureBlock(
        "",
        draw_kept(analysis, kind),
        kind,
        quote_printed(kind, printed),
        narrow=draw_kept(analysis, kind, width=NARROW),
    )
    blocks: list[Block] = [Words([_ABOUT[kind]]), figure]
    if kind == "words":
        narrow = draw_gains(analysis, width=NARROW)
        blocks.append(FigureBlock("", draw_gains(analysis), "gains", narrow=narrow))
    return [*blocks, TableBlock("", heads, table.rows, kind, records=list_shares(analysis, kind))]
