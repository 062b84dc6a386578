"""What is printed, what comes out here, and what that means."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.reports.study_blocks import Block, Section, TableBlock, Words
from fabula.reports.study_view import PrintedValue, View
from fabula.reports.tables import Cell


def comparison(view: View) -> Section | None:
    """Table the printed values by table, and list those that differ."""
    if not view.printed_values:
        return None
    tables: dict[str, list[PrintedValue]] = {}
    for value in view.printed_values:
        tables.setdefault(value.table, []).append(value)
    blocks: list[Block] = [
        Words(view.options("comparison").get("words", ())),
        _summary(tables),
        _differing(view.printed_values),
    ]
    return Section("comparison", "Printed and ours", blocks)


def _summary(tables: dict[str, list[PrintedValue]]) -> TableBlock:
    rows = []
    for table, values in tables.items():
        held = sum(value.holds for value in values)
        off = [abs(value.ours - value.printed) for value in values]
        rows.append(
            (
                table,
                len(values),
                Cell(held, tone="good" if held == len(values) else "warn"),
                max(off),
                values[0].tolerance,
            )
        )
    return TableBlock(
        "Printed values and ours",
        ("table", "values", "equal", "largest difference", "tolerance"),
        rows,
        "printed_summary",
        "Every value with its difference is in tables/printed.csv.",
    )


def _differing(values: Sequence[PrintedValue]) -> TableBlock:
    rows = [
        (value.table, value.what, value.printed, value.ours, value.ours - value.printed, value.note)
        for value in values
        if not value.holds
    ]
    return TableBlock(
        "Printed values that do not come out",
        ("table", "what", "printed", "ours", "difference", "why"),
        rows,
        "printed_differing",
        decimals=[None, None, 2, 2, 2, None],
    )
