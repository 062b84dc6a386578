"""Parts of the dashboard about words that were kept: their parts of speech, and names."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fabula.core.story import count_text
from fabula.reports.edits import call_tag
from fabula.reports.figures.bars import Bar, draw_bars
from fabula.reports.figures.intervals import Interval, draw_intervals
from fabula.reports.numbers import interval_text, number_text
from fabula.reports.tables import Cell, Table, TableColumn, Value
from fabula.studio.kept_words import KeptWords, KeptWordsReport, TagShare
from fabula.studio.printed import PrintedFigures
from fabula.web.dashboard.parts import Part, call_models, number_cell

# A chart has no more models than these; the table has all.
_MOST_DRAWN = 3


def show_words(report: KeptWordsReport, printed: PrintedFigures | None) -> Part:
    """How many words of each part of speech were kept."""
    title = "Which words are kept"
    read = {name: found for name, found in report.machines.items() if found.tags}
    if not read:
        return Part("words", title, missing=_explain_nothing(report))
    drawn = sorted(read, key=lambda name: -read[name].suggestions)[:_MOST_DRAWN]

    def draw(width: int) -> str:
        rows = [
            Interval(
                call_tag(share.tag),
                100 * share.rate.value,
                100 * share.rate.low,
                100 * share.rate.high,
                group=name if len(read) > 1 else "",
                note=f"{share.kept:,} of {share.generated:,} words",
            )
            for name in drawn
            for share in read[name].tags
        ]
        return draw_intervals(
            rows, title="Words kept by part of speech", x_label="% of its words that were kept",
            low=0, decimals=1, width=width,
        )  # fmt: skip

    notes = _note_waiting(report)
    if len(read) > len(drawn):
        notes += (f"Drawn: {', '.join(drawn)}. Choose others with the filter.",)
    if printed:
        kept, written = (
            number_text(100 * printed.kept[f"proper nouns of {which}"], 1)
            for which in ("kept", "generated")
        )
        notes += (f"STORIUM: proper nouns are {kept} % of kept words, {written} % of all.",)
    words = "Of the words of each part of speech that a model wrote, the share that was published."
    return Part("words", title, words, _tabulate_words(read), _list_words(read), draw, notes=notes)


def _explain_nothing(report: KeptWordsReport) -> str:
    if report.problem:
        return f"No suggestion has been read for this: {report.problem}."
    waiting = sum(found.waiting for found in report.machines.values())
    if waiting:
        told = count_text(waiting, "suggestion waits", "suggestions wait")
        return f"{told} for a worker with nothing else to do, which tags words."
    return "No published suggestion has words to tag."


def _note_waiting(report: KeptWordsReport) -> tuple[str, ...]:
    waiting = sum(found.waiting for found in report.machines.values())
    if not waiting:
        return ()
    told = count_text(waiting, "suggestion has", "suggestions have")
    return (f"{told} not been read yet{f': {report.problem}' if report.problem else ''}.",)


def _tabulate_words(read: Mapping[str, KeptWords]) -> Table:
    rows: list[list[Cell | Value]] = [
        [
            name,
            call_tag(share.tag),
            share.generated,
            share.kept,
            number_cell(100 * share.of_generated.value, 1, "no words"),
            number_cell(100 * share.of_kept.value, 1, "nothing kept"),
            _rate_cell(share),
        ]
        for name, found in read.items()
        for share in found.tags
    ]
    right = ("written", "kept", "% of written", "% of kept", "% of these kept")
    return Table(["model", "words", *(TableColumn(name, align="right") for name in right)], rows)


def _rate_cell(share: TagShare) -> Cell:
    low, high = share.rate.interval
    ends = interval_text(100 * low, 100 * high, 1)
    return number_cell(100 * share.rate.value, 1, "no words", aside=ends)


def _list_words(read: Mapping[str, KeptWords]) -> list[dict[str, object]]:
    return [
        {
            "model": name,
            "tag": share.tag,
            "generated": share.generated,
            "kept": share.kept,
            **share.of_generated.columns("of_generated"),
            **share.of_kept.columns("of_kept"),
            **share.rate.columns("rate"),
        }
        for name, found in read.items()
        for share in found.tags
    ]


def show_names(report: KeptWordsReport, printed: PrintedFigures | None) -> Part:
    """Whether names that were kept were known to the story."""
    title = "Are kept names known or new"
    read = {name: found for name, found in report.machines.items() if found.names}
    if not read:
        is_read = any(found.suggestions for found in report.machines.values())
        missing = "No name of a suggestion was kept." if is_read else _explain_nothing(report)
        return Part("names", title, missing=missing)

    def draw(width: int) -> str:
        called = call_models(read, width)
        rows = [_make_bar(called[name], found.known.value) for name, found in read.items()]
        if printed:
            rows.append(_make_bar("STORIUM, printed", printed.kept["known names"]))
        return draw_bars(
            rows, title="Kept names that the story knew", x_label="% of kept names", high=100,
            width=width,
        )  # fmt: skip

    records = [
        {"model": name, "names": found.names, **found.known.columns("known"),
         "new": 1 - found.known.value}
        for name, found in read.items()
    ]  # fmt: skip
    words = (
        "People, places and things of a suggestion that were published: known, if the game’s "
        "characters, cards or text named them before."
    )
    return Part(
        "names", title, words, _tabulate_names(read), records, draw, notes=_note_waiting(report)
    )


def _tabulate_names(read: Mapping[str, KeptWords]) -> Table:
    rows: list[list[Cell | Value]] = [
        [
            name,
            found.names,
            number_cell(100 * found.known.value, 1),
            interval_text(100 * found.known.low, 100 * found.known.high, 1)
            or Cell("–", tone="quiet", aside="fewer than 5 games"),
            number_cell(100 * (1 - found.known.value), 1),
        ]
        for name, found in read.items()
    ]
    known = TableColumn("% known", align="right")
    return Table(["model", "names kept", known, "95 % interval", "% new"], rows)


def _make_bar(label: str, known: float) -> Bar:
    if math.isnan(known):
        return Bar(label, {}, "no name was kept")
    parts = {"known": 100 * known, "new": 100 * (1 - known)}
    return Bar(label, parts, text=f"{100 * known:.0f}")
