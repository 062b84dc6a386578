"""Negatives as UNION makes them (Guan and Huang, 2020): one to four corruptions of a good story."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.core.errors import SettingError
from fabula.learned.negatives.corpus import Corpus
from fabula.learned.negatives.draw import Seed, draw_order, generator
from fabula.learned.negatives.negative import Negative, apply_in_turn
from fabula.learned.negatives.union_changes import (
    negate,
    repeat_grams,
    repeat_sentences,
    replace_sentences,
    replace_words,
    shuffle,
)
from fabula.text.antonyms import Antonyms
from fabula.text.sentences import split_sentences

__all__ = [
    "NEEDS",
    "OLDER",
    "TECHNIQUES",
    "USUAL",
    "UnionRecipe",
    "corrupt",
    "negate",
    "part",
    "repeat",
    "repeat_grams",
    "repeat_sentences",
    "replace",
    "replace_sentences",
    "replace_words",
    "shuffle",
]

TECHNIQUES = ("repeat", "replace", "shuffle", "negate")
NEEDS = {
    "repeat": "two different sentences after the first, or one with a word",
    "replace": "a sentence after the first, and another story or a word of the corpus",
    "shuffle": "two different sentences after the first",
    "negate": "an English sentence after the first with a verb that takes a negation",
}


@dataclass(frozen=True)
class UnionRecipe:
    """How often each corruption is drawn, and how many of them a story gets (1, 2, 3 or 4)."""

    counts: tuple[float, ...] = (0.5, 0.2, 0.2, 0.1)
    repeat: float = 0.1
    replace: float = 0.3
    shuffle: float = 0.4
    negate: float = 0.2
    repeat_sentences: float = 0.7  # else n-grams are repeated
    replace_sentences: float = 0.5  # else words are replaced
    word_share: float = 0.15
    longest_gram: int = 4

    def __post_init__(self) -> None:
        for name in ("repeat_sentences", "replace_sentences", "word_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingError(f"{name}={getattr(self, name)} is no share", "give 0 to 1")
        weights = [getattr(self, name) for name in TECHNIQUES]
        for name, found in (("counts", list(self.counts)), ("weights", weights)):
            if min(found, default=0) < 0 or sum(found) <= 0:
                raise SettingError(f"{name} {found} cannot be drawn by", "give some above 0")
        if len(self.counts) > len(TECHNIQUES) or self.longest_gram < 1:
            problem = f"counts {self.counts}, longest_gram={self.longest_gram} will not do"
            raise SettingError(problem, "give at most four counts, and n-grams of a word or more")


USUAL = UnionRecipe()
# What the authors' code holds beside the setting in use.
OLDER = UnionRecipe((0.2, 0.4, 0.3, 0.1), repeat=0.6, replace=0.15, shuffle=0.15, negate=0.1)


def part(prompt: str, text: str, *, compat: bool = False) -> list[str] | None:
    """Part a story into sentences with its prompt first.

    With compat as UNION does it for WritingPrompts: at every full stop, which then stands apart,
    and None for stories of fewer than four sentences, which it leaves out.
    """
    if not compat:
        return [*([prompt] if prompt else []), *split_sentences(text)]
    first = f"{prompt} ." if prompt[-1:].isalpha() else prompt
    found = [first, *(f"{one.strip()} ." for one in text.split(".") if one.strip())]
    return found if len(found) >= 4 else None


def repeat(
    sentences: Sequence[str], *, seed: Seed, how: UnionRecipe = USUAL, compat: bool = False
) -> list[str] | None:
    """Repeat a sentence, or words within sentences; None where neither can be done."""
    rng = generator(seed)
    ways = (
        lambda: repeat_sentences(sentences, seed=rng),
        lambda: repeat_grams(sentences, seed=rng, longest=how.longest_gram, compat=compat),
    )
    return _either(ways, rng.random() < how.repeat_sentences, compat=compat)


def replace(
    sentences: Sequence[str],
    *,
    others: Corpus,
    seed: Seed,
    how: UnionRecipe = USUAL,
    antonyms: Antonyms | None = None,
    compat: bool = False,
) -> list[str] | None:
    """Replace sentences by another story's, or words; None where neither can be done."""
    rng = generator(seed)
    ways = (
        lambda: replace_sentences(sentences, others=others, seed=rng),
        lambda: replace_words(
            sentences,
            others=others,
            seed=rng,
            antonyms=antonyms,
            share=how.word_share,
            compat=compat,
        ),
    )
    return _either(ways, rng.random() < how.replace_sentences, compat=compat)


def corrupt(
    sentences: Sequence[str],
    *,
    others: Corpus,
    seed: Seed,
    how: UnionRecipe = USUAL,
    antonyms: Antonyms | None = None,
    compat: bool = False,
) -> Negative:
    """Make a negative of a story whose first sentence stays as it is.

    A technique that the story does not admit of (`NEEDS`) is named in `impossible`, and another
    one stands in for it, if there is one; with compat nothing stands in, the original's slips are
    made, and `changed` is False more often.
    """
    rng = generator(seed)
    (count,) = rng.choices(range(1, len(how.counts) + 1), how.counts)
    order = draw_order(rng, {name: getattr(how, name) for name in TECHNIQUES})

    def change(name: str, found: list[str]) -> list[str] | None:
        if name == "repeat":
            return repeat(found, seed=rng, how=how, compat=compat)
        if name == "shuffle":
            return shuffle(found, seed=rng, compat=compat)
        if name == "negate":
            return negate(found, seed=rng, compat=compat)
        return replace(found, others=others, seed=rng, how=how, antonyms=antonyms, compat=compat)

    given = list(sentences)
    done = apply_in_turn(given, order, count=count, change=change, stand_in=not compat)
    changed = done.result != given
    return Negative(tuple(done.result), done.techniques, changed, done.impossible)


def _either(
    ways: tuple[Callable[[], list[str] | None], Callable[[], list[str] | None]],
    first: bool,
    *,
    compat: bool,
) -> list[str] | None:
    """Take one of two ways; where it leads nowhere the other, but not with compat."""
    one, other = ways if first else ways[::-1]
    found = one()
    return other() if found is None and not compat else found
