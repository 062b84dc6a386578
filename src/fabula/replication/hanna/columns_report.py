"""The table of regenerated columns: published beside ours, with the model that was used."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fabula._version import __version__
from fabula.replication.hanna.columns import Column
from fabula.scoring.s3_training import Agreement

_ABOUT = (
    "Written by `fabula metrics regenerate` with Fabula {version}. Every column that HANNA "
    "published, made again from its stories: Pearson's r and Spearman's ρ of our values with the "
    "published ones, over the stories by machines. `later` are prompts 48 to 95, on which nothing "
    "was chosen: layers, thresholds and S3's regressors come from prompts 0 to 47. Where the "
    "model is not the one that HANNA used, the two columns measure the same thing with another "
    "reader and need not agree. Seconds are of the machine at hand; what metrics share (one pass "
    "of the encoder) counts for the first."
)
# Longer notes stand below the table.
_SHORT_NOTE = 60


@contextmanager
def seconds_kept(folder: Path) -> Iterator[dict[str, float]]:
    """Give the seconds that metrics took in earlier runs into a folder; keep what is added."""
    file = folder / "seconds.json"
    spent: dict[str, float] = {}
    if file.is_file():
        spent = json.loads(file.read_text(encoding="utf-8"))
    try:
        yield spent
    finally:
        folder.mkdir(parents=True, exist_ok=True)
        rounded = {spec: round(seconds, 2) for spec, seconds in spent.items()}
        file.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


def column_rows(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Rows for printing, one a column."""
    return [
        {
            "column": one.name,
            "spec": one.spec + (f" {one.aspect}" if one.aspect else ""),
            "checkpoint": one.model or "–",
            "stories": len(one.values),
            "r": _figure(one.overall, "r"),
            "rho": _figure(one.overall, "rho"),
            "r_later": _figure(one.later, "r"),
            "rho_later": _figure(one.later, "rho"),
            "seconds": round(one.seconds, 1),
            "note": one.note,
        }
        for one in columns
    ]


def write_columns(columns: Sequence[Column], folder: Path) -> None:
    """Write our values, the figures, and the table as a page."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = column_rows(columns)
    (folder / "columns.json").write_text(
        json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (folder / "columns.md").write_text(columns_page(rows), encoding="utf-8")
    ids = list(dict.fromkeys(story for one in columns for story in one.values))
    with (folder / "columns.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["story", *(one.name for one in columns)])
        writer.writerows([story, *(one.values.get(story, "") for one in columns)] for story in ids)


def columns_page(rows: Sequence[dict[str, Any]]) -> str:
    """Write the table in Markdown."""
    head = "| column | ours | checkpoint | stories | r | ρ | r later | ρ later | s | |"
    lines = ["# HANNA's columns, published and ours", "", _ABOUT.format(version=__version__), ""]
    lines += [head, "|---|---|---|---|---|---|---|---|---|---|"]
    lines += [
        "| " + " | ".join(_cell(name, value) for name, value in row.items()) + " |" for row in rows
    ]
    notes = dict.fromkeys(row["note"] for row in rows if len(row["note"]) > _SHORT_NOTE)
    lines += [f"\n{note}." for note in notes]
    return "\n".join(lines) + "\n"


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if name in ("spec", "checkpoint") and value != "–":
        return f"`{value}`"
    if name == "note" and len(value) > _SHORT_NOTE:
        return str(value).partition(":")[0]
    return f"{value:.3f}" if isinstance(value, float) and name != "seconds" else str(value)


def _figure(found: Agreement | None, name: str) -> float | None:
    return None if found is None else round(float(getattr(found, name)), 4)
