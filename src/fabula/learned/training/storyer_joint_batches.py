"""What a step of a joint training takes: it follows from the seed and the step's number alone."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain
from operator import add

from fabula.learned.negatives.corpus import Corpus
from fabula.learned.negatives.union import corrupt
from fabula.learned.training.storyer_joint_data import JointData, RatedItem
from fabula.learned.training.storyer_joint_recipe import JointRecipe
from fabula.text.detokenise import split_any_case


@dataclass(frozen=True)
class JointBatch:
    """Pairs by their texts, a negative of each worse one ("" where none could be made), items."""

    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    items: tuple[RatedItem, ...] = ()


@dataclass(frozen=True)
class Deck:
    """Pairs and items that steps are dealt from."""

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

    def dealt(self, step: int) -> JointBatch:
        """Deal the batch of a step, counted from 0; pairs come once an epoch, items at random."""
        batch = self._pairs(step) if self.recipe.prefers else JointBatch()
        if not self.recipe.speaks:
            return batch
        rng = random.Random(f"{self.recipe.seed} items {step}")
        return replace(batch, items=tuple(rng.choices(self.items, k=self.recipe.rows)))

    def whole(self) -> list[JointBatch]:
        """Give all pairs and items in order, once, as batches of pairs and batches of items."""
        rows, pairs, items = self.recipe.rows, self.data.pairs, self.data.items
        found = []
        for start in range(0, len(pairs) if self.recipe.prefers else 0, rows):
            found.append(self._of_pairs(range(start, min(start + rows, len(pairs))), "held"))
        for start in range(0, len(items) if self.recipe.speaks else 0, rows):
            found.append(JointBatch(items=items[start : start + rows]))
        return found

    @cached_property
    def _corpus(self) -> Corpus:
        """The less liked stories, whose sentences and words negatives take."""
        texts = dict.fromkeys(pair.worse.text for pair in self.data.pairs)
        return Corpus.of([list(chain.from_iterable(_lines(text))) for text in texts])

    def _pairs(self, step: int) -> JointBatch:
        epoch, place = divmod(step, self.steps_per_epoch)
        order = _shuffled(len(self.data.pairs), f"{self.recipe.seed} pairs {epoch}")
        rows = self.recipe.rows
        return self._of_pairs(order[place * rows : (place + 1) * rows], str(step))

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
        """Corrupt a story; its lines end where they ended, or it would be told by them."""
        lines = _lines(text)
        made = corrupt(list(chain.from_iterable(lines)), others=self._corpus, seed=seed)
        if not made.changed:
            return ""
        ends = {*accumulate(map(len, lines))}
        signs = ["\n" if place in ends else " " for place in range(1, len(made.sentences) + 1)]
        return "".join(map(add, made.sentences, signs)).strip()


def _lines(text: str) -> list[list[str]]:
    """Part a story into lines of sentences."""
    return [split_any_case(line) for line in text.split("\n")]


@lru_cache(maxsize=2)
def _shuffled(count: int, seed: str) -> tuple[int, ...]:
    return tuple(random.Random(seed).sample(range(count), count))
