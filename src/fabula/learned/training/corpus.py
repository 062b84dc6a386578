"""Stories to train on and stories held out, with nothing in common."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabula.core.errors import InputError, SettingError
from fabula.learned.training.near_duplicates import PLACEHOLDER, Groups, near_duplicate_groups
from fabula.learned.training.recipe import Recipe

_STRAY = re.compile(r"[\s@]+$")


@dataclass(frozen=True)
class Text:
    """A story's text, where it comes from and which item it belongs to."""

    source: str
    text: str
    item: str | None = None


@dataclass(frozen=True)
class Split:
    """Texts to train on by source, texts held out by data set, and what became of the others."""

    train: Mapping[str, tuple[str, ...]]
    held_out: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, Mapping[str, int]]


def read_texts(source: str, data: Path | None = None) -> list[Text]:
    """Read the stories of a source from its folder below `data`, or from where it was added."""
    from fabula.datasets import load_dataset

    name, _, system = source.partition(":")
    stories = load_dataset(name, data_folder(name, data) if data else None).stories
    texts = [
        Text(source, _STRAY.sub("", story.text), story.item and f"{name}:{story.item}")
        for story in stories
        if not system or story.system == system
    ]
    if not texts:
        raise SettingError(f"data set {name} has no stories of {system!r}", "check the sources")
    return texts


def data_folder(name: str, data: Path) -> Path | None:
    """Folder below `data` with a file that the data set's card names; its own name comes first."""
    from fabula.datasets import DATASETS

    files = DATASETS.get(name).CARD.files if name in DATASETS else ()
    for folder in (data / name, data, *sorted(data.iterdir())):
        if any(any(folder.glob(f"{file}*")) for file in files):
            return folder
    return None


def read_split(recipe: Recipe, data: Path | None = None) -> Split:
    """Read all that a recipe names and part it."""
    names = {*recipe.sources, *recipe.held_out, *recipe.left_out}
    return split_texts([text for name in sorted(names) for text in read_texts(name, data)], recipe)


def split_texts(texts: Sequence[Text], recipe: Recipe) -> Split:
    """Part texts: groups of near duplicates, and items, stand on one side as a whole.

    Of near duplicates one is kept: with its names rather than masked, cased rather than not, then
    the longest. Held-out texts have no masked names, which are too easy to guess.
    """
    twins = near_duplicate_groups([one.text for one in texts])
    kin = _with_items(texts, twins)
    barred = {twins[i] for i, one in enumerate(texts) if one.source in recipe.left_out}
    held: dict[str, list[int]] = {}
    for name, wanted in recipe.held_out.items():
        found = [i for i, one in enumerate(texts) if one.source == name and twins[i] not in barred]
        held[name] = _drawn(found, kin, texts=texts, wanted=wanted, seed=recipe.split_seed)
    kin_of_held = {kin[i] for found in held.values() for i in found}
    fates = _fates(texts, twins, recipe=recipe, barred=barred, aside=(kin, kin_of_held))
    train = {
        source: tuple(one.text for one, fate in zip(texts, fates, strict=True) if fate == source)
        for source in recipe.sources
    }
    counts = {
        source: Counter(
            "trained on" if fate == source else fate
            for one, fate in zip(texts, fates, strict=True)
            if one.source == source
        )
        for source in recipe.sources
    }
    kept = {
        name: tuple(texts[i].text for i in _best(found, twins, texts))
        for name, found in held.items()
    }
    return Split(train, kept, counts)


def _with_items(texts: Sequence[Text], twins: Sequence[int]) -> list[int]:
    groups, first = Groups(len(texts)), dict[str, int]()
    for i, one in enumerate(texts):
        groups.join(i, twins[i])
        if one.item is not None:
            groups.join(i, first.setdefault(one.item, i))
    return groups.numbers()


def _drawn(
    found: list[int], kin: Sequence[int], *, texts: Sequence[Text], wanted: int, seed: int
) -> list[int]:
    """Draw whole groups until enough texts are there."""
    members: dict[int, list[int]] = {}
    for i in found:
        members.setdefault(kin[i], []).append(i)
    named = [one for one in members.values() if not any(_masked(texts[i]) for i in one)]
    # By digest, so that the same stories are drawn whatever other sources are there.
    named.sort(key=lambda one: min(_lot(texts[i], seed) for i in one))
    drawn: list[int] = []
    for one in named:
        if len(drawn) >= wanted:
            return drawn
        drawn += one
    if len(drawn) < wanted:
        raise InputError(f"{wanted} held-out stories are wanted of {len(drawn)}", "ask for fewer")
    return drawn


def _fates(
    texts: Sequence[Text],
    twins: Sequence[int],
    *,
    recipe: Recipe,
    barred: set[int],
    aside: tuple[Sequence[int], set[int]],
) -> list[str]:
    """Say of every text that it is trained on (by its source's name), or why not."""
    kin, kin_of_held = aside
    fates = ["other" for _ in texts]
    free = []
    for i, one in enumerate(texts):
        if one.source not in recipe.sources:
            continue
        if kin[i] in kin_of_held:
            fates[i] = "held out, or like one held out"
        elif twins[i] in barred and one.source not in recipe.left_out:
            fates[i] = "left out"
        else:
            fates[i] = "near duplicate"
            free.append(i)
    for i in _best(free, twins, texts):
        fates[i] = texts[i].source
    return fates


def _best(found: Iterable[int], twins: Sequence[int], texts: Sequence[Text]) -> list[int]:
    """Keep one text of every group of near duplicates."""
    best: dict[int, int] = {}
    for i in found:
        kept = best.setdefault(twins[i], i)
        if _worth(texts[i]) > _worth(texts[kept]):
            best[twins[i]] = i
    return sorted(best.values())


def _worth(one: Text) -> tuple[bool, bool, int]:
    return not _masked(one), one.text != one.text.lower(), len(one.text)


def _lot(one: Text, seed: int) -> bytes:
    return hashlib.blake2b(one.text.encode(), key=str(seed).encode()).digest()


def _masked(one: Text) -> bool:
    return PLACEHOLDER.search(one.text) is not None
