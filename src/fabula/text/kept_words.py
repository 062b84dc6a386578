"""Which words and names of a text stand in another: of what kind is what people keep?

A word is kept where it lies in a block that both texts share and that is not of stop words alone,
as USER has it (Akoury et al., 2020). What a word or a name is says a tagger: these functions take
places in the text, whoever found them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from fabula.text.diff import matching_blocks
from fabula.text.ngrams import ngrams
from fabula.text.sentences import split_sentences
from fabula.text.words import bare_words

Place = tuple[int, int]
_WORD = re.compile(r"[^\W_]+")
# What may stand before a name, or after it, without being a part of it.
_ARTICLES = frozenset({"a", "an", "the"})
# A sentence counts as kept in one of another text by runs of so many words.
_GROUP = 3


class SharedBlock(NamedTuple):
    """Words that stand in both texts: where, with what follows each, and whether they count."""

    left: Place
    right: Place
    counts: bool


class WordKinds(NamedTuple):
    """How many words of each part of speech a text has, and how many of them were kept."""

    generated: Counter[str]
    kept: Counter[str]


class NameCounts(NamedTuple):
    """How many names that were kept the story had before, and how many are new."""

    known: int
    new: int


def share_blocks(
    text: str, other: str, *, stop_words: Collection[str] = frozenset()
) -> list[SharedBlock]:
    """Give the blocks of words that two texts share, in order; of stop words alone they do not
    count."""
    (words, left_at), (others, right_at) = _locate(text), _locate(other)
    return [
        SharedBlock(
            (left_at[block.left], left_at[block.left + block.size]),
            (right_at[block.right], right_at[block.right + block.size]),
            any(word not in stop_words for word in words[block.left : block.left + block.size]),
        )
        for block in matching_blocks(words, others, autojunk=False)
    ]


def _locate(text: str) -> tuple[list[str], list[int]]:
    """Words, and where each begins with what stands before the first; at last the end."""
    found = list(_WORD.finditer(text))
    starts = [0, *(match.start() for match in found[1:]), len(text)]
    return [match[0].lower() for match in found], starts


def locate_kept(text: str, other: str, *, stop_words: Collection[str] = frozenset()) -> list[Place]:
    """Say where the parts of a text lie that were kept in the other."""
    blocks = share_blocks(text, other, stop_words=stop_words)
    return [block.left for block in blocks if block.counts]


def count_tags(
    text: str, words: Iterable[tuple[int, int, str]], kept: Sequence[Place]
) -> WordKinds:
    """Count words by their tags, all and those that were kept.

    Marks without a letter or digit are not counted: nobody compares them. A word is kept if all of
    its letters are, so that of a word and its clitic (`did n't`) each counts by itself.
    """
    counted = [(start, stop, tag) for start, stop, tag in words if _WORD.search(text, start, stop)]
    chosen = flag_kept(text, [(start, stop) for start, stop, _ in counted], kept)
    tags = [tag for *_, tag in counted]
    return WordKinds(
        Counter(tags), Counter(tag for tag, ok in zip(tags, chosen, strict=True) if ok)
    )


def list_kept_names(text: str, names: Sequence[Place], kept: Sequence[Place]) -> list[str]:
    """Give the names of a text that were kept whole, as often as they were."""
    chosen = flag_kept(text, names, kept)
    return [text[start:stop] for (start, stop), ok in zip(names, chosen, strict=True) if ok]


def flag_kept(text: str, places: Sequence[Place], kept: Sequence[Place]) -> Iterator[bool]:
    """Say of each place whether all its letters and digits lie in what was kept."""
    flags = bytearray(len(text) + 1)
    for start, stop in kept:
        flags[start:stop] = b"\1" * (stop - start)
    for start, stop in places:
        runs = [match.span() for match in _WORD.finditer(text, start, stop)]
        yield bool(runs) and all(all(flags[first:last]) for first, last in runs)


def spell_plainly(text: str) -> str:
    """Spell a text as its words alone, with a blank around each, to look for others in it."""
    return f" {' '.join(bare_words(text))} "


def spell_name(name: str) -> str:
    """Spell a name plainly; articles before it and a possessive after it are no part of it."""
    words = bare_words(re.sub(r"['’]s\b", "", name))
    while len(words) > 1 and words[0] in _ARTICLES:
        del words[0]
    return f" {' '.join(words)} "


def sort_names(names: Iterable[str], *known: Iterable[str]) -> NameCounts:
    """Count names that stand in any of the texts, spelled plainly, and those that do not.

    A name of several words is known where they stand together.
    """
    counts = [0, 0]
    for name in names:
        wanted = spell_name(name)
        is_known = any(wanted in text for texts in known for text in texts)
        counts[not is_known] += 1
    return NameCounts(*counts)


def match_sentences(generated: str, published: str) -> list[int | None]:
    """Say of each published sentence which generated one it comes from, if any.

    It is the one with which it shares most groups of three words that do not overlap, the first
    of several. A group is looked for from left to right.
    """
    holders: dict[tuple[str, ...], list[int]] = {}
    for place, sentence in enumerate(split_sentences(generated)):
        for group in set(ngrams(bare_words(sentence), _GROUP)):
            holders.setdefault(group, []).append(place)
    origins: list[int | None] = []
    for sentence in split_sentences(published):
        # Where each sentence's last group ends: the next may not begin before it.
        ends, counts = Counter[int](), Counter[int]()
        for at, group in enumerate(ngrams(bare_words(sentence), _GROUP)):
            for place in holders.get(group, ()):
                if at >= ends[place]:
                    counts[place] += 1
                    ends[place] = at + _GROUP
        origins.append(max(sorted(counts), key=counts.__getitem__, default=None))
    return origins
