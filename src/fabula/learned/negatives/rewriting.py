"""The four manipulations of MANPLTS on the keywords within a text; None where one is impossible."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.learned.negatives.corpus import Corpus, Word
from fabula.learned.negatives.edits import write_words
from fabula.learned.negatives.events import Events
from fabula.learned.negatives.plot_changes import Consequence, draw_consequence
from fabula.learned.negatives.plot_recipe import ROC, PlotRecipe
from fabula.text.antonyms import Antonyms
from fabula.text.inflect import match_case
from fabula.text.places import Span, find_words

_Placed = tuple[int, Word]
_Changes = dict[int, dict[Span, str]]


@dataclass(frozen=True)
class Rewriter:
    """Rewrites sentences after the first; keywords are the content words of a corpus."""

    others: Corpus
    rng: random.Random
    how: PlotRecipe = ROC
    antonyms: Antonyms | None = None
    events: Events | None = None

    def repeat(self, sentences: list[str]) -> list[str] | None:
        """Say a share of the keywords again in other sentences, in place of words of their tag."""
        words = self._keywords(sentences)
        wanted = max(1, len(sentences) // self.how.repeated_every)
        changes: _Changes = {}
        done = 0
        for n, word in self._shuffled(words):
            if done == math.ceil(self.how.repeated * len(words)):
                break
            spots = [
                (m, one) for m, one in words if m != n and _may_take(one, word, changes.get(m))
            ]
            spot_of = dict(self._shuffled(spots))
            for m in self.rng.sample(sorted(spot_of), min(wanted, len(spot_of))):
                changes.setdefault(m, {})[spot_of[m].span] = _written(word.known, spot_of[m])
            done += bool(spot_of)
        return _changed(sentences, changes)

    def reorder(self, sentences: list[str]) -> list[str] | None:
        """Tell what goes before a share of the verbs after them, and what follows before them."""
        verbs = [one for one in self._keywords(sentences) if one[1].tag.startswith("VB")]
        changes: _Changes = {}
        done = 0
        for n, word in self._shuffled(verbs) if self.events else ():
            if done == math.ceil(self.how.reordered * len(verbs)):
                break
            found = self.events and draw_consequence(word.known, self.events, self.rng)
            if found and found.verbal:
                _join(changes.setdefault(n, {}), sentences[n], word, found)
                done += 1
        return _changed(sentences, changes)

    def substitute(self, sentences: list[str]) -> list[str] | None:
        """Give a share of the sentences another story's keywords, tag by tag."""
        places = range(1, len(sentences))
        wanted = math.ceil(self.how.substituted * len(places))
        changes: _Changes = {}
        for n in self.rng.sample(places, len(places)):
            if len(changes) == wanted:
                break
            if found := self._foreign(sentences, n):
                changes[n] = found
        return _changed(sentences, changes)

    def contradict(self, sentences: list[str]) -> list[str] | None:
        """Turn a share of the keywords that have antonyms into one of them."""
        if self.antonyms is None:
            return None
        words = [one for one in self._keywords(sentences) if one[1].tag != "NNP"]
        able = [(n, word, found) for n, word in words if (found := self.antonyms.of(word.written))]
        changes: _Changes = {}
        for n, word, found in self.rng.sample(able, math.ceil(self.how.contradicted * len(able))):
            changes.setdefault(n, {})[word.span] = self.rng.choice(found)
        return _changed(sentences, changes)

    def _keywords(self, sentences: Sequence[str]) -> list[_Placed]:
        found = [self.others.content_words(sentence) for sentence in sentences]
        return [(n, word) for n, words in enumerate(found) for word in words if n]

    def _shuffled(self, words: Sequence[_Placed]) -> list[_Placed]:
        return self.rng.sample(words, len(words))

    def _foreign(self, sentences: list[str], n: int) -> dict[Span, str]:
        """Match the keywords of a sentence with those of another story's, by their tags."""
        other = self.others.another(sentences, self.rng)
        source = self.others.content_words(self.rng.choice(other)) if other else []
        run = self.how.substituted_run
        if run and len(source) >= run:
            start = self.rng.randint(0, len(source) - run)
            source = source[start : start + run]
        changes = {}
        for word in self.others.content_words(sentences[n]):
            fit = next((one for one in source if _may_take(word, one, None)), None)
            if fit:
                source.remove(fit)
                changes[word.span] = _written(fit.known, word)
        return changes


def _may_take(spot: Word, word: Word, taken: dict[Span, str] | None) -> bool:
    return spot.tag == word.tag and spot.known != word.known and spot.span not in (taken or {})


def _written(word: str, spot: Word) -> str:
    """Write a word with the capital of a sentence's beginning, if it stands there."""
    return word if spot.written == spot.known else match_case(spot.written, word)


def _join(changes: dict[Span, str], sentence: str, verb: Word, found: Consequence) -> None:
    """Write an event that comes too late after the last word, one that comes too early before."""
    span = find_words(sentence)[-1] if found.after else verb.span
    now = changes.get(span, sentence[span[0] : span[1]])
    if found.after:
        changes[span] = f"{now} and then {found.phrase}"
    else:
        begun = now if verb.written == verb.known else verb.known
        changes[span] = _written(f"{found.phrase} and then {begun}", verb)


def _changed(sentences: list[str], changes: _Changes) -> list[str] | None:
    if not changes:
        return None
    return [
        write_words(sentence, changes[n]) if n in changes else sentence
        for n, sentence in enumerate(sentences)
    ]
