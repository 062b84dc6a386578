"""Stories that tasks are made of: read by name, written alike, kept apart from what is rated."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.learned.training.corpus import data_folder
from fabula.learned.training.near_duplicates import PLACEHOLDER, near_duplicate_groups
from fabula.learned.training.reader_recipe import Task
from fabula.text.detokenise import detokenise, split_any_case

# Stories of a corpus that no training sees, so that there is something to measure on.
KEPT_BACK = 0.035
_LETTERS = re.compile(r"[^a-z0-9]")


def read_dataset(name: str, data: Path | None) -> Dataset:
    """Read a data set from its folder below `data`, from where it was added, or a table's path."""
    from fabula.datasets import DATASETS, find_place, load_dataset

    if name not in DATASETS and Path(name).exists():
        return load_dataset("table", name)
    folder = data_folder(name, data) if data else None
    if (
        folder is None
        and name in DATASETS
        and not find_place(name)
        and DATASETS.get(name).CARD.files
    ):
        raise InputError(
            f"{data or 'no --data, and nothing kept'}: no files of the data set {name!r}",
            f"fabula data show {name} says where to get it; put it below --data",
        )
    return load_dataset(name, folder)


def task_stories(dataset: Dataset, task: Task) -> list[Story]:
    """Give the stories of a data set that a task takes, respaced, with items of their own."""
    found = [_prompted(story, dataset.name, task) for story in _part(dataset, task.split)]
    if task.systems:
        found = [story for story in found if story.system in task.systems]
    found = [story for story in found if story.text]
    if not found:
        raise SettingError(f"{dataset.name} has no stories for the task", "check split and systems")
    return found[: task.most or None]


def human_references(dataset: Dataset, split: str) -> list[Story]:
    """Give the human stories that stand beside systems' stories as references, each once."""
    texts: dict[str, str] = {}
    for story in _part(dataset, split):
        for reference in story.references:
            texts.setdefault(detokenise(reference), str(story.item))
    return [
        Story(f"{dataset.name}:{number}", text, item=f"{dataset.name}:{item}")
        for number, (text, item) in enumerate(texts.items())
        if text
    ]


def vist_part(dataset: Dataset, part: str) -> list[Story]:
    """Give the albums of VIST's test or validation set, once each: the latter had two systems."""
    systems: dict[str, set[str]] = {}
    for story in dataset.stories:
        systems.setdefault(str(story.item), set()).add(str(story.system))
    tested = {item for item, names in systems.items() if names - {"AREL", "XE-ss"}}
    if part not in ("test", "val"):
        raise SettingError(f"vist has no part {part!r}", "say test or val")
    return [one for one in dataset.stories if (one.item in tested) == (part == "test")]


class Free:
    """Stories of corpora that resemble no rated one.

    A story is like another if they share half of their runs of five words, or the first sentence
    (which machine stories were given to go on from).
    """

    def __init__(self, rated: Iterable[Dataset]) -> None:
        stories = [story for one in rated for story in one.stories]
        self._texts = [one.text for one in stories]
        self._barred = {_key(_opening(text)) for one in stories for text in _openings(one)}
        self._found: dict[tuple[str, ...], list[Story]] = {}

    def stories(self, sources: Sequence[Dataset], *, kept_back: bool = False) -> list[Story]:
        """Give the stories of corpora, each once.

        Those that are kept back for measuring, by a digest of their text, are given instead with
        `kept_back`.
        """
        names = tuple(one.name for one in sources)
        if names not in self._found:
            self._found[names] = self._search(sources)
        return [one for one in self._found[names] if is_kept_back(one.text) == kept_back]

    def allows(self, text: str) -> bool:
        """Whether a text does not begin as a rated story does."""
        return _key(_opening(text)) not in self._barred

    def _search(self, sources: Sequence[Dataset]) -> list[Story]:
        candidates = [
            replace(story, text=detokenise(story.text), id=f"{one.name}:{story.id}")
            for one in sources
            for story in one.stories
        ]
        groups = near_duplicate_groups([*self._texts, *(one.text for one in candidates)])
        taken = set(groups[: len(self._texts)])
        best: dict[int, Story] = {}
        for group, story in zip(groups[len(self._texts) :], candidates, strict=True):
            if group not in taken and (group not in best or _worth(story) > _worth(best[group])):
                best[group] = story
        if not (found := [one for one in best.values() if one.text and self.allows(one.text)]):
            raise InputError("no story is left to learn from", "check data and left_out")
        return found


def is_kept_back(text: str) -> bool:
    """Whether a text is for measuring alone: so falls the lot, whatever else is there."""
    digest = hashlib.blake2b(_key(text).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < KEPT_BACK * 2**64


def _part(dataset: Dataset, split: str) -> list[Story]:
    if dataset.name == "vist" and split:
        return vist_part(dataset, split)
    return [story for story in dataset.stories if str(story.item or story.id).startswith(split)]


def _prompted(story: Story, name: str, task: Task) -> Story:
    before = f"{story.prompt} " if task.with_prompt and story.prompt else ""
    item = f"{name}:{story.item or story.id}"
    return replace(story, text=detokenise(before + story.text), item=item)


def _openings(story: Story) -> tuple[str, ...]:
    return (story.text, *([story.prompt] if story.prompt else []))


def _opening(text: str) -> str:
    found = split_any_case(detokenise(text))
    return found[0] if found else ""


def _key(text: str) -> str:
    return _LETTERS.sub("", text.lower())


def _worth(story: Story) -> tuple[bool, bool, int]:
    """With names rather than masked, cased rather than not, then the longest."""
    named = PLACEHOLDER.search(story.text) is None
    return named, story.text != story.text.lower(), len(story.text)
