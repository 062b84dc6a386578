"""What a model is evaluated on: any file, folder or name, told by what it holds.

Pairs (as StoryER's ranking files are), rated and commented stories (as its rating files are), its
correlation sets, the table of a user, or a data set by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, closest
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets import DATASETS, is_added, list_added, load_dataset
from fabula.datasets.releases.pickles import is_pickle, read_plain_pickle
from fabula.datasets.releases.reading import clean_prompt
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.datasets.table import CARD, read_opinions
from fabula.datasets.tables.rows import read_rows
from fabula.datasets.tables.sheet import Sheet
from fabula.datasets.tables.stories import is_there
from fabula.datasets.tables.text_file import TextFile

_PAIR_FIELDS, _SUBMISSION_FIELDS = {"good", "poor"}, {"comments", "story"}


def open_sets(source: str, by: str = "") -> list[Dataset]:
    """Load what a path or a name stands for; a folder of the release may hold two sets.

    `by` names a column of a table, or a field of pairs, whose value parts the stories: a genre,
    say. It becomes their `system`.
    """
    path = Path(source)
    if source in DATASETS or (is_added(source) and not is_there(path)):
        return [load_dataset(source, partial=True)]
    if not is_there(path):
        names = sorted({*DATASETS.names(), *list_added()} - {"table"})
        raise InputError(f"{source}: no such file or data set", closest(source, names))
    if path.is_dir():
        return _open_folder(path)
    kind = _tell_kind(path)
    if not kind:
        return [_read_own(path, by)]
    dataset = load_dataset(kind, path, partial=True)
    dataset = replace(dataset, name=path.name.partition(".")[0])
    return [_part_by_prompt(dataset, path, by) if by and not is_pickle(path) else dataset]


def _read_own(path: Path, by: str) -> Dataset:
    """Read a table of one's own, with ratings or without; `by` names the column of systems."""
    sheet = Sheet.read(path, {})
    sheet = Sheet.read(path, {"system": by}) if by in sheet.names else sheet
    opinions = read_opinions(sheet)
    if not any(story.text.strip() for story in opinions.stories):
        raise InputError(f"{sheet.label}: no texts to read", "name their column text or story")
    ratings = ScoreTable(opinions.stories, opinions.ratings)
    return Dataset(sheet.label.partition(".")[0], CARD, opinions.stories, ratings)


def _part_by_prompt(dataset: Dataset, path: Path, by: str) -> Dataset:
    """Give the stories of pairs or submissions the value that a field has in their rows."""
    values = {
        clean_prompt(str(row.get("prompt"))): str(row[by]).strip()
        for _, row in read_rows(TextFile(path, path.name))
        if row.get(by) not in (None, "")
    }
    stories = tuple(
        replace(story, system=values.get(story.prompt or "")) for story in dataset.stories
    )
    ratings, scores = (ScoreTable(stories, table) for table in (dataset.ratings, dataset.scores))
    return replace(dataset, stories=stories, ratings=ratings, scores=scores)


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
    """Part the stories of a set: by system, and by whether they were liked where that is told."""
    liked = {one.better for one in dataset.preferences if not one.is_tie}
    disliked = {one.worse for one in dataset.preferences if not one.is_tie}
    sides = {"liked": liked, "disliked": disliked} if dataset.preferences else {"": None}
    parts: dict[str, list[Story]] = {}
    for side, names in sides.items():
        for story in dataset.stories:
            if names is None or story.id in names:
                name = ", ".join(filter(None, (dataset.name, story.system, side)))
                parts.setdefault(name, []).append(story)
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
