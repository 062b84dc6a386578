"""A data set written as plain rows: stories, ratings, scores, preferences, a file each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.files import note_written, refuse_foreign
from fabula.core.table import COLUMNS
from fabula.datasets.tables.row_files import Kind, RowForm, write_rows

_STORY: dict[str, Kind] = {
    "id": "text",
    "text": "text",
    "prompt": "text",
    "references": "texts",
    "images": "texts",
    "system": "text",
    "item": "text",
}
PREFERENCE: dict[str, Kind] = {
    "better": "text",
    "worse": "text",
    "rater": "text",
    "aspect": "text",
    "is_tie": "truth",
}
_ANNOTATION: dict[str, Kind] = {
    "story": "text",
    "rater": "text",
    "seconds": "number",
    "character": "text",
    "assignment": "text",
}
_SCORE: dict[str, Kind] = {
    name: "number" if name in ("value", "coverage") else "text" for name in COLUMNS
}


def write_dataset(
    dataset: Dataset,
    folder: Path,
    form: RowForm = "jsonl",
    *,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> list[Path]:
    """Write what a data set holds into a folder; a part that is empty gets no file.

    What is not of our making is only lost with `overwrite`, and never one of the `inputs`.
    """
    parts: dict[str, tuple[Mapping[str, Kind], list[dict[str, Any]]]] = {
        "stories": (_STORY, [asdict(story) for story in dataset.stories]),
        "ratings": (_SCORE, list(dataset.ratings.rows())),
        "scores": (_SCORE, list(dataset.scores.rows())),
        "preferences": (PREFERENCE, [asdict(choice) for choice in dataset.preferences]),
        "annotations": (_ANNOTATION, [asdict(one) for one in dataset.annotations]),
    }
    paths = {name: folder / f"{name}.{form}" for name, (_, rows) in parts.items() if rows}
    names = [path.name for path in paths.values()]
    refuse_foreign(folder, names, inputs=inputs, overwrite=overwrite)
    for name, path in paths.items():
        kinds, rows = parts[name]
        write_rows(path, form, kinds, rows)
    note_written(folder, names)
    return list(paths.values())
