"""Other stories to take sentences from, and their words by part of speech and frequency."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabula.core.errors import InputError
from fabula.learned.negatives.draw import Bag
from fabula.learned.negatives.tags import Tagger, light_tag
from fabula.text.inflect import match_case
from fabula.text.places import Span, find_words

TRIES = 10


@dataclass(frozen=True)
class Word:
    """A content word of a sentence: where it stands, how it is written, how the corpus has it."""

    span: Span
    written: str
    known: str
    tag: str


@dataclass(frozen=True)
class Corpus:
    """Stories as lists of sentences, and the content words in them: counts, tags, bags by tag."""

    stories: tuple[tuple[str, ...], ...]
    counts: Mapping[str, int]
    tags: Mapping[str, str]
    bags: Mapping[str, Bag]

    @classmethod
    def of(
        cls,
        stories: Iterable[Sequence[str]],
        *,
        tag: Tagger = light_tag,
        concepts: Collection[str] | None = None,
    ) -> Corpus:
        """Count the words of many stories, once.

        The first word of a sentence is not counted, because its capital says nothing. `concepts`
        are the words that may be replaced (UNION: ConceptNet's entities); without them all but
        function words may.
        """
        kept = tuple(tuple(story) for story in stories)
        if not kept:
            raise InputError("there are no stories to take words from", "give at least one")
        counts = Counter(word for story in kept for word in _inner_words(story))
        tags = {word: tag(word) for word in counts if concepts is None or word in concepts}
        tags = {word: found for word, found in tags.items() if found}
        by_tag: dict[str, list[tuple[str, int]]] = {}
        for word, found in tags.items():
            by_tag.setdefault(found, []).append((word, counts[word]))
        bags = {name: Bag.of(pairs) for name, pairs in by_tag.items()}
        return cls(kept, {word: counts[word] for word in tags}, tags, bags)

    def another(self, sentences: Sequence[str], rng: random.Random) -> tuple[str, ...] | None:
        """Draw a story that shares no sentence with this one; None after ten tries."""
        mine = set(sentences)
        for _ in range(TRIES):
            found = rng.choice(self.stories)
            if found and mine.isdisjoint(found):
                return found
        return None

    def content_words(self, sentence: str) -> list[Word]:
        """Find the words of a sentence that the corpus has a tag for."""
        found = []
        for number, span in enumerate(find_words(sentence)):
            written = sentence[span[0] : span[1]]
            known = self._known(written, first=not number)
            if known in self.tags:
                found.append(Word(span, written, known, self.tags[known]))
        return found

    def word_like(self, word: Word, rng: random.Random) -> str | None:
        """Draw another word of the same tag by frequency; None after ten tries."""
        for _ in range(TRIES):
            other = self.bags[word.tag].draw(rng)
            if other != word.known:
                return other if word.written == word.known else match_case(word.written, other)
        return None

    def _known(self, written: str, *, first: bool) -> str:
        """Give a first word as the corpus has it more often: with or without its capital."""
        small = written[:1].lower() + written[1:]
        often, rarely = self.counts.get(small, 0), self.counts.get(written, 0)
        return small if first and often > rarely else written


def _inner_words(story: Sequence[str]) -> Iterator[str]:
    for sentence in story:
        for start, end in find_words(sentence)[1:]:
            if (word := sentence[start:end]).isalpha():
                yield word
