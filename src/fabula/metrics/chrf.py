"""chrF and chrF++: overlap in characters, and in words as well."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Annotated

from fabula.core.card import Card
from fabula.core.metric import PairMetric
from fabula.core.score import Missing, Status
from fabula.core.settings import Between
from fabula.text.ngrams import count_shared_char_ngrams, count_shared_ngrams

Count = tuple[int, int, int]


@dataclass(frozen=True)
class Chrf(PairMetric):
    """F-score of character n-grams shared with a reference; with `word_order` 2 it is chrF++."""

    card = Card(
        title="chrF",
        family="string",
        direction="higher",
        low=0.0,
        high=100.0,
        needs=("reference",),
        references="the best reference counts",
        paper="Popović (2015). chrF: character n-gram F-score for automatic MT evaluation. "
        "WMT, 392–395. Popović (2017). chrF++: words helping character n-grams. WMT, 612–618.",
        formula="100 · (1 + β²) · P · R / (β² · P + R), with P and R averaged over the orders "
        "that both texts are long enough for",
        compat="HANNA's column, which is chrF3: β = 3, blanks kept, a newline after both texts.",
        quirks=(
            (
                "The default equals sacrebleu's chrF2 to 1e-9; a file of its own because it is "
                "several times as fast."
            ),
            "The paper of HANNA says chrF++; its column holds no word n-grams.",
        ),
        cannot_see="Meaning and quality; much of a value is what any two English texts share.",
        published={"hanna": {"chrF": ("chrf(compat=True)", "")}},
    )

    char_order: Annotated[int, Between(1, 20)] = 6
    word_order: Annotated[int, Between(0, 20)] = 0
    beta: Annotated[float, Between(0.0, 1000.0)] = 2.0
    whitespace: bool = False
    lowercase: bool = False

    def check(self) -> None:
        """Under compat the settings are HANNA's."""
        given = (self.char_order, self.word_order, self.beta, self.whitespace, self.lowercase)
        if self.compat and given != (6, 0, 2.0, False, False):
            raise self.setting_error("compat has settings of its own", "leave the others out")

    def traits(self) -> dict[str, str]:
        """How references are joined."""
        return {"refs": "best"}

    def compare(self, text: str, reference: str) -> float:
        """F-score of a text beside one reference."""
        texts = [side.lower() if self.lowercase else side for side in (text, reference)]
        counts = [count for count in self._counts(*texts) if count[1] and count[2]]
        if not counts:
            raise Missing(Status.UNDEFINED, "the texts are too short for any n-gram")
        precision = sum(shared / in_text for shared, in_text, _ in counts) / len(counts)
        recall = sum(shared / in_reference for shared, _, in_reference in counts) / len(counts)
        return self._f(precision, recall)

    def _f(self, precision: float, recall: float) -> float:
        factor = (3.0 if self.compat else self.beta) ** 2
        weighted = factor * precision + recall
        return 100 * (1 + factor) * precision * recall / weighted if weighted else 0.0

    def _counts(self, text: str, reference: str) -> list[Count]:
        """Shared n-grams and totals of both texts, for every order of characters and words."""
        chars = [self._characters(side) for side in (text, reference)]
        shared = count_shared_char_ngrams(chars[0], chars[1], self.char_order)
        counts = [(hits, *_totals(chars, n)) for n, hits in enumerate(shared, 1)]
        words = [_split_words(side) for side in (text, reference)] if self.word_order else [[], []]
        for n in range(1, self.word_order + 1):
            counts.append((count_shared_ngrams(words[0], words[1], n), *_totals(words, n)))
        return counts

    def _characters(self, text: str) -> str:
        if self.compat:
            return text + "\n"
        return text if self.whitespace else "".join(text.split())


def _totals(sides: list[str] | list[list[str]], n: int) -> tuple[int, int]:
    """Number of n-grams in each of the two texts."""
    first, second = (max(0, len(side) - n + 1) for side in sides)
    return first, second


def _split_words(text: str) -> list[str]:
    """Words with a punctuation mark at their end, or else their beginning, parted from them."""
    return [part for word in text.split() for part in _part_mark(word)]


def _part_mark(word: str) -> tuple[str, ...]:
    if len(word) == 1:
        return (word,)
    if word[-1] in string.punctuation:
        return word[:-1], word[-1]
    return (word[0], word[1:]) if word[0] in string.punctuation else (word,)
