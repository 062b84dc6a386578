"""Tables on disk: a folder with stories.jsonl and scores.jsonl, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable, json_line, json_text, score_of

STORIES, SCORES = "stories.jsonl", "scores.jsonl"


def save_table(table: ScoreTable, folder: Path) -> None:
    """Write a table into a folder; each file appears when it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / STORIES, map(story_line, table.stories))
    _write(folder / SCORES, map(json_line, table.rows()))


def load_table(folder: Path) -> ScoreTable:
    """Read a table that was saved, or the folder of a run."""
    return ScoreTable(read_stories(folder), read_scores(folder))


def read_stories(folder: Path) -> Iterator[Story]:
    """Go through the stories of a saved table."""
    for where, row in _rows(folder / STORIES):
        try:
            yield Story(**row)
        except TypeError:
            raise InputError(f"{where}: not a story", "write the folder again") from None


def read_scores(folder: Path) -> Iterator[Score]:
    """Go through the scores of a saved table."""
    for where, row in _rows(folder / SCORES):
        try:
            yield score_of(row)
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{where}: not a score", "write the folder again") from None


def story_line(story: Story) -> str:
    """Write a story as a line of JSON."""
    return json_text(asdict(story)) + "\n"


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                yield f"{path}, line {number}", json.loads(line)
    except OSError as error:
        reason = error.strerror or error
        remedy = "give the folder of a run (fabula score -o DIR) or a saved table"
        raise InputError(f"{path} cannot be read ({reason})", remedy) from None
    except ValueError:
        raise InputError(f"{path} is damaged", "write the folder again") from None


def _write(path: Path, lines: Iterable[str]) -> None:
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.writelines(lines)
    partial.replace(path)
