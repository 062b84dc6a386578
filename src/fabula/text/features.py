"""Surface features: what can be counted of a story, as one row of numbers for learned readers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from fabula.text.ngrams import ngrams
from fabula.text.sentences import speeches, split_sentences
from fabula.text.words import words

# Goes up whenever a feature is added, or gives another number for the same text.
FEATURES_VERSION = 1

_WINDOW = 50
_LONG_LETTERS = 7
_WRAPPED_CHARACTERS = 100
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LINE_END = re.compile(r"[\r\u2028\u2029]\n?")
_ELLIPSIS = re.compile(r"\.{3,}|…+|(?:\. ){2,}\.")
_KEPT_TEXTS = 4096  # several times the stories that readers are given at once
_LONGEST_KEPT = 20_000  # characters: whole books would fill the memory
_FIRST_PERSON = frozenset("i me my mine myself i'm i've i'd i'll".split())


def features(text: str) -> dict[str, float]:
    """Count the surface features of a text; all are finite, whatever the text.

    Logarithms are of 1 + count, lengths are in words (of a word: in characters), marks are per
    word, all others shares. Where there is no word, what is divided by words is divided by 1.
    """
    tokens = words(text)
    parts = paragraphs(text)
    lengths = [len(words(sentence)) for part in parts for sentence in split_sentences(part)]
    lengths = [length for length in lengths if length]
    count, kinds = max(1, len(tokens)), len(set(tokens))
    spoken = sum(len(words(speech)) for speech in speeches(text))
    return {
        "log_words": math.log1p(len(tokens)),
        "log_unique_words": math.log1p(kinds),
        "type_token_ratio": kinds / count,
        "moving_type_token_ratio": moving_type_token_ratio(tokens, _WINDOW),
        "sentence_length": len(tokens) / max(1, len(lengths)),
        "sentence_spread": _spread(lengths),
        "quoted_share": min(1.0, spoken / count),
        "repeated_trigrams": share_repeated(tokens, 3),
        "log_paragraphs": math.log1p(len(parts)),
        "paragraph_length": len(tokens) / max(1, len(parts)),
        "word_length": sum(map(len, tokens)) / count,
        "long_words": sum(len(word) >= _LONG_LETTERS for word in tokens) / count,
        "ellipses": len(_ELLIPSIS.findall(text)) / count,
        "exclamations": _marks(text, "!！") / count,
        "questions": _marks(text, "?？") / count,
        "commas": _marks(text, ",，、") / count,
        "first_person": sum(word in _FIRST_PERSON for word in tokens) / count,
    }


def feature_row(text: str) -> list[float]:
    """Give the features in the order of `FEATURE_NAMES`."""
    return list(_count(text) if len(text) > _LONGEST_KEPT else _count_once(text))


def _count(text: str) -> tuple[float, ...]:
    return tuple(features(text).values())


_count_once = lru_cache(_KEPT_TEXTS)(_count)  # all readers ask of the same stories in turn


def paragraphs(text: str) -> list[str]:
    """Part a text into paragraphs: its lines, or its blocks where lines are wrapped.

    Lines are wrapped where blank lines part them into blocks and none is longer than 100
    characters.
    """
    text = _LINE_END.sub("\n", text)
    lines = _keep_worded(text.split("\n"))
    if "\n" in text and max(map(len, lines), default=0) <= _WRAPPED_CHARACTERS:
        blocks = _keep_worded(_BLANK_LINE.split(text))
        return blocks if len(blocks) > 1 else lines
    return lines


def moving_type_token_ratio(tokens: Sequence[str], window: int) -> float:
    """Mean share of different words in a window that is moved along one word at a time.

    Fewer words than the window are one window; no word at all gives 0.
    """
    if len(tokens) < window:
        return len(set(tokens)) / max(1, len(tokens))
    counts = Counter(tokens[:window])
    total = kinds = len(counts)
    for leaving, entering in zip(tokens, tokens[window:], strict=False):
        counts[leaving] -= 1
        kinds += (counts[entering] == 0) - (counts[leaving] == 0)
        counts[entering] += 1
        total += kinds
    return total / (len(tokens) - window + 1) / window


def share_repeated(tokens: Sequence[str], n: int) -> float:
    """Share of the different n-grams that occur more than once; 0 where there is none."""
    counts = Counter(ngrams(tokens, n))
    return sum(count > 1 for count in counts.values()) / max(1, len(counts))


def _keep_worded(parts: list[str]) -> list[str]:
    return [part.strip() for part in parts if any(map(str.isalnum, part))]


def _spread(lengths: Sequence[int]) -> float:
    """Standard deviation, of all rather than of a sample."""
    if not lengths:
        return 0.0
    mean = sum(lengths) / len(lengths)
    return math.sqrt(sum((length - mean) ** 2 for length in lengths) / len(lengths))


def _marks(text: str, marks: str) -> int:
    return sum(map(text.count, marks))


FEATURE_NAMES = tuple(features(""))
# Those that tell how a text is set rather than what it says.
PARAGRAPH_FEATURES = ("log_paragraphs", "paragraph_length")
