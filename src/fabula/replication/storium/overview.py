"""STORIUM's overview of its corpus (Tables 1, 2 and A2, and the histograms) for any export.

What the paper prints stands beside what is counted (Akoury et al., 2020). Of the 232,596 cards that
it calls played, places, challenges, wild and regular cards add up to 227,124; they are counted
here as all cards on the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from fabula.datasets.storium import split_words
from fabula.datasets.story_games.statistics import Statistics
from fabula.reports.tables import Cell, Table

PRINTED: Mapping[str, int] = {
    "games": 5_743,
    "completed games": 586,
    "games without cards": 736,
    "scenes": 25_092,
    "entries": 448_264,
    "users": 30_119,
    "tokens": 126_041_738,
    "unique tokens": 424_768,
    "characters": 27_462,
    "characters played": 25_955,
    "cards on the table": 232_596,
    "location cards": 16_887,
    "challenge cards": 61_223,
    "wild cards played": 31_465,
    "regular cards played": 117_549,
    "cards created or edited": 318_692,
    "cards on the table created or edited": 204_698,
    "validation": 569,
    "test": 570,
}
_STORIES = (
    "games", "completed games", "scenes", "entries", "entries with text", "users", "tokens",
    "unique tokens", "characters", "characters played",
)  # fmt: skip
_CARDS = (
    "games without cards", "cards created or edited", "cards on the table",
    "cards on the table created or edited", "location cards", "challenge cards",
    "cards for pickup", "cards played on challenges", "wild cards played", "regular cards played",
)  # fmt: skip
# A histogram of more values than these is shown by powers of two.
_MOST_VALUES, _BAR = 12, 30


@dataclass(frozen=True)
class Figure:
    """A count of a table, and what the paper prints for it."""

    table: str
    what: str
    count: int
    printed: int | None = None


def list_figures(statistics: Statistics) -> list[Figure]:
    """List all counts, table by table; of histograms how many have each value."""
    counts = statistics.counts
    figures = [Figure("stories", what, counts.get(what, 0), PRINTED.get(what)) for what in _STORIES]
    figures += [Figure("cards", what, counts.get(what, 0), PRINTED.get(what)) for what in _CARDS]
    figures += [Figure("tokens", *pair) for pair in sorted(statistics.tokens.items())]
    for table in ("regular", "wild"):
        played: Mapping[str, int] = getattr(statistics, table)
        figures += [Figure(f"{table} cards played", *pair) for pair in sorted(played.items())]
    for part, names in split_words(statistics.words).items():
        figures.append(Figure("split by words", part, len(names), PRINTED.get(part)))
    for name, sizes in statistics.histograms.items():
        figures += [Figure(name, str(size), count) for size, count in sizes.items()]
    return figures


def tabulate(statistics: Statistics) -> list[Table]:
    """Lay the counts out for people: a table each, histograms with bars."""
    tables = []
    for title, figures in _group(list_figures(statistics)).items():
        if title not in statistics.histograms:
            tables.append(_tabulate_counts(title, figures))
    tables += [_tabulate_sizes(name, sizes) for name, sizes in statistics.histograms.items()]
    return tables


def _group(figures: Sequence[Figure]) -> dict[str, list[Figure]]:
    groups: dict[str, list[Figure]] = {}
    for figure in figures:
        groups.setdefault(figure.table, []).append(figure)
    return groups


def _tabulate_counts(title: str, figures: Sequence[Figure]) -> Table:
    if all(figure.printed is None for figure in figures):
        rows: list[list[str | int | None]] = [[one.what, one.count] for one in figures]
        return Table([title, "here"], rows)
    rows = [[figure.what, figure.count, figure.printed] for figure in figures]
    return Table([title, "here", "in the paper"], rows)


def _tabulate_sizes(name: str, sizes: Mapping[int, int]) -> Table:
    bins = dict(_bin(sizes))
    most = max(bins.values(), default=0)
    rows: list[list[Cell | int]] = [
        [Cell(span), count, Cell("▇" * max(round(_BAR * count / most), 1))]
        for span, count in bins.items()
    ]
    return Table([name, "here", ""], rows)


def _bin(sizes: Mapping[int, int]) -> Iterator[tuple[str, int]]:
    """Values as they are; where there are many, in equal steps, or, if they spread far, by powers
    of two: 0, 1, 2–3, 4–7, …"""
    if len(sizes) <= _MOST_VALUES:
        yield from ((f"{size:,}", count) for size, count in sizes.items())
        return
    least, most = min(sizes), max(sizes)
    spreads = most > 16 * max(least, 1)
    step = _choose_step(most - least)
    bins: Counter[int] = Counter()
    for size, count in sizes.items():
        bins[size.bit_length() if spreads else size // step] += count
    for place in range(min(bins), max(bins) + 1):
        low, high = place * step, place * step + step - 1
        if spreads:
            low, high = (1 << place) >> 1, (1 << place) - 1
        yield (f"{high:,}" if low >= high else f"{low:,}–{high:,}"), bins[place]


def _choose_step(span: int) -> int:
    """Least step of 1, 2 or 5 times a power of ten that makes few bins."""
    step, factors = 1, cycle((2, 2.5, 2))
    while span // step >= _MOST_VALUES:
        step = int(step * next(factors))
    return step
