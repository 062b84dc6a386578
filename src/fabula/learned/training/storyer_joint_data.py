"""What a joint training learns from: pairs of stories, and rated comments on aspects of stories."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.training.pairs import Pair, pairs_of, split_by_prompt
from fabula.learned.training.storyer_joint_recipe import JointRecipe
from fabula.learned.training.task_stories import read_dataset
from fabula.text.posts import normalise_post

_NOT_WORDS = re.compile(r"\W+")


@dataclass(frozen=True)
class RatedItem:
    """A rating of one aspect of a story, from 0 to 1, and the comment on it, if there is one.

    `chosen` are all aspects that readers of the story spoke of.
    """

    story: str
    prompt: str
    aspect: int
    rating: float
    comment: str
    chosen: tuple[int, ...]


@dataclass(frozen=True)
class JointData:
    """Pairs and rated comments; the augmented ones are for training alone."""

    pairs: tuple[Pair, ...] = ()
    items: tuple[RatedItem, ...] = ()
    augmented: tuple[RatedItem, ...] = ()

    def describe(self) -> dict[str, Any]:
        """Give counts and a digest, for the record."""
        digest = hashlib.sha256()
        for pair in self.pairs:
            digest.update(json.dumps([pair.better.text, pair.worse.text]).encode())
        for item in (*self.items, *self.augmented):
            digest.update(json.dumps(asdict(item)).encode())
        counts = {name: len(getattr(self, name)) for name in ("pairs", "items", "augmented")}
        return counts | {"sha256": digest.hexdigest()}


def prepare_joint(recipe: JointRecipe, data: Path | None = None) -> JointData:
    """Read the data sets that a recipe names: below `data`, where they were added, or by path."""
    pairs = [
        pair
        for name in recipe.pairs
        for pair in _pairs(read_dataset(name, data), cleaned=recipe.cleaned)
    ]
    items = [item for name in recipe.items for item in rated_items(rated_dataset(name, data))]
    augmented = [
        item for name in recipe.augmented for item in rated_items(rated_dataset(name, data))
    ]
    return JointData(tuple(pairs), tuple(items), tuple(augmented))


def rated_items(dataset: Dataset) -> list[RatedItem]:
    """Give the ratings of StoryER's aspects in a data set, from 1 to 5, with their notes."""
    stories = {story.id: story for story in dataset.stories}
    said = [one for one in dataset.ratings if one.aspect in ASPECTS and not math.isnan(one.value)]
    chosen: dict[str, set[int]] = {}
    for one in said:
        if not 1 <= one.value <= 5:
            where = f"{dataset.name}: {one.aspect} of story {one.story!r}"
            raise InputError(f"{where} is rated {one.value:g}", "rate from 1 to 5")
        chosen.setdefault(one.story, set()).add(ASPECTS.index(one.aspect))
    return [
        RatedItem(
            normalise_post(stories[one.story].text),
            prompt_key(stories[one.story], dataset.name),
            ASPECTS.index(one.aspect),
            (one.value - 1) / 4,
            " ".join(one.note.split()),
            tuple(sorted(chosen[one.story])),
        )
        for one in said
    ]


def prompt_key(story: Story, source: str) -> str:
    """Name a prompt by its words, the same in all data sets; without one by the item."""
    if story.prompt:
        return _NOT_WORDS.sub(" ", story.prompt.lower()).strip()
    return f"{source}:{story.item or story.id}"


def part_data(data: JointData, recipe: JointRecipe) -> tuple[JointData, JointData]:
    """Part data into what is learned from and what is held out, which share no prompt."""
    if not recipe.held_out:
        return data, JointData()
    lessons, held = _part_pairs(data.pairs, recipe)
    barred, known = ({_key(pair) for pair in some} for some in (held, lessons))
    free = {item.prompt for item in data.items} - barred - known
    drawn = sorted(free, key=lambda prompt: _lot(prompt, recipe.split_seed))
    barred |= set(drawn[: round(recipe.held_out * len(drawn))])
    # A text may stand under several prompts.
    lessons = [pair for pair in lessons if _key(pair) not in barred]
    kept = [item for item in data.items if item.prompt not in barred]
    more = [item for item in data.augmented if item.prompt not in barred]
    asked = [item for item in data.items if item.prompt in barred]
    most = recipe.most_held
    return (
        JointData(tuple(lessons), tuple(kept), tuple(more)),
        JointData(
            tuple(_few(held, most, recipe.split_seed)), tuple(_few(asked, most, recipe.split_seed))
        ),
    )


def _pairs(dataset: Dataset, *, cleaned: bool) -> list[Pair]:
    if cleaned:
        return pairs_of(dataset)
    stories = {
        story.id: replace(story, text=normalise_post(story.text)) for story in dataset.stories
    }
    return [Pair(stories[one.better], stories[one.worse], one.rater) for one in dataset.preferences]


def rated_dataset(name: str, data: Path | None) -> Dataset:
    """Read a data set, or a file in the form of StoryER's own."""
    from fabula.datasets import DATASETS, load_dataset

    if name not in DATASETS and Path(name).suffix in (".json", ".jsonl"):
        return load_dataset("storyer_ratings", name)
    return read_dataset(name, data)


def _part_pairs(pairs: tuple[Pair, ...], recipe: JointRecipe) -> tuple[list[Pair], list[Pair]]:
    if not pairs:
        return [], []
    shares = (1 - recipe.held_out, recipe.held_out)
    lessons, held = split_by_prompt(pairs, shares, seed=recipe.split_seed)
    return lessons, held


def _few(some: list[Any], most: int, seed: int) -> list[Any]:
    if len(some) <= most:
        return some
    places = sorted(random.Random(seed).sample(range(len(some)), most))
    return [some[place] for place in places]


def _key(pair: Pair) -> str:
    return prompt_key(pair.better, "pairs")


def _lot(prompt: str, seed: int) -> bytes:
    data = prompt.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, key=str(seed).encode()).digest()
