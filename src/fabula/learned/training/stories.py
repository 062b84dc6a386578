"""Stories that tasks are made of: read by name, written alike, kept apart from what is rated."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.core.story import Story
from fabula.core.table import SCORES, ScoreTable
from fabula.learned.training.recipe import Task
from fabula.text.detokenise import detokenise, split_any_case
from fabula.text.grams import gram_codes, word_codes

Array = np.ndarray[Any, np.dtype[Any]]
Cut = Callable[[Sequence[str]], list[list[int]]]  # texts in, their word pieces out

# Stories of a corpus that no training sees, so that there is something to measure on.
KEPT_BACK = 0.035
_LETTERS = re.compile(r"[^a-z0-9]")
PLACEHOLDER = re.compile(r"\[(?:MALE|FEMALE|NEUTRAL)\]", re.IGNORECASE)
_CONTRACTION = re.compile(r"\s+(n['’]t|['’]\w)")
_WORD = re.compile(r"[^\W_]+")
_ORDER = 5
_LAGS = 24
_ASIDE_FROM, _ASIDE_WORDS, _ASIDE_BREAKS = "writingprompts", (150, 450), 4


def data_folder(name: str, data: Path) -> Path | None:
    """Folder below `data` with a file that the data set's card names; its own name comes first."""
    from fabula.datasets import DATASETS, datasets_below

    files = DATASETS.get(name).CARD.files if name in DATASETS else ()
    data = datasets_below(data)
    for folder in (data / name, data, *sorted(data.iterdir())):
        if any(any(folder.glob(f"{file}*")) for file in files):
            return folder
    return None


def read_dataset(name: str, data: Path | None, *, partial: bool = False) -> Dataset:
    """Read a data set from its folder below `data`, from where it was added, or by a path.

    A release that does not hold what its card says is refused, unless `partial` is given.

    A path is that of a table, of a file in the form of one of StoryER's, or of a run's folder,
    which has stories and what scorers said.
    """
    from fabula.datasets import DATASETS, find_place, load_dataset
    from fabula.datasets.releases.storyer_kinds import tell_kind

    if name not in DATASETS and (Path(name) / SCORES).is_file():
        table = ScoreTable.load(name)
        card = DatasetCard("a run", "Stories and what scorers said of them.", "not known")
        stories = tuple(table.stories)
        return Dataset(Path(name).resolve().name, card, stories, scores=table)
    if name not in DATASETS and Path(name).exists():
        return load_dataset(tell_kind(Path(name)) or "table", name)
    if name not in DATASETS and not find_place(name) and ("/" in name or Path(name).suffix):
        raise InputError(f"{name}: no such file", "mend the path, or name a data set")
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
    return load_dataset(name, folder, partial=partial)


def open_tokeniser(folder: Path) -> Cut:
    """Give what cuts texts into word pieces, as the tokeniser of an encoder's folder does."""
    if find_spec("tokenizers") is None:
        raise PackageMissing("tokenizers", "train")
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise InputError(f"{file} is not there", "name the folder of an encoder")
    from fabula.models.networks.encoder import load_tokenizer

    tokeniser, _ = load_tokenizer(folder)

    def cut(texts: Sequence[str]) -> list[list[int]]:
        encodings = tokeniser.encode_batch(list(texts), add_special_tokens=False)
        return [list(encoding.ids) for encoding in encodings]

    return cut


def task_stories(dataset: Dataset, task: Task) -> list[Story]:
    """Give the stories of a data set that a task takes, respaced, with items of their own."""
    stories = [_prepend_prompt(story, dataset.name, task) for story in _part(dataset, task.split)]
    if task.systems:
        stories = [story for story in stories if story.system in task.systems]
    stories = [story for story in stories if story.text]
    if not stories:
        raise SettingError(f"{dataset.name} has no stories for the task", "check split and systems")
    return stories[: task.most or None]


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
    return [story for story in dataset.stories if (story.item in tested) == (part == "test")]


def set_aside(dataset: Dataset) -> Dataset:
    """Give the stories of WritingPrompts that no reader learns from, so that it can be tried.

    Those with a prompt, of 150 to 450 words and with four line breaks or more: whether a reader
    notices a shuffled story, and none without its line breaks, is measured on such.
    """
    least, most = _ASIDE_WORDS
    stories = (
        story
        for story in dataset.stories
        if dataset.name == _ASIDE_FROM
        and story.prompt
        and least <= len(story.text.split()) <= most
        and story.text.count("\n") >= _ASIDE_BREAKS
    )
    return replace(dataset, stories=tuple(stories))


class UnratedStories:
    """Stories of corpora that resemble no rated one.

    A story is like another if they share half of their runs of five words, or the first sentence
    (which machine stories were given to go on from).
    """

    def __init__(self, rated: Iterable[Dataset]) -> None:
        stories = [story for dataset in rated for story in dataset.stories]
        self._texts = [story.text for story in stories]
        self._barred = {_key(_opening(text)) for story in stories for text in _openings(story)}
        self._unrated: dict[tuple[tuple[str, int], ...], list[Story]] = {}

    def stories(self, sources: Sequence[Dataset], *, kept_back: bool = False) -> list[Story]:
        """Give the stories of corpora, each once.

        Those that are kept back for measuring, by a digest of their text, are given instead with
        `kept_back`.
        """
        key = tuple((dataset.name, len(dataset.stories)) for dataset in sources)
        if key not in self._unrated:
            self._unrated[key] = self._search(sources)
        return [story for story in self._unrated[key] if is_kept_back(story.text) == kept_back]

    def allows(self, text: str) -> bool:
        """Whether a text does not begin as a rated story does."""
        return _key(_opening(text)) not in self._barred

    def _search(self, sources: Sequence[Dataset]) -> list[Story]:
        candidates = [
            replace(story, text=detokenise(story.text), id=f"{dataset.name}:{story.id}")
            for dataset in sources
            for story in dataset.stories
        ]
        groups = near_duplicate_groups([*self._texts, *(story.text for story in candidates)])
        taken = set(groups[: len(self._texts)])
        best: dict[int, Story] = {}
        for group, story in zip(groups[len(self._texts) :], candidates, strict=True):
            if group not in taken and (group not in best or _worth(story) > _worth(best[group])):
                best[group] = story
        unrated = [story for story in best.values() if story.text and self.allows(story.text)]
        if not unrated:
            raise InputError("no story is left to learn from", "check data and left_out")
        return unrated


def is_kept_back(text: str) -> bool:
    """Whether a text is for measuring alone: so falls the lot, whatever else is there."""
    digest = hashlib.blake2b(_key(text).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < KEPT_BACK * 2**64


def _part(dataset: Dataset, split: str) -> list[Story]:
    if dataset.name == "vist" and split:
        return vist_part(dataset, split)
    return [story for story in dataset.stories if str(story.item or story.id).startswith(split)]


def _prepend_prompt(story: Story, name: str, task: Task) -> Story:
    before = f"{story.prompt} " if task.with_prompt and story.prompt else ""
    item = f"{name}:{story.item or story.id}"
    return replace(story, text=detokenise(before + story.text), item=item)


def _openings(story: Story) -> tuple[str, ...]:
    return (story.text, *([story.prompt] if story.prompt else []))


def _opening(text: str) -> str:
    sentences = split_any_case(detokenise(text))
    return sentences[0] if sentences else ""


def _key(text: str) -> str:
    return _LETTERS.sub("", text.lower())


def _worth(story: Story) -> tuple[bool, bool, int]:
    """With names rather than masked, cased rather than not, then the longest."""
    named = PLACEHOLDER.search(story.text) is None
    return named, story.text != story.text.lower(), len(story.text)


def near_duplicate_groups(texts: Sequence[str], share: float = 0.5) -> list[int]:
    """Number the groups of texts that share 5-word runs: `share` of those of the shorter text.

    Runs do not cross a masked name. A text without a run is alone.
    """
    runs = [np.unique(word_runs(text)) for text in texts]
    sizes = np.array([len(codes) for codes in runs])
    groups = Groups(len(texts))
    for first, second in _alike(runs, sizes, share):
        groups.join(first, second)
    return groups.numbers()


def word_runs(text: str) -> Array:
    """Numbers of all runs of five words."""
    codes = []
    for part in PLACEHOLDER.split(_CONTRACTION.sub(r"\1", text.lower())):
        words = _WORD.findall(part.replace("'", "").replace("’", ""))
        if len(words) >= _ORDER:
            codes.append(gram_codes(word_codes(words), _ORDER)[-1])
    return np.concatenate(codes) if codes else np.zeros(0, dtype=np.uint64)


def _alike(runs: list[Array], sizes: Array, share: float) -> Iterable[tuple[int, int]]:
    """Pairs of texts with enough runs in common.

    Texts with the same run stand side by side once sorted; only the nearest 24 are compared, so
    that a phrase everybody uses costs little.
    """
    if not sizes.sum():
        return []
    codes, owners = np.concatenate(runs), np.repeat(np.arange(len(runs)), sizes)
    order = np.lexsort((owners, codes))
    codes, owners = codes[order], owners[order]
    pairs = []
    for lag in range(1, min(_LAGS, len(codes) - 1) + 1):
        same = np.flatnonzero(codes[lag:] == codes[:-lag])
        pairs.append(owners[same] * len(runs) + owners[same + lag])
    kinds, counts = np.unique(np.concatenate(pairs or [owners[:0]]), return_counts=True)
    first, second = np.divmod(kinds, len(runs))
    enough = counts >= share * np.minimum(sizes[first], sizes[second])
    return zip(first[enough].tolist(), second[enough].tolist(), strict=True)


class Groups:
    """Numbers that are joined step by step."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def top(self, number: int) -> int:
        """Give the smallest number of a group."""
        while self._above[number] != number:
            self._above[number] = self._above[self._above[number]]
            number = self._above[number]
        return number

    def join(self, number: int, other: int) -> None:
        """Make one group of two."""
        low, high = sorted((self.top(number), self.top(other)))
        self._above[high] = low

    def numbers(self) -> list[int]:
        """Give the group of every number."""
        return [self.top(number) for number in range(len(self._above))]
