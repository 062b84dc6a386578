"""What a joint training learns from: pairs of stories, rated comments, and batches of both."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import accumulate, chain
from operator import add
from pathlib import Path
from typing import Any, TypeVar

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, UserError
from fabula.core.score import Score
from fabula.core.story import Story, count_text
from fabula.datasets import list_findings
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.negatives.corpus import Corpus
from fabula.learned.negatives.manplts import manipulate
from fabula.learned.negatives.union import corrupt
from fabula.learned.training.examples import digest_of
from fabula.learned.training.joint_recipe import JointRecipe
from fabula.learned.training.loop import Report, Sampler
from fabula.learned.training.pairs import Pair, pairs_of, split_by_prompt
from fabula.learned.training.stories import read_dataset
from fabula.text.antonyms import Antonyms, read_wordnet
from fabula.text.detokenise import split_any_case
from fabula.text.posts import clean_post, normalise_post

_NOT_WORDS = re.compile(r"\W+")
_CORRUPT = {"union": corrupt, "manplts": manipulate}

Example = TypeVar("Example")


@dataclass(frozen=True)
class RatedItem:
    """A rating of one aspect of a story, from 0 to 1, and the comment on it, if there is one.

    `chosen` are all aspects that the same rater chose to speak of, and `ratings` those of them.
    """

    story: str
    prompt: str
    aspect: int
    rating: float
    comment: str
    chosen: tuple[int, ...]
    ratings: tuple[float, ...]


@dataclass(frozen=True)
class JointData:
    """Pairs and rated comments; the augmented ones are for training alone.

    `antonyms` are what negatives may turn words into.
    """

    pairs: tuple[Pair, ...] = ()
    items: tuple[RatedItem, ...] = ()
    augmented: tuple[RatedItem, ...] = ()
    antonyms: Antonyms | None = None

    def describe(self) -> dict[str, Any]:
        """Give counts and a digest, for the record."""
        digest = hashlib.sha256()
        for pair in self.pairs:
            digest.update(json.dumps([pair.better.text, pair.worse.text]).encode())
        for item in (*self.items, *self.augmented):
            digest.update(json.dumps(asdict(item)).encode())
        counts = {name: len(getattr(self, name)) for name in ("pairs", "items", "augmented")}
        if self.antonyms is not None:
            counts["antonyms"] = len(self.antonyms.pairs)
        return counts | {"sha256": digest.hexdigest()}


def prepare_joint(
    recipe: JointRecipe, data: Path | None = None, *, report: Report = lambda line: None
) -> JointData:
    """Read the data sets that a recipe names: below `data`, where they were added, or by path.

    What is odd about the files, such as pairs that come again, is told to `report`.
    """

    def read(names: Sequence[str], load: Callable[[str, Path | None], Dataset]) -> list[Dataset]:
        sets = [load(name, data) for name in names]
        for name, dataset in zip(names, sets, strict=True):
            for finding in list_findings(dataset):
                report(f"{name}: {finding}")
        return sets

    sets = read(recipe.pairs, _read_pairs)
    by_path = [_pairs(dataset, cleaned=recipe.cleaned) for dataset in sets]
    pairs = _join_paths(recipe.pairs, by_path, _identify_pair, called="pair", report=report)
    items, augmented = (
        _join_paths(
            names,
            [
                read_rated_items(dataset, cleaned=recipe.cleaned)
                for dataset in read(names, read_rated_dataset)
            ],
            lambda item: item,
            called="rated comment",
            report=report,
        )
        for names in (recipe.items, recipe.augmented)
    )
    antonyms = _find_antonyms() if recipe.negatives and recipe.antonyms else None
    return JointData(pairs, items, augmented, antonyms)


def read_rated_items(dataset: Dataset, *, cleaned: bool = True) -> list[RatedItem]:
    """Give the ratings of StoryER's aspects in a data set, from 1 to 5, with their notes."""
    stories = {
        story.id: replace(story, text=_read_post(story.text, cleaned=cleaned))
        for story in dataset.stories
    }
    ratings = [
        rating
        for rating in dataset.ratings
        if rating.aspect in ASPECTS and not math.isnan(rating.value)
    ]
    opinions: dict[tuple[str, str], dict[int, float]] = {}
    for rating in ratings:
        if not 1 <= rating.value <= 5:
            where = f"{dataset.name}: {rating.aspect} of story {rating.story!r}"
            raise InputError(f"{where} is rated {rating.value:g}", "rate from 1 to 5")
        by_aspect = opinions.setdefault((rating.story, rating.scorer), {})
        by_aspect[ASPECTS.index(rating.aspect)] = (rating.value - 1) / 4

    def item_of(rating: Score) -> RatedItem:
        story, opinion = stories[rating.story], opinions[rating.story, rating.scorer]
        chosen = sorted(opinion)
        return RatedItem(
            story.text,
            prompt_key(story, dataset.name),
            ASPECTS.index(rating.aspect),
            (rating.value - 1) / 4,
            " ".join(rating.note.split()),
            tuple(chosen),
            tuple(opinion[aspect] for aspect in chosen),
        )

    return [item_of(rating) for rating in ratings]


def _read_post(text: str, *, cleaned: bool) -> str:
    return clean_post(text).text if cleaned else normalise_post(text)


def _find_antonyms() -> Antonyms:
    """Read WordNet's; where it is not here, the error says how to get it or to do without."""
    from fabula.models import path_of

    try:
        return read_wordnet(path_of("wordnet") / "corpora" / "wordnet")
    except UserError as error:
        remedy = "run: fabula models pull wordnet; or say antonyms = false in the recipe"
        raise InputError(
            f"negatives take antonyms from WordNet ({error.problem})", remedy
        ) from None


def prompt_key(story: Story, source: str) -> str:
    """Name a prompt by its words, the same in all data sets; without one by the item."""
    if story.prompt:
        return _NOT_WORDS.sub(" ", story.prompt.lower()).strip()
    return f"{source}:{story.item or story.id}"


def part_data(data: JointData, recipe: JointRecipe) -> tuple[JointData, JointData]:
    """Part data into what is learned from and what is held out, which share no prompt."""
    if not recipe.held_out:
        return data, JointData()
    learned, held = _part_pairs(data.pairs, recipe)
    barred, known = ({_key(pair) for pair in pairs} for pairs in (held, learned))
    free = {item.prompt for item in data.items} - barred - known
    drawn = sorted(free, key=lambda prompt: digest_of(prompt, recipe.split_seed))
    barred |= set(drawn[: round(recipe.held_out * len(drawn))])
    # A text may stand under several prompts.
    learned = [pair for pair in learned if _key(pair) not in barred]
    items = [item for item in data.items if item.prompt not in barred]
    more = [item for item in data.augmented if item.prompt not in barred]
    asked = [item for item in data.items if item.prompt in barred]
    most = recipe.most_held
    return (
        JointData(tuple(learned), tuple(items), tuple(more), data.antonyms),
        JointData(
            tuple(_few(held, most, recipe.split_seed)),
            tuple(_few(asked, most, recipe.split_seed)),
            antonyms=data.antonyms,
        ),
    )


def _pairs(dataset: Dataset, *, cleaned: bool) -> list[Pair]:
    if cleaned:
        return pairs_of(dataset)
    stories = {
        story.id: replace(story, text=_read_post(story.text, cleaned=False))
        for story in dataset.stories
    }
    return [
        Pair(stories[preference.better], stories[preference.worse], preference.rater)
        for preference in dataset.preferences
    ]


def _join_paths(
    names: Sequence[str],
    by_path: Sequence[Sequence[Example]],
    identify: Callable[[Example], Hashable],
    *,
    called: str,
    report: Report,
) -> tuple[Example, ...]:
    """Join the examples of several paths; those of a path before are left out, and counted.

    Within a path they were left out when it was read.
    """
    joined: list[Example] = []
    known: set[Hashable] = set()
    for name, examples in zip(names, by_path, strict=True):
        keys = [identify(example) for example in examples]
        new = [example for example, key in zip(examples, keys, strict=True) if key not in known]
        if count := len(examples) - len(new):
            report(f"{name}: Left out: {count_text(count, called)} of a path before.")
        joined += new
        known.update(keys)
    return tuple(joined)


def _identify_pair(pair: Pair) -> Hashable:
    return _key(pair), pair.better.text, pair.worse.text, pair.rater


def _read_pairs(name: str, data: Path | None) -> Dataset:
    """Read a data set, a file of pairs, or a folder of the whole release."""
    from fabula.datasets import DATASETS, load_dataset

    if name not in DATASETS and Path(name).exists():
        return load_dataset("storyer", name)
    return read_dataset(name, data)


def read_rated_dataset(name: str, data: Path | None) -> Dataset:
    """Read a data set, a file of rated comments, or a folder of the whole release."""
    from fabula.datasets import DATASETS, load_dataset

    path = Path(name)
    if name not in DATASETS and (path.is_dir() or path.suffix in (".json", ".jsonl")):
        return load_dataset("storyer_ratings", name)
    return read_dataset(name, data)


def _part_pairs(pairs: tuple[Pair, ...], recipe: JointRecipe) -> tuple[list[Pair], list[Pair]]:
    if not pairs:
        return [], []
    shares = (1 - recipe.held_out, recipe.held_out)
    lessons, held = split_by_prompt(pairs, shares, seed=recipe.split_seed)
    return lessons, held


def _few(examples: list[Any], most: int, seed: int) -> list[Any]:
    if len(examples) <= most:
        return examples
    places = sorted(random.Random(seed).sample(range(len(examples)), most))
    return [examples[place] for place in places]


def _key(pair: Pair) -> str:
    return prompt_key(pair.better, "pairs")


@dataclass(frozen=True)
class JointBatch:
    """Pairs by their texts, a negative of each worse one ("" where none could be made), items."""

    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    items: tuple[RatedItem, ...] = ()

    @property
    def size(self) -> int:
        """Pairs and items."""
        return len(self.worse) + len(self.items)


@dataclass(frozen=True)
class JointSampler:
    """The batches of pairs and rated comments: a step's follows from the seed and its number."""

    data: JointData
    recipe: JointRecipe

    @cached_property
    def items(self) -> tuple[RatedItem, ...]:
        """All rated comments that are learned from."""
        more = self.data.augmented if self.recipe.augmentation else ()
        return (*self.data.items, *more)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that the recipe learns from."""
        pairs, items = self.data.pairs, self.items
        return not (self.recipe.prefers and pairs) and not (self.recipe.speaks and items)

    @property
    def steps_per_epoch(self) -> int:
        """Steps that pass through all pairs once, or through all items where there are no pairs."""
        return max(1, math.ceil((len(self.data.pairs) or len(self.items)) / self.recipe.rows))

    @property
    def steps(self) -> int:
        """Steps of the whole training."""
        return max(1, round(self.recipe.epochs * self.steps_per_epoch))

    def batch(self, step: int) -> JointBatch:
        """Give the batch of a step, counted from 0; pairs come once an epoch, items at random."""
        batch = JointBatch()
        if self.recipe.prefers:
            batch = self._of_pairs(self._pair_numbers.batch(step), str(step))
        if not self.recipe.speaks:
            return batch
        rng = random.Random(f"{self.recipe.seed} items {step}")
        return replace(batch, items=tuple(rng.choices(self.items, k=self.recipe.rows)))

    def batches_in_order(self) -> list[JointBatch]:
        """Give all pairs and items in order, once, as batches of pairs and batches of items."""
        rows, pairs, items = self.recipe.rows, self.data.pairs, self.data.items
        batches = []
        for start in range(0, len(pairs) if self.recipe.prefers else 0, rows):
            batches.append(self._of_pairs(range(start, min(start + rows, len(pairs))), "held"))
        for start in range(0, len(items) if self.recipe.speaks else 0, rows):
            batches.append(JointBatch(items=items[start : start + rows]))
        return batches

    @cached_property
    def _corpus(self) -> Corpus:
        """The less liked stories, whose sentences and words negatives take."""
        texts = dict.fromkeys(pair.worse.text for pair in self.data.pairs)
        return Corpus.of([list(chain.from_iterable(_lines(text))) for text in texts])

    @cached_property
    def _pair_numbers(self) -> Sampler[int]:
        count = len(self.data.pairs)

        def order(epoch: int) -> list[int]:
            return random.Random(f"{self.recipe.seed} pairs {epoch}").sample(range(count), count)

        return Sampler(order, self.recipe.rows, keep_last=True)

    def _of_pairs(self, numbers: Sequence[int], key: str) -> JointBatch:
        pairs = [self.data.pairs[number] for number in numbers]
        worse = tuple(pair.worse.text for pair in pairs)
        negatives = [
            self._negative(text, f"{self.recipe.seed} {key} {number}")
            for text, number in zip(worse, numbers, strict=True)
            if self.recipe.negatives
        ]
        return JointBatch(tuple(pair.better.text for pair in pairs), worse, tuple(negatives))

    def _negative(self, text: str, seed: str) -> str:
        """Corrupt a story; its lines end where they ended, or it would be told by them.

        How is drawn by lot; where a story does not admit of that, it is done in the other way.
        """
        lines, rng = _lines(text), random.Random(seed)
        sentences = list(chain.from_iterable(lines))
        for name in rng.sample(self.recipe.corruptions, len(self.recipe.corruptions)):
            negative = _CORRUPT[name](
                sentences, others=self._corpus, seed=rng, antonyms=self.data.antonyms
            )
            if negative.changed:
                break
        else:
            return ""
        ends = {*accumulate(map(len, lines))}
        signs = ["\n" if place in ends else " " for place in range(1, len(negative.sentences) + 1)]
        return "".join(map(add, negative.sentences, signs)).strip()


def _lines(text: str) -> list[list[str]]:
    """Part a story into lines of sentences."""
    return [split_any_case(line) for line in text.split("\n")]
