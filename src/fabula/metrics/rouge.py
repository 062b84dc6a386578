"""ROUGE: how much of a reference a text recalls, and how much of the text is in it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from fabula.core.card import Card
from fabula.core.metric import PairMetric, Value
from fabula.core.score import Missing, Reading, Status
from fabula.core.settings import Between, Means
from fabula.core.story import Story
from fabula.metrics._rouge_counts import (
    Hits,
    count_weighted_hits,
    lcs_hits,
    ngram_hits,
    perl_lines,
    perl_values,
    rouge_words,
    skip_hits,
)
from fabula.metrics._words import stop_words, stop_words_digest

_COLUMNS = {"1": 1, "2": 2, "3": 3, "4": 4, "L": "L", "W-1.2": "W", "S*": "S*", "SU*": "SU*"}
_ASPECTS = {"Recall": "recall", "Precision": "precision", "F-Score": "f"}


@dataclass(frozen=True)
class Rouge(PairMetric):
    """Overlap of a story with a reference in n-grams, subsequences or skip bigrams (Lin, 2004).

    `n` is 1 to 4 for n-grams, 'L' for the longest common subsequence, 'W' for the one that
    favours runs, 'S*' for ordered word pairs at any distance and 'SU*' for those with single
    words.
    """

    revision = 2
    card = Card(
        title="ROUGE",
        label="ROUGE-{n}",
        family="string",
        direction="higher",
        low=0.0,
        high=1.0,
        needs=("reference",),
        aspects=("recall", "precision", "f"),
        references="the reference with the best f counts",
        paper="Lin (2004). ROUGE: A package for automatic evaluation of summaries. "
        "Text Summarization Branches Out, 74–81.",
        formula="recall = hits / those in the reference; precision = hits / those in the story; "
        "f = (1 + beta²) · precision · recall / (recall + beta² · precision). For 'W' each share "
        "is taken to the power 1 / weight.",
        compat="ROUGE-1.5.5 as HANNA ran it: ASCII words, Porter's own stemmer, a line is a "
        "sentence, everything from the first `<` on is lost, five decimals.",
        quirks=(
            (
                "The default agrees with rouge-score 0.1.2 (stemmer on) for 1, 2 and L on one-line "
                "ASCII text, but for references without a single n-gram: `undefined` here, 0 there."
            ),
            (
                "compat, W: the recall's denominator is weighted twice, so a text beside itself "
                "recalls less than 1."
            ),
            "A story too short for a single n-gram recalls nothing and has an f of 0; its "
            "precision is 0 / 0, `undefined` (compat: 0).",
            "compat, SU*: the last word of each text does not count as a single word.",
            "compat: precision and recall are rounded to five decimals before f is taken.",
            "RoViST's ROUGE-L is that of the captioning toolkit: rouge(stem=False, beta=1.2, "
            "references='parts', tokenize='captions') joins the best precision and the best recall "
            "of any two references.",
        ),
        cannot_see="Whether the story is any good: another good story on the same prompt shares "
        "few words with the reference. Paraphrase, order beyond the n-gram, and sense.",
        typical=("rouge(n=1)", "rouge(n=2)", "rouge"),
        published={
            "hanna": {
                f"ROUGE-{label} {word}": (f"rouge(n={n!r}, compat=True)", aspect)
                for label, n in _COLUMNS.items()
                for word, aspect in _ASPECTS.items()
            }
        },
    )

    n: Literal[1, 2, 3, 4, "L", "W", "S*", "SU*"] = "L"
    stem: bool = True
    stop_words: Annotated[str, Means("'english', 'user' or a file of words to leave out")] = ""
    weight: Annotated[float, Between(1.0, 2.0)] = 1.2
    beta: Annotated[float, Between(0.01, 100.0), Means("how much recall counts in f")] = 1.0
    references: Annotated[
        Literal["best", "parts"],
        Means("the reference with the best f, or the best precision and recall of any"),
    ] = "best"
    tokenize: Literal["unicode", "captions"] = "unicode"

    def check(self) -> None:
        """Read the stop words: a list that cannot be read is refused."""
        _ = self._left_out
        if self.compat and (self.beta, self.references, self.tokenize) != (1.0, "best", "unicode"):
            problem = "compat does as ROUGE-1.5.5, without beta, references and tokenize"
            raise self.setting_error(problem, "leave them or compat out")

    def traits(self) -> dict[str, str]:
        """Tokeniser, stemmer and the stop words' digest."""
        dialect = ("martin" if self.compat else "nltk") if self.stem else "no"
        traits = {"tok": "ascii-lines" if self.compat else self.tokenize, "stem": dialect}
        if self.stop_words:
            traits["stop"] = stop_words_digest(self._left_out)
        return traits | {"refs": "best-f" if self.references == "best" else "best-p-best-r"}

    def value(self, story: Story) -> Reading:
        """Reading beside the reference with the best f, or the best parts of all readings."""
        if self.references == "best":
            return super().value(story)
        beside = [
            self._reading_of(self.compare, story.text, reference)
            for reference in story.nonblank_references
        ]
        known = [reading for reading in beside if not math.isnan(reading.values[1])]
        if not known:
            return self.best(beside)
        recall, precision, _ = map(max, zip(*(reading.values for reading in known), strict=True))
        return Reading((recall, precision, self._join(precision, recall)))

    def compare(self, text: str, reference: str) -> Value:
        """Recall, precision and f of a text beside one reference."""
        if self.compat:
            lines = [perl_lines(side, self.stem, self._left_out) for side in (text, reference)]
            return perl_values(self.n, lines[0], lines[1], self.weight)
        captions = self.tokenize == "captions"
        sides = [
            rouge_words(side, self.stem, self._left_out, captions) for side in (text, reference)
        ]
        return self.compare_words(sides[0], sides[1])

    def compare_words(self, text: list[str], reference: list[str]) -> Value:
        """Compare words that are stemmed already, stop words left out; not for `compat`."""
        hits = self._hits(text, reference)
        if not hits.reference:
            raise Missing(Status.UNDEFINED, f"the reference is too short for ROUGE-{self.n}")
        if not hits.text:
            note = f"the story is too short for ROUGE-{self.n}: no precision"
            return Reading((0.0, math.nan, 0.0), note=note)
        return self._values(hits)

    @cached_property
    def _left_out(self) -> frozenset[str]:
        return stop_words(self.stop_words)

    def _hits(self, text: list[str], reference: list[str]) -> Hits:
        if isinstance(self.n, int):
            return ngram_hits(text, reference, self.n)
        if self.n == "L":
            return lcs_hits(text, reference)
        if self.n == "W":
            return count_weighted_hits(text, reference, self.weight)
        pairs = skip_hits(text, reference)
        if self.n == "S*":
            return pairs
        singles = ngram_hits(text, reference, 1)
        return Hits(*(pair + single for pair, single in zip(pairs, singles, strict=True)))

    def _values(self, hits: Hits) -> tuple[float, float, float]:
        power = 1 / self.weight if self.n == "W" else 1.0
        recall = (hits.hits / hits.reference) ** power
        precision = (hits.hits / hits.text) ** power
        return recall, precision, self._join(precision, recall)

    def _join(self, precision: float, recall: float) -> float:
        """Weighted harmonic mean: with a `beta` above 1 recall counts more."""
        if not recall:
            return 0.0
        square = self.beta**2
        return (1 + square) * precision * recall / (recall + square * precision)
