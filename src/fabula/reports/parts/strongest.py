"""The strongest metrics of every aspect, as HANNA's Tables 5, 8 and 9 list them."""

from __future__ import annotations

import numpy as np

from fabula.meta.coefficients import Coefficient
from fabula.meta.levels import Level
from fabula.reports._study_blocks import Block, Cell, Section, TableBlock, TabsBlock, Words
from fabula.reports.parts._view import COEFFICIENT_NAMES, View, labels, level_title

_FIRST = 5
_TABLES: dict[Level, tuple[str, str]] = {
    "item": ("Table 8", "Tables 5 and 8: story level"),
    "system": ("Table 9", "Tables 5 and 9: system level"),
}


def section(view: View) -> Section | None:
    """List the five metrics with the largest correlation, sign apart, by aspect."""
    panels: dict[str, Block] = {}
    for level in view.grid_levels:
        for coefficient in view.coefficients:
            label = f"{level_title(level)}, {COEFFICIENT_NAMES[coefficient]}"
            panels[label] = _table(view, level, coefficient)
    if not panels or not view.raw.columns:
        return None
    blocks: list[Block] = [TabsBlock("The five strongest", panels)]
    return Section("strongest", "The strongest metrics", [*_words(view), *blocks])


def _table(view: View, level: Level, coefficient: Coefficient) -> TableBlock:
    table = 100 * np.abs(view.table(view.raw, level, coefficient))
    names = labels(view.raw)
    rows = []
    for place, aspect in enumerate(view.aspects):
        order = np.argsort(-np.nan_to_num(table[:, place], nan=-1.0), kind="stable")[:_FIRST]
        rows += [
            (aspect, rank, names[metric], *_cells(view, level, coefficient, aspect, names[metric],
                                                  float(table[metric, place])))
            for rank, metric in enumerate(order, 1)
        ]  # fmt: skip
    number, _ = _TABLES[level]
    return TableBlock(
        view.numbered(number, f"{level_title(level)}, {COEFFICIENT_NAMES[coefficient]}"),
        ("aspect", "rank", "metric", "|correlation| × 100", "printed", "difference"),
        rows,
        f"strongest_{level}_{coefficient}",
        "Without signs; the trivial baselines are left out here.",
        decimals=[None, None, None, 2, 2, 2],
    )


def _cells(
    view: View, level: Level, coefficient: Coefficient, aspect: str, metric: str, ours: float
) -> tuple[float, float | None, Cell | None]:
    what = f"{aspect}, {coefficient}, {metric}"
    found = view.printed_value(_TABLES[level][1], what)
    if found is None:
        return ours, None, None
    difference = Cell(
        found.ours - found.printed, tone=None if found.holds else "warn", title=found.note
    )
    return ours, found.printed, difference


def _words(view: View) -> list[Words]:
    held = [one for one in view.replicated if one.table.startswith("Tables 5")]
    if not held:
        return []
    wrong = [one for one in held if not one.holds]
    told = "; ".join(f"{one.what} ({one.printed:g} printed, {one.ours:g} here)" for one in wrong)
    return [
        Words(
            [
                f"{len(held) - len(wrong)} of the {len(held)} printed values are equal to ours. "
                f"The others are misprints: {told}. The released scores give ours, and so does "
                "the paper's own notebook where it prints the value."
            ]
        )
    ]
