"""What a stress test did, in a folder: the perturbed stories and every move, story by story."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fabula.core.errors import UserError
from fabula.core.table import HALVES, json_text
from fabula.scoring.folder import unwritable
from fabula.scoring.stress import StressResult

STORIES, MOVES = "stories.jsonl", "moves.csv"
_COLUMNS = (
    "story item system perturbation scorer aspect before after change".split()
)  # fmt: skip


def refuse_written(folder: Path) -> None:
    """Refuse a folder that holds such files, so that none is lost."""
    for name in (STORIES, MOVES):
        if (folder / name).exists():
            raise UserError(
                f"{folder / name} is there already",
                "choose another folder with -o, or pass --overwrite",
            )


def write_stress(result: StressResult, folder: Path, *, overwrite: bool = False) -> None:
    """Write `stories.jsonl` and `moves.csv`; each appears when it is whole."""
    if not overwrite:
        refuse_written(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lines = [json_text(row) + "\n" for row in story_rows(result)]
        _put(folder / STORIES, "".join(lines))
        _write_moves(result, folder / MOVES)
    except OSError as error:
        raise unwritable(folder, error) from error


def story_rows(result: StressResult) -> Iterator[dict[str, Any]]:
    """Go through the stories, each followed by its copies, which say what was done to them."""
    for story in result.copies.originals:
        yield asdict(story) | {"perturbation": "", "original": story.id}
        for name, copies in result.copies.of.items():
            if story.id in copies:
                row = asdict(copies[story.id])
                yield row | {"perturbation": name, "original": story.id}


def move_rows(result: StressResult) -> Iterator[dict[str, Any]]:
    """Go through the values before and after, story by story; what is missing is None."""
    for story in result.copies.originals:
        named = {"story": story.id, "item": story.item, "system": story.system}
        for name, copies in result.copies.of.items():
            if story.id not in copies:
                continue
            for (scorer, aspect), known in result.values.items():
                before, after = known[story.id], known[copies[story.id].id]
                values = {"before": before, "after": after, "change": after - before}
                yield {
                    **named,
                    "perturbation": name,
                    "scorer": scorer,
                    "aspect": aspect,
                    **{key: None if math.isnan(one) else one for key, one in values.items()},
                }


def _write_moves(result: StressResult, path: Path) -> None:
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", encoding="utf-8", errors=HALVES, newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(move_rows(result))
    partial.replace(path)


def _put(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
