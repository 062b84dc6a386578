"""What a model is evaluated on: any file, folder or name, told by what it holds.

Pairs (as StoryER's ranking files are), rated and commented stories (as its rating files are), its
correlation sets, the table of a user, or a data set by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, closest
from fabula.core.story import Story
from fabula.datasets import DATASETS, is_added, list_added, load_dataset
from fabula.datasets.releases.pickles import is_pickle, read_plain_pickle
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.datasets.table import read_table
from fabula.datasets.tables.rows import read_rows
from fabula.datasets.tables.sheet import Sheet
from fabula.datasets.tables.stories import is_there
from fabula.datasets.tables.text_file import TextFile

_PAIR_FIELDS, _SUBMISSION_FIELDS = {"good", "poor"}, {"comments", "story"}


def open_sets(source: str) -> list[Dataset]:
    """Load what a path or a name stands for; a folder of the release may hold two sets."""
    path = Path(source)
    if source in DATASETS or (is_added(source) and not is_there(path)):
        return [load_dataset(source, partial=True)]
    if not is_there(path):
        names = sorted({*DATASETS.names(), *list_added()} - {"table"})
        raise InputError(f"{source}: no such file or data set", closest(source, names))
    if path.is_dir():
        return _open_folder(path)
    dataset = load_dataset(kind, path, partial=True) if (kind := _tell_kind(path)) else None
    dataset = dataset or read_table(path)
    return [replace(dataset, name=path.name.partition(".")[0])]


def _open_folder(folder: Path) -> list[Dataset]:
    sets, problems = [], []
    for name in ("storyer", "storyer_ratings"):
        try:
            sets.append(load_dataset(name, folder, partial=True))
        except InputError as error:
            problems.append(error)
    if not sets:
        raise problems[0]
    return sets


def _tell_kind(path: Path) -> str:
    """Name the data set whose form a file has; "" for a table of one's own."""
    if is_pickle(path):
        rows = read_plain_pickle(path)
        first = rows[0] if isinstance(rows, list) and rows else ()
        return "storyer" if len(first) > 2 else "storyer_ratings"
    if path.name.removesuffix(".gz").endswith((".json", ".jsonl")):
        for _, row in islice(read_rows(TextFile(path, path.name)), 1):
            if row.keys() >= _PAIR_FIELDS:
                return "storyer"
            if row.keys() >= _SUBMISSION_FIELDS:
                return "storyer_ratings"
    return ""


def rated_aspects(dataset: Dataset) -> bool:
    """Whether people rated StoryER's aspects in it, rather than stories as such."""
    return any(score.aspect in ASPECTS for score in dataset.ratings)


def part_stories(dataset: Dataset) -> dict[str, list[Story]]:
    """Part the stories of a set as its table of means does: liked and disliked, or by system."""
    if dataset.preferences:
        liked = {one.better for one in dataset.preferences if not one.is_tie}
        disliked = {one.worse for one in dataset.preferences if not one.is_tie}
        sides = {"liked": liked, "disliked": disliked}
        return {
            f"{dataset.name}, {side}": [one for one in dataset.stories if one.id in names]
            for side, names in sides.items()
        }
    parts: dict[str, list[Story]] = {}
    for story in dataset.stories:
        name = f"{dataset.name}, {story.system}" if story.system else dataset.name
        parts.setdefault(name, []).append(story)
    return parts


def read_genres(
    path: Path, column: str, columns: Mapping[str, str] | None = None
) -> dict[str, list[Story]]:
    """Read a table of stories, parted by the values of a column: a genre, say."""
    sheet = Sheet.read(path, columns or {})
    if column not in sheet.names:
        raise InputError(f"{sheet.label}: no column {column!r}", closest(column, sheet.names))
    if "text" not in sheet.roles:
        raise InputError(f"{sheet.label}: no column of texts", "name it text")
    parts: dict[str, list[Story]] = {}
    for number, (where, row) in enumerate(sheet.rows, 1):
        cell = row.get(column)
        name = "" if cell is None else str(cell).strip()
        story = sheet.make_story(row, f"{number}", where)
        parts.setdefault(f"{column}: {name or 'none'}", []).append(story)
    return parts


def name_sets(sets: Sequence[Dataset]) -> list[Dataset]:
    """Give every set a name of its own, where two files are called alike."""
    names: dict[str, int] = {}
    renamed = []
    for dataset in sets:
        count = names[dataset.name] = names.get(dataset.name, 0) + 1
        name = dataset.name if count == 1 else f"{dataset.name} ({count})"
        renamed.append(replace(dataset, name=name))
    return renamed
