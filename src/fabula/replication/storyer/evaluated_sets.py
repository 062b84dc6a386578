"""What a model is evaluated on: any file, folder or name, told by what it holds.

Pairs (as StoryER's ranking files are), rated and commented stories (as its rating files are), its
correlation sets, the table of a user, or a data set by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, SettingError, closest
from fabula.core.story import Story, count_text
from fabula.core.table import ScoreTable
from fabula.datasets import (
    DATASETS,
    is_added,
    list_added,
    list_findings,
    load_dataset,
    storyer,
    storyer_ratings,
)
from fabula.datasets.releases.pickles import is_pickle
from fabula.datasets.releases.reading import clean_prompt, clean_text
from fabula.datasets.releases.storyer_kinds import SIDES, tell_kind
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.datasets.table import CARD, read_opinions
from fabula.datasets.tables.rows import read_rows
from fabula.datasets.tables.sheet import Sheet
from fabula.datasets.tables.stories import is_there
from fabula.datasets.tables.text_file import TextFile
from fabula.learned.training.stories import read_dataset

# How the files of a release's folder are told by their names.
_KINDS = {"storyer": storyer.is_part, "storyer_ratings": storyer_ratings.is_part}
# Fields of a row that hold a story: the sides of a pair, or the one that was rated.
_TEXTS = (*(name for sides in SIDES for name in sides), "story")


@dataclass(frozen=True)
class OpenedSet:
    """A set, the `columns` that may part its stories, and what is odd about it, for the report.

    It is `parted` where a column was asked for and is there; `found_gold` where ratings were named
    and are there.
    """

    dataset: Dataset
    columns: tuple[str, ...] = ()
    parted: bool = False
    found_gold: bool = False
    remarks: tuple[str, ...] = ()


def open_all(
    sources: Sequence[str], by: str = "", gold: Sequence[str] = (), *, data: Path | None = None
) -> list[OpenedSet]:
    """Open all sets that sources stand for, each under a name of its own.

    `gold` names columns of ratings in tables; data sets lie below `data`, or were added. What is in
    no set is refused; a set without it has a remark.
    """
    opened = [one for source in sources for one in _open(source, by, gold, data)]
    columns = {name for one in opened for name in one.columns}
    if by and not any(one.parted for one in opened):
        problem = f"--by {by}: no set has such a column, so that none can be split by it"
        raise SettingError(problem, closest(by, columns) if columns else "give a table that has it")
    if gold and not any(one.found_gold for one in opened):
        problem = f"--gold {','.join(gold)}: no table has such a column"
        raise SettingError(
            problem, closest(gold[0], columns) if columns else "give a table that has it"
        )
    named = name_sets([one.dataset for one in opened])
    return [
        replace(one, dataset=dataset, remarks=(*one.remarks, *_list_lacks(one, by)))
        for one, dataset in zip(opened, named, strict=True)
    ]


def open_sets(source: str, by: str = "", *, data: Path | None = None) -> list[Dataset]:
    """Load what a path or a name stands for; a folder of the release may hold two sets.

    Data sets lie below `data`, or were added. `by` names a column of a table, or a field of pairs,
    whose value parts the stories: a genre, say. It becomes their `system`.
    """
    return [one.dataset for one in _open(source, by, (), data)]


def _open(source: str, by: str, gold: Sequence[str], data: Path | None) -> list[OpenedSet]:
    path = Path(source)
    if source in DATASETS or (is_added(source) and not is_there(path)):
        return [_name_system(read_dataset(source, data, partial=True), by)]
    if not is_there(path):
        names = sorted({*DATASETS.names(), *list_added()} - {"table"})
        raise InputError(f"{source}: no such file or data set", closest(source, names))
    if path.is_dir():
        return [_name_system(dataset, by) for dataset in _open_folder(path)]
    kind = tell_kind(path)
    if not kind:
        return [_read_own(path, by, gold)]
    loaded = load_dataset(kind, path, partial=True)
    dataset = replace(loaded, name=path.name.partition(".")[0])
    one = OpenedSet(dataset) if is_pickle(path) else _part_by_row(dataset, path, by)
    return [replace(one, remarks=(*list_findings(loaded), *one.remarks))]


def _name_system(dataset: Dataset, by: str) -> OpenedSet:
    """Take a data set as it is: its stories may be parted by their systems, if they have some."""
    columns = ("system",) if dataset.counts["systems"] else ()
    findings = tuple(list_findings(dataset))
    return OpenedSet(dataset, columns, parted=by in columns, remarks=findings)


def _list_lacks(one: OpenedSet, by: str) -> Iterator[str]:
    """Say what was asked for and is not there."""
    if by and not one.parted:
        held = f"it has {', '.join(one.columns)}" if one.columns else "nothing in it parts stories"
        yield f"Not split by {by}: no such column ({held})."
    if one.dataset.card is CARD and not one.dataset.ratings:
        yield (
            "No ratings by people were found in this table, so that only means are given: name "
            "their column with --gold NAME, or call it human or human:RATER."
        )


def _read_own(path: Path, by: str, gold: Sequence[str]) -> OpenedSet:
    """Read a table of one's own, with ratings or without; `by` names the column of systems."""
    sheet = Sheet.read(path, {})
    parted = by in sheet.names
    sheet = Sheet.read(path, {"system": by}) if parted else sheet
    # A column of ratings may be `name`, `name:rater` or `human:rater:name`; where every row is an
    # opinion, gold names scorers.
    named = [
        name
        for name in gold
        if "value" in sheet.roles
        or any(name == column or name in column.split(":") for column in sheet.names)
    ]
    opinions = read_opinions(sheet, named)
    if not any(story.text.strip() for story in opinions.stories):
        raise InputError(f"{sheet.label}: no texts to read", "name their column text or story")
    ratings = ScoreTable(opinions.stories, opinions.ratings)
    dataset = Dataset(sheet.label.partition(".")[0], CARD, opinions.stories, ratings)
    return OpenedSet(dataset, sheet.names, parted, found_gold=bool(named))


def _part_by_row(dataset: Dataset, path: Path, by: str) -> OpenedSet:
    """Give the stories of pairs or submissions the value that a field has in their rows.

    A story whose rows have several has none, which is remarked.
    """
    names: dict[str, None] = {}
    values: dict[tuple[str, str], set[str]] = {}
    for _, row in read_rows(TextFile(path, path.name)):
        names |= dict.fromkeys(row)
        if not by or row.get(by) in (None, ""):
            continue
        prompt = clean_prompt(str(row.get("prompt") or ""))
        for text in filter(None, map(row.get, _TEXTS)):
            values.setdefault((prompt, clean_text(str(text))), set()).add(str(row[by]).strip())
    if not values:
        return OpenedSet(dataset, tuple(names))
    systems = {key: found.pop() for key, found in values.items() if len(found) == 1}
    stories = tuple(
        replace(story, system=systems.get((story.prompt or "", story.text)))
        for story in dataset.stories
    )
    ratings, scores = (ScoreTable(stories, table) for table in (dataset.ratings, dataset.scores))
    parted = replace(dataset, stories=stories, ratings=ratings, scores=scores)
    several = count_text(len(values) - len(systems), "story", "stories")
    remark = f"{several} in rows of several values of {by}: parted as none of them."
    remarks = (remark,) if len(systems) < len(values) else ()
    return OpenedSet(parted, tuple(names), parted=True, remarks=remarks)


def _open_folder(folder: Path) -> list[Dataset]:
    files = [file.name.lower().removesuffix(".gz") for file in folder.iterdir() if file.is_file()]
    kinds = [name for name, is_part in _KINDS.items() if any(map(is_part, files))]
    if not kinds:
        problem = f"{folder} holds neither pairs nor rated comments by the names of the release"
        remedy = "name one of its files; or a data set by its name, and its folder with --data"
        raise InputError(problem, remedy)
    return [load_dataset(name, folder, partial=True) for name in kinds]


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
