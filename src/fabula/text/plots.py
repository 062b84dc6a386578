"""A story's plot as a line of words, one a sentence: what a writer plans before it writes.

Yao et al. (2019), Plan-and-Write: Towards better automatic storytelling. AAAI, 7378–7385. A title
leads to a line of words and the line to the story. The words are found by RAKE (Rose et al., 2010):
content words between function words and marks are candidates, and a word scores by how many others
it stands beside, over how often it comes.

    Plot: ferry # storm # rope # dawn

    The last ferry left at six …

The line stands before the story, in training and in use, and is tokenised apart from it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from fabula.text.craft.prose import word_list
from fabula.text.sentences import split_sentences
from fabula.text.words import words

PLOT = "Plot:"
_BETWEEN = " # "
# A plan is a line to be held in mind: a longer story has a word for several sentences.
MOST_WORDS = 10
_LONGEST_WORD = 40
_LEAST_LETTERS = 3
_PIECE = re.compile(r"[^.,;:!?…()\[\]\"“”«»—–\n]+")


def extract_plot(text: str, *, most: int = MOST_WORDS) -> list[str]:
    """Give a word for every sentence, in order; in a story of more than `most`, for every stretch.

    It is the word with the highest score that the plot has not yet; of equals the one that comes
    most often, then the longest, then the first. A sentence of function words alone has none.
    """
    sentences = split_sentences(text)
    phrases = [_list_phrases(sentence) for sentence in sentences]
    scores, counts = _score_words(phrase for found in phrases for phrase in found)
    plot: list[str] = []
    for first, last in _cut_evenly(len(sentences), most):
        found = [word for part in phrases[first:last] for phrase in part for word in phrase]
        if found:
            ranks = {
                word: (word in plot, -scores[word], -counts[word], -len(word)) for word in found
            }
            plot.append(min(found, key=ranks.__getitem__))
    return plot


def _list_phrases(sentence: str) -> list[list[str]]:
    """Give the runs of content words between function words and marks."""
    common = word_list("function")
    phrases = []
    for piece in _PIECE.findall(sentence):
        for is_content, run in groupby(words(piece), lambda word: _is_content(word, common)):
            if is_content:
                phrases.append(list(run))
    return phrases


def _is_content(word: str, common: Iterable[str]) -> bool:
    letters = sum(sign.isalpha() for sign in word)
    return word not in common and letters >= _LEAST_LETTERS and len(word) <= _LONGEST_WORD


def _score_words(phrases: Iterable[Sequence[str]]) -> tuple[dict[str, float], Counter[str]]:
    """Score words by degree over frequency, as RAKE does."""
    degrees: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for phrase in phrases:
        for word in phrase:
            degrees[word] += len(phrase)
            counts[word] += 1
    return {word: degrees[word] / counts[word] for word in counts}, counts


def _cut_evenly(count: int, most: int) -> list[tuple[int, int]]:
    """Cut a row of so many into at most so many stretches, as long as one another but for one."""
    parts = min(count, most)
    ends = [count * part // parts for part in range(parts + 1)] if parts else []
    return list(pairwise(ends))


def render_plot(plot: Sequence[str]) -> str:
    """Write the line of a plot, as it stands before a story; nothing where there is no word."""
    return f"{begin_plot(plot)}\n\n" if plot else ""


def begin_plot(plot: Sequence[str]) -> str:
    """Write the line as far as it is known, to be gone on with."""
    return f"{PLOT} {_BETWEEN.join(plot)}" if plot else PLOT


def read_plot(line: str, *, most: int = MOST_WORDS) -> list[str]:
    """Read the words of a line, whoever wrote it: with its head or without, parted by # or by
    commas; what is blank, or no word, is left out."""
    said = line.strip().split("\n")[0].strip()
    if said.lower().startswith(PLOT.lower()):
        said = said[len(PLOT) :]
    sign = "#" if "#" in said else ","
    found = [" ".join(part.split()) for part in said.split(sign)]
    return [word for word in found if any(map(str.isalnum, word)) and len(word) <= _LONGEST_WORD][
        :most
    ]
