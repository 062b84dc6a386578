"""What `fabula train` says at the end: figures, tables, and the specs that load the weights."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabula.learned.training.grid import Trial
    from fabula.learned.training.personal import Personal
    from fabula.meta.resampling import Estimate

# Which metric reads a scale; of `criteria.relevance` the first word counts.
_READ_BY = {
    "preference": "storyer", "coherence": "coherence", "order": "rovist_c", "union": "union",
    "manplts": "manplts", "criteria": "criteria", "aspects": "aspects",
}  # fmt: skip
_FIGURES = {"accuracy": "accuracy", "spearman": "Spearman's ρ"}


def specs_of(kind: str, scales: Collection[str], out: Path) -> list[str]:
    """Give the specs of all metrics that weights serve, the one they were trained for first."""
    found = {_READ_BY.get(name.partition(".")[0], "") for name in scales} - {""}
    ordered = sorted(found, key=lambda name: (name != kind, list(_READ_BY.values()).index(name)))
    return [f"{name}(weights={str(out)!r})" for name in ordered] or [str(out)]


def measured_lines(record: Mapping[str, Any]) -> Iterator[str]:
    """Say what unseen stories showed; without folds, what held-out ones did."""
    if rows := record.get("unseen"):
        times = f"{record['folds']} folds, {record['seeds']} seed{'s' * (record['seeds'] > 1)}"
        yield f"of stories whose items the reader had not learned from ({times}):"
        yield from table([_row(name, one) for name, one in rows.items()])
    for scale, some in list(record.get("scales", {}).items())[:1]:
        yield "the value that the metric gives, of the same stories (training.json has all):"
        yield from table([_row(f"{scale} with {target}", one) for target, one in some.items()])
    if history := record.get("history"):
        best = max(history, key=lambda one: float(one["mean"]))
        said = ", ".join(f"{name} {value:.3f}" for name, value in best["held_out"].items())
        yield f"held out, at step {best['step']:,}: {said}"
    elif not record.get("unseen"):
        yield "nothing was measured: say --folds 5, or held_out in the recipe"


def _row(name: str, one: Mapping[str, Any]) -> list[str]:
    value = "undefined" if one["value"] is None else f"{one['value']:.3f}"
    return [name, _FIGURES[one["figure"]], value, f"n = {one['n']:,}"]


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay words out in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  "
        + "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def grid_table(found: Sequence[Trial]) -> str:
    """Lay out what a grid found, the best first."""
    from fabula.learned.training.grid import describe

    rows = [
        [
            one.folder.name,
            "undefined" if math.isnan(one.figure) else f"{one.figure:.3f}",
            describe(one.settings),
        ]
        for one in found
    ]
    return "\n".join(["mean figure, the best first:", *table(rows)])


def personal_lines(found: Personal) -> list[str]:
    """Say how a reader agreed before it was made personal, and how it does now."""
    kind = "pairs" if found.figure == "accuracy" else "ratings"
    name = _FIGURES[found.figure]
    lines = [
        f"{found.opinions:,} {kind} on {found.items:,} items; {name} on items left out:",
        *table(
            [
                ["before", _interval(found.before)],
                ["after", _interval(found.after)],
                ["gain", _interval(found.gain)],
            ]
        ),
    ]
    if found.gain.high < 0:
        lines.append(
            "it agrees less with you than before: stay with the reader, or rate more stories"
        )
    elif not found.gain.low > 0:
        lines.append("the gain may be chance: more ratings would tell")
    return lines


def _interval(one: Estimate) -> str:
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"
