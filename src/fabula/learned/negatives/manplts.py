"""Negatives after MANPLTS (Ghazarian et al., 2021): keywords of a text repeated, replaced, turned.

The paper tampers with plots and has a BART tell stories from them. Where there is none, the same is
done here to the keywords within a text; that is ours, not the paper's. The first sentence stays as
it is. So that what comes out can be read without a generator that smooths it, keywords are not
inserted but take the place of keywords of the same tag, in the right form.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.learned.negatives.corpus import Corpus, Word, write_words
from fabula.learned.negatives.union import Negative, Seed, change_story, make_generator
from fabula.text.antonyms import Antonyms
from fabula.text.inflect import match_case
from fabula.text.places import Span

# The paper's shares for the stories of WritingPrompts.
REPEATED = 0.05  # of the keywords
REPEATED_EVERY = 4  # into one of so many sentences
SUBSTITUTED = 0.05  # of the sentences
CONTRADICTED = 0.15  # of the keywords with antonyms
FEWEST, MOST = 2, 4  # ways that a story is tampered with, as far as there are so many

_Placed = tuple[int, Word]
_Changes = dict[int, dict[Span, str]]


def manipulate(
    sentences: Sequence[str], *, others: Corpus, seed: Seed, antonyms: Antonyms | None = None
) -> Negative:
    """Make a negative of a story in two to four ways, drawn without replacement.

    There are three here: the paper's fourth, events told in an illogical order, needs a model of
    what follows from what. A way that the story does not admit of is named in `impossible`.
    """
    rng = make_generator(seed)
    rewriter = Rewriter(others, rng, antonyms)
    ways = {
        "repeat": rewriter.repeat,
        "substitute": rewriter.substitute,
        "contradict": rewriter.contradict,
    }
    count = rng.randint(FEWEST, MOST)
    return change_story(sentences, ways, rng.sample(sorted(ways), len(ways)), count)


@dataclass(frozen=True)
class Rewriter:
    """Rewrites sentences after the first; keywords are the content words of a corpus.

    Each way gives None where a text does not admit of it.
    """

    others: Corpus
    rng: random.Random
    antonyms: Antonyms | None = None

    def repeat(self, sentences: list[str]) -> list[str] | None:
        """Say a share of the keywords again in other sentences, in place of words of their tag."""
        words = self._keywords(sentences)
        wanted = max(1, len(sentences) // REPEATED_EVERY)
        changes: _Changes = {}
        done = 0
        for n, word in self._shuffle(words):
            if done == math.ceil(REPEATED * len(words)):
                break
            spots = [
                (m, spot) for m, spot in words if m != n and _may_take(spot, word, changes.get(m))
            ]
            spot_of = dict(self._shuffle(spots))
            for m in self.rng.sample(sorted(spot_of), min(wanted, len(spot_of))):
                changes.setdefault(m, {})[spot_of[m].span] = _write_like(word.known, spot_of[m])
            done += bool(spot_of)
        return _write_changes(sentences, changes)

    def substitute(self, sentences: list[str]) -> list[str] | None:
        """Give a share of the sentences another story's keywords, tag by tag."""
        places = range(1, len(sentences))
        wanted = math.ceil(SUBSTITUTED * len(places))
        changes: _Changes = {}
        for n in self.rng.sample(places, len(places)):
            if len(changes) == wanted:
                break
            if found := self._match_keywords(sentences, n):
                changes[n] = found
        return _write_changes(sentences, changes)

    def contradict(self, sentences: list[str]) -> list[str] | None:
        """Turn a share of the keywords that have antonyms into one of them."""
        if self.antonyms is None:
            return None
        words = [placed for placed in self._keywords(sentences) if placed[1].tag != "NNP"]
        able = [
            (n, word, antonyms) for n, word in words if (antonyms := self.antonyms.of(word.written))
        ]
        changes: _Changes = {}
        for n, word, antonyms in self.rng.sample(able, math.ceil(CONTRADICTED * len(able))):
            changes.setdefault(n, {})[word.span] = self.rng.choice(antonyms)
        return _write_changes(sentences, changes)

    def _keywords(self, sentences: Sequence[str]) -> list[_Placed]:
        by_sentence = [self.others.content_words(sentence) for sentence in sentences]
        return [(n, word) for n, words in enumerate(by_sentence) for word in words if n]

    def _shuffle(self, words: Sequence[_Placed]) -> list[_Placed]:
        return self.rng.sample(words, len(words))

    def _match_keywords(self, sentences: list[str], n: int) -> dict[Span, str]:
        """Match the keywords of a sentence with those of another story's, by their tags."""
        other = self.others.another(sentences, self.rng)
        source = self.others.content_words(self.rng.choice(other)) if other else []
        changes = {}
        for word in self.others.content_words(sentences[n]):
            fit = next(
                (candidate for candidate in source if _may_take(word, candidate, None)), None
            )
            if fit:
                source.remove(fit)
                changes[word.span] = _write_like(fit.known, word)
        return changes


def _may_take(spot: Word, word: Word, taken: dict[Span, str] | None) -> bool:
    return spot.tag == word.tag and spot.known != word.known and spot.span not in (taken or {})


def _write_like(word: str, spot: Word) -> str:
    """Write a word with the capital of a sentence's beginning, if it stands there."""
    return word if spot.written == spot.known else match_case(spot.written, word)


def _write_changes(sentences: list[str], changes: _Changes) -> list[str] | None:
    if not changes:
        return None
    return [
        write_words(sentence, changes[n]) if n in changes else sentence
        for n, sentence in enumerate(sentences)
    ]
