"""Stories spoiled as a whole: what no reader would take for the same story, or for one at all."""

from __future__ import annotations

import random
import re

from fabula.text.names import find_names
from fabula.text.places import find_words, part_sentences, put_into, reorder

_LOOPED = 2  # sentences that a loop says again and again
_BLOCK = 4  # sentences that stand for a paragraph where there are none
_STOCK_NAMES = ("Walter", "Ingrid", "Desmond", "Yolanda", "Percy", "Beatrix")


def loop(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Say the first two sentences again and again, until the text is as long as before."""
    sentences = part_sentences(text).sentences
    if len(sentences) <= _LOOPED:
        return None
    head = " ".join(sentences[:_LOOPED])
    looped = " ".join([head] * max(2, round(len(text.strip()) / len(head))))
    return None if looped == text else looped


def mix_words(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Put all words of the text into a chance order; marks and blanks stay."""
    spans = find_words(text)
    written = [text[start:end] for start, end in spans]
    if len(set(written)) < 2:
        return None
    return put_into(text, dict(zip(spans, reorder(written, random.Random(seed)), strict=True)))


def swap_paragraphs(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Put the paragraphs into another order; a text of one is parted at every fourth sentence."""
    rng, lines = random.Random(seed), text.split("\n")
    places = [place for place, line in enumerate(lines) if line.strip()]
    if len(places) > 1:
        own = [lines[place] for place in places]
        if len(set(own)) < 2:
            return None
        for place, line in zip(places, reorder(own, rng), strict=True):
            lines[place] = line
        return "\n".join(lines)
    sentences = part_sentences(text).sentences
    starts = range(0, len(sentences), _BLOCK)
    blocks = [" ".join(sentences[start : start + _BLOCK]) for start in starts]
    return " ".join(reorder(blocks, rng)) if len(set(blocks)) > 1 else None


def change_name(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Call the one who is named most often by another name, from the middle on."""
    names = find_names(text)
    if not names:
        return None
    mentions = [found.span() for found in re.finditer(rf"(?<!\w){re.escape(names[0])}(?!\w)", text)]
    free = [name for name in _STOCK_NAMES if name not in text]
    if len(mentions) < 2 or not free:
        return None
    other = random.Random(seed).choice(free)
    return put_into(text, dict.fromkeys(mentions[len(mentions) // 2 :], other))


def graft(text: str, *, share: float = 0.5, seed: int = 0, other: str = "") -> str | None:
    """Go on after the first part with the last part of another story; chance plays no part."""
    own, others = part_sentences(text).sentences, part_sentences(other).sentences
    count = round(share * len(own))
    taken = others[-max(1, round(share * len(others))) :]
    if len(own) < 2 or not others or not 0 < count < len(own):
        return None
    return " ".join([*own[: len(own) - count], *taken])
