"""Sentences one after the other: how they begin, and how long they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from fabula.text.craft.prose import (
    Finding,
    NothingToCheck,
    Prose,
    Sentence,
    Span,
    find_longest_run,
    put_number,
)
from fabula.text.words import locate_words

# So many sentences are needed before their order can be a habit.
_LEAST_SENTENCES = 5
_LEAST_SHOWN = 3
# Lengths that differ by no more than this sound alike.
_ALIKE_WORDS = 2
_ALIKE_SHARE = 0.2
# Shorter ones are cries and fragments, which are meant.
_LEAST_LENGTH = 4


def find_repeated_openings(prose: Prose) -> Finding:
    """Find sentences and paragraphs that begin with the word that the one before began with.

    Values: the share of told sentences that do; the longest run of such sentences; the longest
    run of such paragraphs. Those that begin with speech begin with nothing.
    """
    prose.need_words(english=False)
    openings = [one.words[0].word if one.begins_told else None for one in prose.sentences]
    follows = [pair for pair in pairwise(openings) if None not in pair]
    if len(prose.sentences) < _LEAST_SENTENCES or not follows:
        raise NothingToCheck("too few sentences that are told follow one another")
    share = sum(first == second for first, second in follows) / len(follows)
    run = find_longest_run(openings)
    blocks = _open_paragraphs(prose)
    block_run = find_longest_run([word for word, _ in blocks])
    values = (share, float(max(1, run[1] - run[0])), float(max(1, block_run[1] - block_run[0])))
    if run[1] - run[0] < _LEAST_SHOWN:
        return Finding(values)
    shown = prose.sentences[slice(*run)]
    word = prose.text[shown[0].words[0].start : shown[0].words[0].end]
    return Finding(
        values,
        spots=tuple((one.words[0].start, one.words[0].end) for one in shown),
        passage=(shown[0].start, shown[-1].end),
        said=f"{put_number(len(shown))} sentences in a row begin with “{word}”",
    )


def find_repeated_paragraphs(prose: Prose) -> Finding:
    """Find the paragraphs in a row that begin with one word; the same values, other places."""
    values = find_repeated_openings(prose).values
    blocks = _open_paragraphs(prose)
    start, end = find_longest_run([word for word, _ in blocks])
    if end - start < _LEAST_SHOWN:
        return Finding(values)
    spots = tuple(place for _, place in blocks[start:end])
    word = prose.text[slice(*spots[0])]
    said = f"{put_number(end - start)} paragraphs in a row begin with “{word}”"
    first = prose.sentence_at(spots[0][0])
    return Finding(values, spots, (first.start, first.end), said)


def _open_paragraphs(prose: Prose) -> list[tuple[str | None, Span]]:
    """First word and its place by paragraph; no word for one that begins with speech."""
    opened: list[tuple[str | None, Span]] = []
    spoken = {start for start, _ in prose.speech}
    for start, end in prose.paragraphs:
        first = locate_words(prose.text, start, end)[:1]
        if first:
            place = (first[0].start, first[0].end)
            before = range(start, first[0].start)
            opened.append((None if spoken.intersection(before) else first[0].word, place))
    return opened


def measure_rhythm(prose: Prose) -> Finding:
    """Measure how much the lengths of sentences vary, and the longest run of about one length.

    Values: standard deviation over mean of the sentences' words; the longest run of told
    sentences of four words or more whose lengths differ by at most two words or a fifth.
    """
    prose.need_words(english=False)
    lengths = [len(sentence.words) for sentence in prose.sentences]
    if len(lengths) < _LEAST_SENTENCES:
        raise NothingToCheck(f"fewer than {_LEAST_SENTENCES} sentences have no rhythm to measure")
    mean = sum(lengths) / len(lengths)
    variance = sum((length - mean) ** 2 for length in lengths) / len(lengths)
    start, end = _find_even_run(prose.sentences)
    values = (math.sqrt(variance) / mean, float(max(1, end - start)))
    if end - start < _LEAST_SHOWN:
        return Finding(values)
    shown, low, high = prose.sentences[start:end], min(lengths[start:end]), max(lengths[start:end])
    span = f"{low} words" if low == high else f"{low} to {high} words"
    return Finding(
        values,
        spots=tuple((one.start, one.end) for one in shown),
        passage=(shown[0].start, shown[-1].end),
        said=f"{put_number(len(shown))} sentences in a row have {span}",
    )


def find_even_lengths(prose: Prose) -> Finding:
    """Say how alike the lengths of sentences are; the same values, the first of the middle half."""
    finding = measure_rhythm(prose)
    ordered = sorted(prose.sentences, key=lambda sentence: len(sentence.words))
    quarter = len(ordered) // 4
    middle = ordered[quarter : len(ordered) - quarter]
    low, high = len(middle[0].words), len(middle[-1].words)
    span = f"{low} words" if low == high else f"{low} to {high} words"
    said = f"sentences hardly differ in length: every second one has {span}"
    places = sorted((one.start, one.end) for one in middle)
    return Finding(
        finding.values, tuple(places), finding.passage if finding.said else places[0], said
    )


def _find_even_run(sentences: Sequence[Sentence]) -> Span:
    """Give the longest run of told sentences of about one length, the first of several."""
    best, start, low, high = (0, 0), 0, math.inf, 0.0
    for at, sentence in enumerate(sentences):
        if not sentence.begins_told or len(sentence.words) < _LEAST_LENGTH:
            start, low, high = at + 1, math.inf, 0.0
            continue
        length = len(sentence.words)
        low, high = min(low, length), max(high, length)
        if not _are_alike(low, high):
            # Go back from here for as long as lengths are alike.
            low = high = length
            first = at
            while first > start:
                before = len(sentences[first - 1].words)
                if not _are_alike(min(low, before), max(high, before)):
                    break
                first, low, high = first - 1, min(low, before), max(high, before)
            start = first
        if at + 1 - start > best[1] - best[0]:
            best = (start, at + 1)
    return best


def _are_alike(low: float, high: float) -> bool:
    return high - low <= max(_ALIKE_WORDS, _ALIKE_SHARE * low)
