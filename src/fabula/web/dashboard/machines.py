"""Parts of the dashboard about machines: how good each is, which is better, and since when."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date

from fabula.core.story import count_text
from fabula.reports.figures.curves import draw_curves
from fabula.reports.figures.intervals import Interval, draw_intervals
from fabula.reports.numbers import interval_text, number_text, p_text
from fabula.reports.tables import Cell, Table, TableColumn, Tone, Value
from fabula.studio.findings import LEVEL, MachineComparison, PeriodCell, QualityCell
from fabula.studio.printed import PrintedFigures
from fabula.studio.ratings import HIGH, LOW
from fabula.web.dashboard.parts import (
    RATINGS,
    Part,
    call_models,
    call_printed,
    decimals_of,
    is_rating,
    list_printed,
    number_cell,
    say_missing,
    scale_of,
)

Described = Mapping[str, Mapping[str, QualityCell]]
_KINDS = ("this studio", "printed by STORIUM")
# Tables show no more comparisons than these; the CSV has all.
_MOST_SHOWN = 60
_NO_INTERVAL = "An interval needs suggestions out of five games or more."


def show_user(described: Described, measure: str, printed: PrintedFigures | None) -> Part:
    """USER of every machine with its interval."""
    best = max(
        (name for name in described if math.isfinite(described[name]["USER"].mean)),
        key=lambda name: described[name]["USER"].mean,
        default="",
    )
    words = ""
    if best and measure == "precision":
        cell = described[best]["USER"]
        told = f"{number_text(100 * cell.mean, 1)} of 100 words"
        ends = interval_text(100 * cell.low, 100 * cell.high, 1)
        sure = f" (95 % interval {ends})" if ends else ""
        counted = count_text(cell.n, "suggestion")
        words = f"Of what {best} wrote, authors kept {told} on average{sure}, over {counted}."

    def draw(width: int) -> str:
        return draw_intervals(
            _make_intervals(described, ["USER"], printed, width),
            title="USER of each model",
            x_label=f"USER ({measure}) × 100",
            low=0,
            decimals=1,
            kind_names=_KINDS,
            width=width,
        )

    return Part(
        "user",
        "How much is kept",
        words,
        _tabulate(described, ["USER"], printed),
        _list_cells(described, ["USER"]),
        draw,
        notes=_note_intervals(described, ["USER"]),
    )


def show_ratings(described: Described, printed: PrintedFigures | None) -> Part:
    """What authors said, question by question."""
    asked = sum(described[name][label].n for name in described for label in RATINGS)

    def draw(width: int) -> str:
        return draw_intervals(
            _make_intervals(described, RATINGS, printed, width),
            title="Ratings of each model",
            x_label=f"mean rating, {LOW} to {HIGH}",
            low=LOW,
            high=HIGH,
            decimals=2,
            kind_names=_KINDS,
            width=width,
        )

    return Part(
        "ratings",
        "What authors say",
        "Four questions with answers from 1 to 5, asked when an entry is published.",
        _tabulate(described, RATINGS, printed),
        _list_cells(described, RATINGS),
        draw if asked or printed else None,
        missing="" if asked else "Nobody has rated a suggestion yet.",
        notes=_note_intervals(described, RATINGS),
    )


def show_qualities(
    described: Described, labels: Sequence[str], printed: PrintedFigures | None
) -> Part:
    """All eleven qualities of every machine."""
    return Part(
        "qualities",
        "All qualities of each model",
        "Ratings from 1 to 5; ROUGE and USER are shares of words, times 100, stop words apart.",
        _tabulate(described, labels, printed),
        _list_cells(described, labels),
    )


def _make_intervals(
    described: Described, labels: Sequence[str], printed: PrintedFigures | None, width: int
) -> list[Interval]:
    rows, called = [], call_models(described, width)
    for label in labels:
        scale, group = scale_of(label), label if len(labels) > 1 else ""
        for machine, cells in described.items():
            cell = cells[label]
            mean, low, high = (scale * value for value in (cell.mean, cell.low, cell.high))
            note = f"n = {cell.n}" if cell.n else "no value"
            rows.append(Interval(called[machine], mean, low, high, group=group, note=note))
        rows += [
            Interval(call_printed(each.system), scale * each.mean, kind="baseline", group=group,
                     note="printed")
            for each in list_printed(printed, label)
        ]  # fmt: skip
    return rows


def _tabulate(described: Described, labels: Sequence[str], printed: PrintedFigures | None) -> Table:
    rows: list[list[Cell | Value]] = []
    rules = []
    for label in labels:
        scale, decimals = scale_of(label), decimals_of(label)
        for machine, cells in described.items():
            cell = cells[label]
            ends = interval_text(scale * cell.low, scale * cell.high, decimals)
            why = say_missing(cell.n, cell.games)
            rows.append(
                [
                    machine,
                    label,
                    cell.n,
                    number_cell(scale * cell.mean, decimals, "no value"),
                    number_cell(scale * cell.deviation, decimals, "n < 2" if cell.n else ""),
                    Cell(ends) if ends else Cell("–", tone="quiet", aside=why),
                ]
            )
        rows += [
            [Cell(call_printed(each.system), tone="quiet"), label, each.n,
             number_cell(scale * each.mean, decimals), Cell(""), Cell("printed", tone="quiet")]
            for each in list_printed(printed, label)
        ]  # fmt: skip
        rules.append(len(rows))
    return Table(
        ["model", "quality", TableColumn("n", align="right"), TableColumn("mean", align="right"),
         TableColumn("sd", align="right"), "95 % interval"],
        rows,
        rules=rules[:-1],
    )  # fmt: skip


def _list_cells(described: Described, labels: Sequence[str]) -> list[dict[str, object]]:
    return [
        {
            "model": machine,
            "quality": label,
            "n": cell.n,
            "games": cell.games,
            "mean": scale_of(label) * cell.mean,
            "sd": scale_of(label) * cell.deviation,
            "low": scale_of(label) * cell.low,
            "high": scale_of(label) * cell.high,
        }
        for label in labels
        for machine, cell in ((machine, cells[label]) for machine, cells in described.items())
    ]


def _note_intervals(described: Described, labels: Sequence[str]) -> tuple[str, ...]:
    cells = [described[machine][label] for machine in described for label in labels]
    lacks = any(cell.n and not math.isfinite(cell.low) for cell in cells)
    return (_NO_INTERVAL,) if lacks else ()


def show_differences(compared: Sequence[MachineComparison], machines: Sequence[str]) -> Part:
    """Which machine is better in what, and how sure that is."""
    title = "Which model is better in what"
    if len(machines) < 2:
        only = "one model" if machines else "no model"
        return Part("differences", title, missing=f"There is {only} here: nothing to compare.")
    sure = [each for each in compared if each.better]
    if sure:
        better: dict[str, list[str]] = {}
        for each in sure:
            better.setdefault(each.better or "", []).append(each.quality)
        named = [f"{name} in {', '.join(dict.fromkeys(found))}" for name, found in better.items()]
        more = f"; and {len(named) - 3} further models" if len(named) > 3 else ""
        words = f"Higher, with p ≤ .05 after Holm’s correction: {'; '.join(named[:3])}{more}."
    else:
        words = "No difference stands: no p is at most .05 once corrected for all comparisons."
    rows = [_compare_row(each) for each in compared[:_MOST_SHOWN]]
    columns: list[str | TableColumn] = [
        "higher", "than", "in", TableColumn("by", align="right"), "95 % interval",
        TableColumn("p", align="right"), TableColumn("corrected p", align="right"),
    ]  # fmt: skip
    left = len(compared) - len(rows)
    notes = (f"{left} further comparisons are in the CSV.",) if left else ()
    return Part(
        "differences", title, words, Table(columns, rows), _list_comparisons(compared), notes=notes
    )


def _compare_row(each: MachineComparison) -> list[Cell | Value]:
    """A comparison with the higher mean first."""
    names, sign = (each.first, each.second), 1.0
    if each.difference.value < 0:
        names, sign = (each.second, each.first), -1.0
    scale, decimals = sign * scale_of(each.quality), decimals_of(each.quality)
    low, high = sorted(scale * end for end in each.difference.interval)
    ends = interval_text(low, high, decimals)
    tone: Tone = "good" if each.adjusted <= LEVEL else ""
    value = scale * each.difference.value
    return [
        Cell(names[0], tone=tone),
        names[1],
        each.quality,
        Cell(value, number_text(value, decimals), tone),
        Cell(ends) if ends else Cell("–", tone="quiet", aside="fewer than 5 games"),
        _p_cell(each.p),
        _p_cell(each.adjusted, tone),
    ]


def _p_cell(p: float, tone: Tone = "") -> Cell:
    if math.isnan(p):
        return Cell(math.nan, "–", "quiet", aside="too few games")
    return Cell(p, p_text(p), tone)


def _list_comparisons(compared: Sequence[MachineComparison]) -> list[dict[str, object]]:
    return [
        {
            "first": each.first,
            "second": each.second,
            "quality": each.quality,
            "difference": scale_of(each.quality) * each.difference.value,
            "low": scale_of(each.quality) * each.difference.interval[0],
            "high": scale_of(each.quality) * each.difference.interval[1],
            "p": each.p,
            "corrected_p": each.adjusted,
            "better": each.better or "",
        }
        for each in compared
    ]


def show_time(periods: Sequence[PeriodCell], quality: str, by: str) -> Part:
    """A quality of every machine over time."""
    title = f"{quality} over time"
    if not periods:
        return Part("time", title, missing=f"No published suggestion has a value of {quality}.")
    starts = sorted({each.start for each in periods})
    machines = list(dict.fromkeys(sorted(each.machine for each in periods)))
    scale = scale_of(quality)
    cells = {(each.start, each.machine): each.cell for each in periods}

    def follow(machine: str, what: str) -> list[float]:
        there = ((start, machine) for start in starts)
        return [scale * getattr(cells[key], what) if key in cells else math.nan for key in there]

    def draw(width: int) -> str:
        called = call_models(machines, width)
        return draw_curves(
            [float((start - starts[0]).days) for start in starts],
            {called[machine]: follow(machine, "mean") for machine in machines},
            title=f"{quality} of each model by {by}",
            x_label=f"{by} of publishing",
            y_label=quality if is_rating(quality) else f"{quality} × 100",
            bands={called[machine]: (follow(machine, "low"), follow(machine, "high"))
                   for machine in machines},
            low=float(LOW) if is_rating(quality) else 0.0,
            high=float(HIGH) if is_rating(quality) else None,
            x_names=[_name_start(start, by) for start in starts],
            width=width,
            height=300,
        )  # fmt: skip

    return Part(
        "time",
        title,
        f"Mean by {by}; bands are 95 % intervals, where there are five games or more.",
        _tabulate_time(periods, quality, by),
        draw=draw,
    )


def _name_start(start: date, by: str) -> str:
    return start.strftime("%b %Y") if by == "month" else f"{start.day} {start:%b}"


def _tabulate_time(periods: Sequence[PeriodCell], quality: str, by: str) -> Table:
    scale, decimals = scale_of(quality), decimals_of(quality)
    rows: list[list[Cell | Value]] = [
        [
            each.start.isoformat(),
            each.machine,
            each.cell.n,
            number_cell(scale * each.cell.mean, decimals),
            number_cell(scale * each.cell.low, decimals, "fewer than 5 games"),
            number_cell(scale * each.cell.high, decimals),
        ]
        for each in periods
    ]
    return Table(
        [by, "model", "n", TableColumn("mean", align="right"), TableColumn("low", align="right"),
         TableColumn("high", align="right")],
        rows,
    )  # fmt: skip
