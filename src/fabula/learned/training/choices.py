"""Corpora as choices between two texts, so that votes, ratings and endings share a scale.

A choice is between texts of one prompt or context where there is one, else between texts of about
one length. Nothing is said twice: of texts that were rated, those with a higher mean are better.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.story import Story
from fabula.learned.training.pairs import pairs_of
from fabula.learned.training.stories import read_dataset
from fabula.text.detokenise import detokenise
from fabula.text.layout import lay_out
from fabula.text.words import words

Array = np.ndarray[Any, np.dtype[Any]]
Question = Literal["liked", "coherent", "crafted", "spoiled"]
Choice = tuple[str, str, str]  # item, id of the better text, id of the worse

CONTEXT_WORDS = 60
_DRAWS = 12  # pairs a story is in, where stories share no item
_MOST_PER_ITEM = 30


@dataclass(frozen=True)
class Choices:
    """The choices of one corpus: places of the better and the worse text, item and weight of each.

    `units` number the items: what is drawn again is an item. Weights of one corpus sum to the
    number of its choices. `groups` are what folds may not part: a text's item, or itself where
    texts share none.
    """

    corpus: str
    question: Question
    texts: tuple[str, ...]
    pairs: Array  # (choices, 2)
    units: Array  # (choices,)
    weights: Array  # (choices,)
    groups: tuple[str, ...] = ()  # by text
    data: str = ""  # the data set that they are of

    def __len__(self) -> int:
        """How many choices there are."""
        return len(self.pairs)


@dataclass(frozen=True)
class _Source:
    """Which choices a corpus gives: of which data set and aspect, made how."""

    data: str
    question: Question
    make: Callable[[Dataset], tuple[Mapping[str, str], list[Choice], Array | None]]
    shares_items: bool = True  # a choice is between texts of one item


def gather_choices(data: Path | None, names: Iterable[str] = ()) -> list[Choices]:
    """Read the corpora of these names, or all of them, as choices."""
    sets: dict[str, Dataset] = {}
    gathered = []
    for name in names or CORPORA:
        source = CORPORA[name]
        if source.data not in sets:
            sets[source.data] = read_dataset(source.data, data)
        texts, choices, weights = source.make(sets[source.data])
        gathered.append(_number(name, source, texts, choices, weights))
    return gathered


@lru_cache(maxsize=65_536)
def flatten(text: str) -> str:
    """Give a text as readers read it: detokenised, in one line, whatever its layout was."""
    return " ".join(lay_out(detokenise(text), "plain").split())


def _number(
    name: str,
    source: _Source,
    texts: Mapping[str, str],
    choices: Sequence[Choice],
    weights: Array | None,
) -> Choices:
    used = list(dict.fromkeys(one for _, *both in choices for one in both))
    place = {one: number for number, one in enumerate(used)}
    items = {item: number for number, item in enumerate(dict.fromkeys(c[0] for c in choices))}
    pairs = np.array([[place[better], place[worse]] for _, better, worse in choices])
    units = np.array([items[item] for item, _, _ in choices])
    weights = np.ones(len(choices)) if weights is None else weights
    weights = weights * len(choices) / weights.sum()
    own = {one: one for one in used}
    if source.shares_items:
        own = {one: item for item, *both in choices for one in both}
    groups = tuple(f"{source.data}:{own[one]}" for one in used)
    flat = tuple(flatten(texts[one]) for one in used)
    return Choices(name, source.question, flat, pairs, units, weights, groups, source.data)


def _choose_by_votes(dataset: Dataset) -> tuple[dict[str, str], list[Choice], None]:
    pairs = pairs_of(dataset)
    texts = {story.id: story.text for pair in pairs for story in (pair.better, pair.worse)}
    return texts, [(pair.item, pair.better.id, pair.worse.id) for pair in pairs], None


def _choose_by_endings(dataset: Dataset) -> tuple[dict[str, str], list[Choice], None]:
    texts = {story.id: story.text for story in dataset.stories}
    items = {story.id: str(story.item) for story in dataset.stories}
    choices = [(items[one.better], one.better, one.worse) for one in dataset.preferences]
    return texts, choices, None


def _choose_by_ratings(
    aspect: str, *, split: str = "", with_prompt: bool = False
) -> Callable[[Dataset], tuple[dict[str, str], list[Choice], None]]:
    """Of every two texts of an item, the one with the higher mean rating is better."""

    def make(dataset: Dataset) -> tuple[dict[str, str], list[Choice], None]:
        means = _mean_ratings(dataset, aspect)
        items: dict[str, list[str]] = {}
        texts = {}
        for story in dataset.stories:
            item = str(story.item or story.id)
            if story.id in means and item.startswith(split):
                items.setdefault(item, []).append(story.id)
                texts[story.id] = _join(story) if with_prompt else story.text
        choices = []
        for item, members in items.items():
            pairs = [p for p in combinations(members, 2) if means[p[0]] != means[p[1]]]
            if len(pairs) > _MOST_PER_ITEM:
                pairs = random.Random(item).sample(pairs, _MOST_PER_ITEM)
            for one, other in pairs:
                better, worse = (one, other) if means[one] > means[other] else (other, one)
                choices.append((item, better, worse))
        return texts, choices, None

    return make


def _choose_among_all(
    aspect: str,
) -> Callable[[Dataset], tuple[dict[str, str], list[Choice], None]]:
    """Of stories that share no item each is held against some others."""

    def make(dataset: Dataset) -> tuple[dict[str, str], list[Choice], None]:
        means = _mean_ratings(dataset, aspect)
        texts = {story.id: story.text for story in dataset.stories if story.id in means}
        rng, names = random.Random(0), sorted(texts)
        choices = []
        for name in names:
            for other in rng.sample(names, min(_DRAWS, len(names))):
                if means[name] != means[other]:
                    better, worse = sorted((name, other), key=lambda one: -means[one])
                    choices.append((name, better, worse))
        return texts, choices, None

    return make


def _choose_of_one_length(
    aspect: str, split: str
) -> Callable[[Dataset], tuple[dict[str, str], list[Choice], None]]:
    """Of stories that grow better as they grow longer those of about one length are compared."""

    def make(dataset: Dataset) -> tuple[dict[str, str], list[Choice], None]:
        means = _mean_ratings(dataset, aspect)
        texts = {
            story.id: story.text
            for story in dataset.stories
            if story.id in means and story.id.startswith(split)
        }
        order = sorted(texts, key=lambda one: (len(words(texts[one])), one))
        choices = []
        for place in range(4):  # neighbours, and next but one …
            for one, other in zip(order, order[place + 1 :], strict=False):
                if means[one] != means[other]:
                    better, worse = sorted((one, other), key=lambda name: -means[name])
                    choices.append((one, better, worse))
        return texts, choices, None

    return make


def _choose_suggestions(dataset: Dataset) -> tuple[dict[str, str], list[Choice], Array]:
    """Of a model's suggestions the one that was taken; where it stood in the list must not count.

    Choices of the earlier and of the later one have the same weight together.
    """
    stories = {story.id: story for story in dataset.stories}
    places = {score.story: score.value for score in dataset.scores}
    requests: dict[str, list[Any]] = {}
    for one in dataset.preferences:
        requests.setdefault(one.better, []).append(one)
    chosen = random.Random(0).sample(sorted(requests), min(1000, len(requests)))
    choices = [
        (str(stories[one.better].item), one.better, one.worse)
        for taken in chosen
        for one in requests[taken]
    ]
    texts = {one: _join(stories[one]) for _, *both in choices for one in both}
    earlier = np.array([places[better] < places[worse] for _, better, worse in choices])
    weights = np.where(earlier, 1 / max(earlier.sum(), 1), 1 / max((~earlier).sum(), 1))
    return texts, choices, weights


def _join(story: Story) -> str:
    """Put the end of what stood before in front of a text."""
    before = " ".join((story.prompt or "").split()[-CONTEXT_WORDS:])
    return f"{before} {story.text}".strip()


def _mean_ratings(dataset: Dataset, aspect: str) -> dict[str, float]:
    said: dict[str, list[float]] = {}
    for score in dataset.ratings:
        if score.aspect == aspect and not np.isnan(score.value):
            said.setdefault(score.story, []).append(score.value)
    return {story: float(np.mean(values)) for story, values in said.items()}


CORPORA: Mapping[str, _Source] = {
    "storyer": _Source("storyer", "liked", _choose_by_votes),
    "hanna engagement": _Source("hanna", "liked", _choose_by_ratings("engagement")),
    "mans_wp overall": _Source("mans", "liked", _choose_by_ratings("overall", split="wp:")),
    "narratives 7": _Source(
        "narratives", "liked", _choose_of_one_length("ideas_7", "7:"), shares_items=False
    ),
    "narratives 8": _Source(
        "narratives", "liked", _choose_of_one_length("ideas_8", "8:"), shares_items=False
    ),
    "coauthor": _Source("coauthor", "liked", _choose_suggestions),
    "hanna coherence": _Source("hanna", "coherent", _choose_by_ratings("coherence")),
    "mans_roc": _Source(
        "mans", "coherent", _choose_by_ratings("overall", split="roc:", with_prompt=True)
    ),
    "mans_wp": _Source("mans", "coherent", _choose_by_ratings("overall", split="wp:")),
    "union": _Source("union", "coherent", _choose_among_all("reasonable"), shares_items=False),
    "storycloze": _Source("storycloze", "coherent", _choose_by_endings),
    "coherence_roc300": _Source(
        "coherence", "coherent", _choose_among_all("coherence"), shares_items=False
    ),
    "lamp": _Source("lamp", "crafted", _choose_by_ratings("overall")),
}
