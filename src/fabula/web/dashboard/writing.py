"""Parts of the dashboard about writing: what is kept of suggestions, and by how many people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fabula.core.story import count_text
from fabula.reports.figures.bars import Bar, draw_bars, draw_columns
from fabula.reports.tables import Cell, Table, TableColumn, Value
from fabula.studio.filters import FLAG_ENTRIES, FLAG_SHARE
from fabula.studio.flags import FlaggedGame
from fabula.web.dashboard.parts import Part, call_models

# What can become of a suggestion, as it is told; in this order.
STATUSES = {
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "executing": "being written",
    "pending": "waiting",
}


def show_sentences(counts: Mapping[int, int]) -> Part:
    """Where in a suggestion the published sentences come from."""
    title = "Which sentences are kept"
    if not counts:
        why = "No published sentence shares three words in a row with a suggestion."
        return Part("sentences", title, missing=why)
    places = range(max(counts) + 1)
    labels = [str(place + 1) for place in places]
    values = [counts.get(place, 0) for place in places]
    share = 100 * counts.get(0, 0) / sum(values)

    def draw(width: int) -> str:
        return draw_columns(
            labels,
            [float(value) for value in values],
            title="Published sentences by the sentence of the suggestion they come from",
            x_label="sentence of the suggestion",
            y_label="published sentences",
            width=width,
        )

    words = (
        f"{count_text(sum(values), 'published sentence')} can be traced to a suggestion; "
        f"{share:.0f} % of them to its first sentence."
    )
    rows = [[place + 1, value] for place, value in zip(places, values, strict=True)]
    table = Table(["sentence of the suggestion", "published sentences"], rows)
    return Part("sentences", title, words, table, draw=draw)


def show_people(counts: Mapping[float, int]) -> Part:
    """How many people have published with how many suggestions at most."""
    title = "How much people write with models"
    everybody = counts.get(math.inf, 0)
    if not everybody:
        why = "Suggestions that count here were asked for by no person of this studio."
        return Part("people", title, missing=why)
    labels = {most: "in all" if math.isinf(most) else f"at most {most:g}" for most in counts}

    def draw(width: int) -> str:
        rows = [Bar(labels[most], {"people": float(count)}) for most, count in counts.items()]
        return draw_bars(
            rows, title="People by number of suggestions", x_label="people", width=width
        )

    few = counts.get(1.0, 0)
    words = f"{count_text(everybody, 'person', 'people')}, of whom {few} published with one alone."
    table = Table(
        ["suggestions published", "people"], [[labels[most], counts[most]] for most in counts]
    )
    return Part("people", title, words, table, draw=draw)


def show_statuses(counts: Mapping[str, Mapping[str, int]]) -> Part:
    """What became of suggestions that were asked for."""
    title = "What became of requests"
    if not counts:
        return Part("statuses", title, missing="No model was asked for a suggestion.")
    known = [*STATUSES, *sorted({name for each in counts.values() for name in each} - {*STATUSES})]
    there = [name for name in known if any(each.get(name) for each in counts.values())]

    def draw(width: int) -> str:
        called = call_models(counts, width)
        rows = [
            Bar(
                called[machine],
                {STATUSES.get(name, name): float(each.get(name, 0)) for name in there},
            )
            for machine, each in counts.items()
        ]
        return draw_bars(
            rows, title="Suggestions asked for, by what became of them", x_label="suggestions",
            width=width,
        )  # fmt: skip

    asked = sum(sum(each.values()) for each in counts.values())
    lost = sum(each.get("failed", 0) for each in counts.values())
    words = f"{count_text(asked, 'suggestion')} asked for; {lost} failed."
    rows: list[list[Value]] = [
        [machine, sum(each.values()), *(each.get(name, 0) for name in there)]
        for machine, each in sorted(counts.items())
    ]
    columns = ["model", "asked", *(STATUSES.get(name, name) for name in there)]
    return Part("statuses", title, words, Table(columns, rows), draw=draw)


def show_flagged(flagged: Sequence[FlaggedGame]) -> Part:
    """Games of machine text alone, and those of them that are left out."""
    rows: list[list[Value | Cell]] = [
        [
            game.title or game.game,
            game.game,
            game.entries,
            Cell(100 * game.machine_share, f"{100 * game.machine_share:.0f} %"),
            game.unedited_suggestions,
            "left out" if game.is_excluded else "counted",
        ]
        for game in flagged
    ]
    columns: list[str | TableColumn] = [
        "title", "game", "entries", TableColumn("by machines", align="right"), "unedited",
        "in figures",
    ]  # fmt: skip
    words = (
        f"Games of {FLAG_ENTRIES} entries or more in which {100 * FLAG_SHARE:.0f} % of what was "
        "published is a machine’s. Who publishes whatever comes says little of how good it is: "
        "look at them, and leave out what does not belong."
    )
    missing = "" if flagged else "No game is made of unedited machine text."
    return Part(
        "flagged", "Unedited machine text", words if flagged else "", Table(columns, rows),
        missing=missing,
    )  # fmt: skip
