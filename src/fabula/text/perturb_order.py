"""Perturbations of whole sentences and of the order of words; what cannot be done is None."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Sequence

from fabula.text.names import capitalised_within
from fabula.text.perturb_parts import draw_places, find_words, part_sentences, put_into

_UNSPACED_ENDS = "。！？｡"
_CLOSINGS = "\"'”’»)]」』）"


def shuffle(text: str, *, share: float = 1.0, seed: int = 0) -> str | None:
    """Put a share of the sentences into another order; what stands between them stays."""
    parted = part_sentences(text)
    found = list(parted.sentences)
    if len(set(found)) < 2:
        return None
    rng = random.Random(seed)
    order = rng.sample(range(len(found)), len(found))
    wanted = max(2, round(share * len(found)))
    while len({found[place] for place in order[:wanted]}) < 2:
        wanted += 1
    places = sorted(order[:wanted])
    moved = _reordered([found[place] for place in places], rng)
    for place, sentence in zip(places, moved, strict=True):
        found[place] = sentence
    return parted.joined(found)


def shuffle_words(text: str, *, share: float = 1.0, seed: int = 0) -> str | None:
    """Put the words of a share of the sentences into another order; marks and blanks stay."""
    parted = part_sentences(text)
    names = capitalised_within(text)
    rng = random.Random(seed)
    found = list(parted.sentences)
    able = [place for place, sentence in enumerate(found) if _has_two_words(sentence)]
    for place in draw_places(rng, able, share * len(found)):
        found[place] = _words_moved(found[place], names, rng)
    changed = parted.joined(found)
    return None if changed == text else changed


def repeat(text: str, *, share: float = 0.3, seed: int = 0) -> str | None:
    """Say a share of the sentences twice, one after the other."""
    parted = part_sentences(text)
    found = list(parted.sentences)
    if not found:
        return None
    for place in draw_places(random.Random(seed), range(len(found)), share * len(found)):
        found[place] += _blank_after(found[place]) + found[place]
    return parted.joined(found)


def drop_ending(text: str, *, share: float = 0.2, seed: int = 0) -> str | None:
    """Leave out the last sentences; chance plays no part."""
    parted = part_sentences(text)
    count = len(parted.sentences)
    kept = count - max(1, round(share * count))
    if kept < 1:
        return None
    pairs = zip(parted.gaps, parted.sentences[:kept], strict=False)
    return "".join(part for pair in pairs for part in pair)


def truncate(text: str, *, share: float = 0.5, seed: int = 0) -> str | None:
    """Break off after a word within a sentence, so that a share of the words is lost."""
    words = find_words(text)
    kept = len(words) - max(1, round(share * len(words)))
    if kept < 1:
        return None
    ends = _sentence_ends(text)
    within = [n for n in range(1, len(words)) if not _crosses(ends, words[n - 1][1], words[n][0])]
    kept = min(within, key=lambda n: (abs(n - kept), n), default=kept)
    return text[: words[kept - 1][1]]


def _reordered(parts: Sequence[str], rng: random.Random) -> list[str]:
    """Give parts, of which two differ, in another order than theirs."""
    moved = list(parts)
    while moved == list(parts):
        rng.shuffle(moved)
    return moved


def _has_two_words(sentence: str) -> bool:
    return len({sentence[start:end].lower() for start, end in find_words(sentence)}) > 1


def _words_moved(sentence: str, names: set[str], rng: random.Random) -> str:
    """Move the words; a capital that only marks the beginning stays at the beginning."""
    spans = find_words(sentence)
    written = [sentence[start:end] for start, end in spans]
    begins_large = written[0][:1].isupper()
    if begins_large and not _keeps_capital(written[0], names):
        written[0] = written[0][:1].lower() + written[0][1:]
    moved = _reordered(written, rng)
    if begins_large:
        moved[0] = moved[0][:1].upper() + moved[0][1:]
    return put_into(sentence, dict(zip(spans, moved, strict=True)))


def _keeps_capital(word: str, names: set[str]) -> bool:
    head = word.replace("’", "'").partition("'")[0]
    return head == "I" or head in names or (len(head) > 1 and head.isupper())


def _blank_after(sentence: str) -> str:
    return "" if sentence.rstrip(_CLOSINGS)[-1:] in _UNSPACED_ENDS else " "


def _sentence_ends(text: str) -> list[int]:
    parted = part_sentences(text)
    ends, place = [], 0
    for gap, sentence in zip(parted.gaps, parted.sentences, strict=False):
        place += len(gap) + len(sentence)
        ends.append(place)
    return ends


def _crosses(ends: Sequence[int], before: int, after: int) -> bool:
    """Whether a sentence ends between two places."""
    place = bisect_left(ends, before)
    return place < len(ends) and ends[place] <= after
