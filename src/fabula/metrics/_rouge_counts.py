"""What ROUGE counts in a text and a reference: hits, and how many there could have been."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from fabula.core.score import Missing, Status
from fabula.text.ngrams import count_shared_ngrams, count_shared_skip_bigrams
from fabula.text.stem import Stems
from fabula.text.subsequence import lcs_length, weigh_lcs, weighted_lcs
from fabula.text.words import ascii_words, bare_words, caption_words

# rouge-score and ROUGE-1.5.5 alike stem words of more than three letters only.
_SHORTEST = 3
_NLTK = Stems("nltk", _SHORTEST)
_MARTIN = Stems("martin", _SHORTEST)


@lru_cache(maxsize=256)
def rouge_words(
    text: str, stem: bool, left_out: frozenset[str], captions: bool = False
) -> list[str]:
    """Words of every script, or those of the captioning toolkit; stems as in rouge-score."""
    words = caption_words(text) if captions else bare_words(text)
    if left_out:
        words = [word for word in words if word not in left_out]
    return list(map(_NLTK.__getitem__, words)) if stem else words


@lru_cache(maxsize=256)
def perl_lines(text: str, stem: bool, left_out: frozenset[str]) -> list[list[str]]:
    """Words of each line as ROUGE-1.5.5 reads HANNA's pages: nothing after the first `<`."""
    lines = [ascii_words(line) for line in text.partition("<")[0].split("\n")]
    if left_out:
        lines = [[word for word in line if word not in left_out] for line in lines]
    return [[_MARTIN[word] for word in line] if stem else line for line in lines if line]


def number_words(*sides: Sequence[str]) -> list[list[int]]:
    """Give the words of several sequences as numbers, the same word the same number."""
    numbers: dict[str, int] = {}
    return [[numbers.setdefault(word, len(numbers)) for word in side] for side in sides]


Words = Sequence[str]

MOST_CELLS = 100_000_000


class Hits(NamedTuple):
    """Hits, and the most there could be in the reference and in the text."""

    hits: float
    reference: float
    text: float


def ngram_hits(text: Words, reference: Words, n: int) -> Hits:
    """Shared n-grams, clipped."""
    totals = (max(0, len(side) - n + 1) for side in (reference, text))
    return Hits(count_shared_ngrams(text, reference, n), *totals)


def lcs_hits(text: Words, reference: Words) -> Hits:
    """Words on the longest common subsequence."""
    return Hits(lcs_length(text, reference), len(reference), len(text))


def count_weighted_hits(text: Words, reference: Words, weight: float) -> Hits:
    """Weight of the common subsequence; a whole text of k words would weigh k**weight."""
    refuse_long(text, reference)
    sides = number_words(reference, text)
    total = weigh_lcs(sides[0], sides[1], weight)
    return Hits(total, len(reference) ** weight, len(text) ** weight)


def skip_hits(text: Words, reference: Words) -> Hits:
    """Shared pairs of words in order, at any distance, clipped."""
    shared = _shared_skips(tuple(text), tuple(reference))
    return Hits(shared, *(len(side) * (len(side) - 1) // 2 for side in (reference, text)))


def refuse_long(
    text: Sequence[object], reference: Sequence[object], most: int = MOST_CELLS
) -> None:
    """Refuse pairs whose table would take too long and too much memory."""
    if len(text) * len(reference) > most:
        raise Missing(
            Status.TOO_LONG,
            f"{len(text):,} × {len(reference):,} words are more than the limit of "
            f"{most:,} word pairs",
        )


@lru_cache(maxsize=8)
def _shared_skips(text: tuple[str, ...], reference: tuple[str, ...]) -> int:
    """Shared skip bigrams, remembered because S* and SU* both ask."""
    refuse_long(text, reference)
    return count_shared_skip_bigrams(*number_words(text, reference))


Lines = list[list[str]]

# Tables of single lines are small, and small tables cost more a cell.
MOST_CELLS_BY_LINE = 25_000_000
_MOST_LINE_PAIRS = 100_000


def perl_values(n: int | str, text: Lines, reference: Lines, weight: float) -> tuple[float, ...]:
    """Recall, precision and F, rounded as the Perl script prints them."""
    recall, precision = _shares(n, text, reference, weight)
    recall, precision = round(recall, 5), round(precision, 5)
    if not recall or not precision:
        return recall, precision, 0.0
    return recall, precision, round(2 * precision * recall / (precision + recall), 5)


def _shares(n: int | str, text: Lines, reference: Lines, weight: float) -> tuple[float, float]:
    if n == "W":
        return _weighted_shares(text, reference, weight)
    hits = _hits(n, text, reference)
    return _share(hits.hits, hits.reference), _share(hits.hits, hits.text)


def _hits(n: int | str, text: Lines, reference: Lines) -> Hits:
    flat_text, flat_reference = list(chain(*text)), list(chain(*reference))
    if isinstance(n, int):
        return ngram_hits(flat_text, flat_reference, n)
    if n == "L" and len(text) <= 1 and len(reference) <= 1:
        return lcs_hits(flat_text, flat_reference)
    if n == "L":
        runs = _marked_runs(text, reference, 1.0)
        return Hits(sum(runs), len(flat_reference), len(flat_text))
    pairs = skip_hits(flat_text, flat_reference)
    if n == "S*":
        return pairs
    # Quirk: the last word of each text is not counted as a single word.
    singles = ngram_hits(flat_text[:-1], flat_reference[:-1], 1)
    return Hits(*(pair + single for pair, single in zip(pairs, singles, strict=True)))


def _weighted_shares(text: Lines, reference: Lines, weight: float) -> tuple[float, float]:
    """Shares of the weighted subsequence. Quirk: the recall's base is weighted twice."""
    weight_hit = sum(run**weight for run in _marked_runs(text, reference, weight))
    base = sum(len(line) ** weight for line in reference)
    size = sum(map(len, text))
    return (
        _share(weight_hit, base**weight) ** (1 / weight),
        _share(weight_hit, size**weight) ** (1 / weight),
    )


def _marked_runs(text: Lines, reference: Lines, weight: float) -> list[int]:
    """Lengths of runs of reference words that lie on a common subsequence with any line.

    A word counts while both texts still have it to give.
    """
    _refuse_many_lines(text, reference)
    numbers = number_words(*reference, *text)
    sources, targets = numbers[: len(reference)], numbers[len(reference) :]
    budget, other = Counter(chain(*sources)), Counter(chain(*targets))
    runs: list[int] = []
    for source in sources:
        marks = _union_marks(source, targets, weight)
        run = 0
        for word, marked in zip(source, marks, strict=True):
            counts = marked and budget[word] > 0 and other[word] > 0
            if counts:
                budget[word] -= 1
                other[word] -= 1
                run += 1
            elif run:
                runs.append(run)
                run = 0
        runs.append(run)
    return runs


def _union_marks(source: list[int], targets: list[list[int]], weight: float) -> Any:
    marks = np.zeros(len(source), dtype=bool)
    for target in targets:
        marks |= weighted_lcs(source, target, weight)[1]
    return marks


def _refuse_many_lines(text: Lines, reference: Lines) -> None:
    """Refuse texts of so many lines that comparing each with each would take too long."""
    pairs = len(text) * len(reference)
    most = MOST_CELLS if pairs <= 1 else MOST_CELLS_BY_LINE
    refuse_long(list(chain(*text)), list(chain(*reference)), most)
    if pairs > _MOST_LINE_PAIRS:
        note = f"{pairs:,} pairs of lines are more than the limit of {_MOST_LINE_PAIRS:,}"
        raise Missing(Status.TOO_LONG, note)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
