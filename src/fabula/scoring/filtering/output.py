"""What is left of a run, as a file that can be scored or trained on, and how it came about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np

from fabula._version import __version__
from fabula.core.errors import SettingError
from fabula.core.files import checksum_file, note_written, refuse_foreign, write_json
from fabula.core.images import relate_images
from fabula.core.table import json_text
from fabula.datasets.tables.row_files import Kind, RowForm, write_rows
from fabula.scoring.column_names import ColumnNames
from fabula.scoring.filtering.steps import Filtered, FilterPlan
from fabula.scoring.folder import RUN
from fabula.scoring.lazy_run import LazyRun

_KINDS: dict[str, Kind] = {
    "id": "text", "system": "text", "item": "text", "prompt": "text", "text": "text",
    "references": "texts", "images": "texts",
}  # fmt: skip


def find_form(path: Path) -> RowForm:
    """Give the form of a file by how its name ends."""
    form = path.suffix.removeprefix(".").lower()
    for known in get_args(RowForm):
        if form == known:
            return known  # type: ignore[no-any-return]
    raise SettingError(f"{path}: what form is that?", "end its name in .jsonl, .parquet or .csv")


def name_provenance(path: Path) -> Path:
    """Where it is written how a file came about: beside it."""
    return path.with_name(f"{path.name}.provenance.json")


def refuse_output(run_folder: Path, path: Path, record: dict[str, Any], *, overwrite: bool) -> None:
    """Refuse a place where something would be lost, before anything is computed."""
    find_form(path)
    inputs = [run_folder / name for name in (RUN, *record["files"])]
    names = [path.name, name_provenance(path).name]
    refuse_foreign(path.parent, names, inputs=inputs, overwrite=overwrite)


def write_filtered(
    run: LazyRun, plan: FilterPlan, filtered: Filtered, path: Path, *, scores: bool = False
) -> dict[str, Any]:
    """Write the stories that are left, and beside them how they came about; give the latter.

    With `scores` every column of the run is a column of the file, under `metric.aspect`.
    """
    columns = ColumnNames(run.keys).dotted if scores else []
    kinds: dict[str, Kind] = {**_KINDS, **dict.fromkeys(columns, "number")}
    told = describe(run, plan, filtered)
    rows = _make_rows(run, filtered.places, columns, path.parent)
    form = find_form(path)
    about = {"fabula.filter": json_text(told)} if form == "parquet" else {}
    write_rows(path, form, kinds, rows, about=about)
    told["file"] = {"name": path.name, "sha256": checksum_file(path)}
    write_json(name_provenance(path), told)
    note_written(path.parent, [path.name, name_provenance(path).name])
    return told


def describe(run: LazyRun, plan: FilterPlan, filtered: Filtered) -> dict[str, Any]:
    """Say of which run, by which steps, with how many stories in and out."""
    record = run.record
    systems = run.system_codes[filtered.places]
    counts = np.bincount(systems, minlength=len(run.systems)).tolist()
    return {
        "fabula": __version__,
        "run": {
            "name": run.folder.resolve().name,
            "sha256": checksum_file(run.folder / RUN),
            "input": record["question"]["input"],
            "stories": run.count,
            "signatures": [metric["signature"] for metric in record["metrics"]],
        },
        "plan": {name: value for name, value in vars(plan).items() if value not in ("", None)},
        "steps": [
            {
                "step": step.name,
                "in": step.before,
                "out": step.after,
                "no_value": step.no_value,
                **step.details,
            }
            for step in filtered.steps
        ],
        "stories": len(filtered.places),
        "systems": dict(zip(run.systems, counts, strict=True)),
    }


def _make_rows(
    run: LazyRun, places: np.ndarray[Any, Any], columns: list[str], folder: Path
) -> Iterator[dict[str, Any]]:
    """Give the rows of the file, in the order of the run."""
    wanted = np.zeros(run.count, dtype=bool)
    wanted[places] = True
    for own, stories in run.scan_stories(wanted):
        start, end = int(own[0]), int(own[-1]) + 1
        values = run.read_block(start, end) if columns else None
        for place, story in zip(own.tolist(), stories, strict=True):
            row: dict[str, Any] = {name: getattr(story, name) for name in _KINDS}
            if story.images:
                row["images"] = relate_images(story.images, folder)
            if values is not None:
                row |= dict(zip(columns, values[place - start].tolist(), strict=True))
            yield row
