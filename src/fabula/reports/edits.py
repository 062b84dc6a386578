"""What people keep of suggestions, as tables and records, with STORIUM's figures beside ours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabula.core.story import count_text
from fabula.meta.resampling import NO_ESTIMATE, Estimate
from fabula.reports.numbers import MISSING, interval_text, number_text
from fabula.reports.tables import Cell, Table, TableColumn, Tone, Value, render
from fabula.studio.edit_kinds import EditAnalysis, EditKind, KindShare
from fabula.studio.printed import PrintedFigures

# Universal Dependencies' parts of speech, as people call them.
_TAGS = {
    "NOUN": "nouns",
    "PROPN": "proper nouns",
    "VERB": "verbs",
    "AUX": "auxiliaries",
    "ADJ": "adjectives",
    "ADV": "adverbs",
    "PRON": "pronouns",
    "DET": "determiners",
    "ADP": "prepositions",
    "CCONJ": "and, or, but",
    "SCONJ": "that, if, while",
    "PART": "particles",
    "NUM": "numbers",
    "INTJ": "interjections",
    "SYM": "symbols",
    "X": "others",
}
_ORIGINS = {
    "character": "of a character",
    "card": "of a card",
    "text": "told before",
    "known": "known",
    "new": "new",
}
TITLES: Mapping[EditKind, str] = {
    "suggestions": "How much is kept",
    "words": "Which words are kept",
    "names": "Which names are kept",
    "known": "Are names known or new",
    "sentences": "Which sentences are kept",
    "time": "Over time",
    "experience": "As authors go on",
}
_FIRST: Mapping[EditKind, str] = {
    "suggestions": "model",
    "words": "words",
    "names": "names",
    "known": "names",
    "sentences": "sentence",
    "time": "from",
    "experience": "an author's suggestion",
}
MEANS: tuple[EditKind, ...] = ("suggestions", "time", "experience")
_PARTS: tuple[EditKind, ...] = ("words", "names", "known", "sentences")
ALL = "all"


def call_tag(tag: str) -> str:
    """Call a part of speech as people do."""
    return _TAGS.get(tag, tag.lower())


def render_edits(form: str, analysis: EditAnalysis, printed: PrintedFigures) -> str:
    """Write an analysis as table, json, jsonl, csv or latex."""
    tables = [tabulate_kind(analysis, kind, printed) for kind in TITLES if analysis.of(kind)]
    notes = [*tables[-1].notes, *note_extent(analysis)]
    tables[-1] = replace(tables[-1], notes=notes, cite=analysis.signature)
    about = {
        "suggestions": sum(analysis.machines.values()),
        "authors": analysis.authors,
        "games": analysis.games,
        "unit": analysis.unit,
        "unread": list(analysis.unread),
        "signature": analysis.signature,
        "printed": {"source": printed.source, **printed.kept},
    }
    return render(form, list_shares(analysis), tables, about)


def list_shares(analysis: EditAnalysis, kind: EditKind | None = None) -> list[dict[str, Any]]:
    """Give all shares, or those of a kind, as records for programs."""
    return [
        {
            "machine": share.machine or ALL,
            "kind": share.column.kind,
            "name": share.column.name,
            "generated": share.generated,
            "kept": share.kept,
            **share.rate.columns("rate"),
            **_part(share, share.of_generated).columns("of_generated"),
            **_part(share, share.of_kept).columns("of_kept"),
            **_part(share, share.gain).columns("gain"),
        }
        for share in analysis.shares
        if kind in (None, share.column.kind)
    ]


def _part(share: KindShare, found: Estimate) -> Estimate:
    """Give a share of a kind; a mean of suggestions has none."""
    return found if share.column.kind in _PARTS else NO_ESTIMATE


def note_extent(analysis: EditAnalysis) -> list[str]:
    """Say of how much this is, and how sure."""
    counts = (
        count_text(sum(analysis.machines.values()), "suggestion"),
        count_text(analysis.games, "game"),
        count_text(analysis.authors, "author"),
    )
    notes = [
        f"{', '.join(counts)}. In brackets 95 % intervals, by drawing {analysis.unit}s again; none "
        f"below five {analysis.unit}s."
    ]
    if analysis.unread:
        told = count_text(len(analysis.unread), "suggestion")
        notes.append(f"{told} could not be read whole: {analysis.unread[0]}")
    return notes


def tabulate_kind(analysis: EditAnalysis, kind: EditKind, printed: PrintedFigures) -> Table:
    """Make the table of a kind: of all models together, with the rate of each beside."""
    make = _tabulate_means if kind in MEANS else _tabulate_parts
    table = make(analysis, kind)
    said = quote_printed(kind, printed)
    return replace(table, title=TITLES[kind], notes=[said] if said else [])


def quote_printed(kind: EditKind, printed: PrintedFigures) -> str:
    """Say what STORIUM's paper prints of it."""
    if kind == "suggestions":
        users = [each for each in printed.means if each.quality == "USER" and each.n]
        told = " and ".join(f"{100 * each.mean:.1f} ({each.system})" for each in users)
        return f"STORIUM prints {told}."
    if kind == "words":
        kept, written = (
            100 * printed.kept[f"proper nouns of {which}"] for which in ("kept", "generated")
        )
        return f"STORIUM prints: proper nouns are {kept:.1f} % of kept, {written:.1f} % of written."
    if kind == "known":
        known, new = (100 * printed.kept[f"{which} names"] for which in ("known", "new"))
        return f"STORIUM prints: of kept names {known:.0f} % are known, {new:.0f} % new."
    return ""


def _tabulate_means(analysis: EditAnalysis, kind: EditKind) -> Table:
    whole = analysis.of(kind)
    if kind == "suggestions":
        names = ["", *list_machines(analysis)]
        rows: list[list[Cell | Value]] = [
            [name or ALL, int(share.generated), _estimate_cell(share.rate)]
            for name in names
            for share in analysis.of(kind, name)
        ]
        return Table([_FIRST[kind], "suggestions", TableColumn("USER, %", align="right")], rows)
    rows = [
        [call_share(share), int(share.generated), _estimate_cell(share.rate), *beside]
        for share, beside in zip(whole, _rate_beside(analysis, kind, whole), strict=True)
    ]
    heads = [f"USER, %{', ' + name if name else ''}" for name in ("", *list_machines(analysis))]
    columns = [TableColumn(head, align="right") for head in heads]
    return Table([_FIRST[kind], "suggestions", *columns], rows)


def _tabulate_parts(analysis: EditAnalysis, kind: EditKind) -> Table:
    whole = _sort(analysis.of(kind))
    rows: list[list[Cell | Value]] = [
        [
            call_share(share),
            int(share.generated),
            int(share.kept),
            _percent(share.of_generated.value),
            _percent(share.of_kept.value),
            _gain_cell(share.gain),
            _estimate_cell(share.rate),
            *beside,
        ]
        for share, beside in zip(whole, _rate_beside(analysis, kind, whole), strict=True)
    ]
    heads = ["written", "kept", "% of written", "% of kept", "difference", "% kept"]
    heads += [f"% kept, {name}" for name in list_machines(analysis)]
    return Table([_FIRST[kind], *(TableColumn(head, align="right") for head in heads)], rows)


def list_machines(analysis: EditAnalysis) -> list[str]:
    """Name the machines that stand beside the whole: none where there is but one."""
    return list(analysis.machines) if len(analysis.machines) > 1 else []


def _rate_beside(
    analysis: EditAnalysis, kind: EditKind, whole: Sequence[KindShare]
) -> Iterable[list[Cell | Value]]:
    by_machine = [
        {share.column: share.rate for share in analysis.of(kind, name)}
        for name in list_machines(analysis)
    ]
    return (
        [_estimate_cell(rates.get(share.column, NO_ESTIMATE)) for rates in by_machine]
        for share in whole
    )


def _sort(shares: Sequence[KindShare]) -> list[KindShare]:
    """Put parts of speech in the order of how much was kept; all else stays as it is."""
    if shares and shares[0].column.kind == "words":
        return sorted(shares, key=lambda share: (-share.rate.value, share.column.name))
    return list(shares)


def call_share(share: KindShare) -> str:
    """Call what a share is of as people do."""
    kind, name = share.column
    return call_tag(name) if kind == "words" else _ORIGINS.get(name, name)


def _percent(value: float) -> Cell:
    return Cell(value, number_text(100 * value, 1))


def _estimate_cell(found: Estimate) -> Cell:
    if math.isnan(found.value):
        return Cell(None, MISSING, "quiet")
    ends = interval_text(100 * found.low, 100 * found.high, 1)
    return Cell(found.value, f"{100 * found.value:.1f}", aside=ends)


def _gain_cell(found: Estimate) -> Cell:
    """Show a difference; it is marked where its interval leaves out 0."""
    if math.isnan(found.value):
        return Cell(None, MISSING, "quiet")
    text = number_text(100 * found.value, 1, sign=True)
    ends = interval_text(100 * found.low, 100 * found.high, 1, sign=True)
    is_sure = found.low > 0 or found.high < 0
    tone: Tone = "quiet" if not is_sure else "good" if found.value > 0 else "bad"
    return Cell(found.value, text, tone, aside=ends)
