"""Long sentences cut to what can be quoted, without a letter changed."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.learned.comments._lexicon import word_list
from fabula.learned.comments.places import PlacedWord

MOST_WORDS = 18
MOST_CHARACTERS = 200
_LEAST_WORDS = 7
_PAUSES = ",;:—–"

Span = tuple[int, int]


def cut_to(text: str, span: Span, words: Sequence[PlacedWord], focus: Sequence[int]) -> Span:
    """Give the part of a sentence that holds most of the words in focus, by their numbers."""
    if len(words) <= MOST_WORDS:
        return _characters(text, span, from_end=bool(focus) and focus[0] > 0)
    first = _best_window(len(words), focus)
    last = first + MOST_WORDS - 1
    start = span[0] if first == 0 else words[first].start
    if last == len(words) - 1:
        return _characters(text, (start, span[1]), from_end=True)
    last = _pause_before(text, words, (max(focus[0], first), last))
    return _characters(text, (start, words[last].end), from_end=False)


def _best_window(count: int, focus: Sequence[int]) -> int:
    """Where the window with most words in focus begins; the first of the best."""
    starts = range(count - MOST_WORDS + 1)
    return max(starts, key=lambda at: sum(at <= one < at + MOST_WORDS for one in focus))


def _pause_before(text: str, words: Sequence[PlacedWord], reach: Span) -> int:
    """Number of the last word before a pause, if enough words stand before it; else the last.

    Function words at an end that is no pause are left out.
    """
    least, last = reach
    for number in range(last, max(last - MOST_WORDS + _LEAST_WORDS, least) - 1, -1):
        between = text[words[number].end : words[number + 1].start]
        if any(pause in between for pause in _PAUSES):
            return number
    while last > least and words[last].word in word_list("stop"):
        last -= 1
    return last


def _characters(text: str, span: Span, *, from_end: bool) -> Span:
    """Keep to so many characters, where a language does not part its words."""
    start, end = span
    if end - start > MOST_CHARACTERS:
        start, end = (end - MOST_CHARACTERS, end) if from_end else (start, start + MOST_CHARACTERS)
    quote = text[start:end]
    start += len(quote) - len(quote.lstrip())
    return start, start + len(quote.strip())
