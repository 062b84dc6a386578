"""How a story is told: in which tense, by whom, and when its people are named."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from fabula.text.craft.prose import (
    Finding,
    NothingToCheck,
    Prose,
    Sentence,
    Span,
    put_number,
    put_times,
    word_list,
)
from fabula.text.verbs import is_plain, plain_of_past, plain_of_third
from fabula.text.words import PlacedWord

Tense = Literal["past", "present"]

_LEAST_SENTENCES = 5
# Who says “I” in more of the sentences is the teller.
_TELLER_SHARE = 0.15
_ADDRESSED_SHARE = 0.3
_LEAST_MENTIONS = 3


def find_tense_slips(prose: Prose) -> Finding:
    """Find where a story goes from one tense to the other.

    Values: how often it does, as a share of the steps between told sentences whose first verb shows
    a tense; and the share of these sentences that are in the rarer tense. Present musing of a
    teller (“I don't know why”) shows none.
    """
    prose.need_told()
    tenses = [(sentence, tense) for sentence in prose.sentences if (tense := tense_of(sentence))]
    if len(tenses) < _LEAST_SENTENCES:
        raise NothingToCheck(f"fewer than {_LEAST_SENTENCES} sentences show a tense")
    past = sum(tense == "past" for _, tense in tenses)
    usual: Tense = "past" if 2 * past >= len(tenses) else "present"
    slips = [sentence for sentence, tense in tenses if tense != usual]
    changes = [second for (_, before), (second, tense) in pairwise(tenses) if before != tense]
    values = (len(changes) / (len(tenses) - 1), len(slips) / len(tenses))
    if not changes:
        return Finding(values)
    said = f"told in the {usual}, the story changes its tense {put_times(len(changes))}"
    # A sentence between two of the other tense shows it best.
    lone = [
        own
        for (_, before), (own, tense), (_, after) in zip(
            tenses, tenses[1:], tenses[2:], strict=False
        )
        if before == after == usual != tense
    ]
    return Finding(values, _places(changes), _places(lone or changes)[0], said)


def tense_of(sentence: Sentence) -> Tense | None:
    """Tense of the first verb of a sentence that shows one."""
    words = sentence.told
    for at, word in enumerate(words):
        before = words[at - 1] if at else None
        if word.word in word_list("past_words"):
            return "past"
        if word.word in word_list("present_words"):
            return "present"
        if before is None or before.word not in word_list("subjects"):
            continue
        if word.word in word_list("musing"):
            return None
        if tense := _tense_after(before, word):
            return tense
    return None


def _tense_after(subject: PlacedWord, verb: PlacedWord) -> Tense | None:
    """Tense of a verb right after a pronoun."""
    # “lay” and “read” may be either; “found” and “felt” are pasts after a pronoun.
    if verb.word not in ("lay", "read") and plain_of_past(verb.word):
        return "past"
    if subject.word in ("he", "she", "it"):
        return "present" if plain_of_third(verb.word) else None
    plural = subject.word in ("i", "we", "they")
    return "present" if plural and is_plain(verb.word) else None


def find_person_slips(prose: Prose) -> Finding:
    """Find an “I” outside of speech in a story that nobody tells as “I”.

    Value: the share of told sentences that hold one. Of a story told by an “I” nothing can be
    said: a “he” may be anybody.
    """
    prose.need_told()
    sentences = [sentence for sentence in prose.sentences if sentence.told]
    if len(sentences) < _LEAST_SENTENCES:
        raise NothingToCheck(f"fewer than {_LEAST_SENTENCES} sentences are told")
    slips = [one for one in sentences if _find_person(one.told, "first_person")]
    value = len(slips) / len(sentences)
    if value >= _TELLER_SHARE:
        raise NothingToCheck("the story is told by an “I”, whose slips pronouns do not show")
    if not slips:
        return Finding((value,))
    addressed = sum(bool(_find_person(one.told, "second_person")) for one in sentences)
    person = "second" if addressed >= _ADDRESSED_SHARE * len(sentences) else "third"
    says = "sentence says" if len(slips) == 1 else "sentences say"
    said = f"the story is told in the {person} person, but {put_number(len(slips))} {says} “I”"
    marks = tuple(
        (word.start, word.end) for one in slips for word in _find_person(one.told, "first_person")
    )
    return Finding((value,), marks, _places(slips)[0], said)


def _find_person(words: Sequence[PlacedWord], person: str) -> list[PlacedWord]:
    return [word for word in words if word.word in word_list(person)]


def find_late_names(prose: Prose) -> Finding:
    """Find where in the story its people are first named, from 0 (begin) to 1 (end).

    Values: for the name that comes most often; for the last to come of all that come three times.
    """
    return _report_name(prose, lead=False)


def find_late_lead(prose: Prose) -> Finding:
    """Find where the name that comes most often is first named; the same values, another place."""
    return _report_name(prose, lead=True)


def _report_name(prose: Prose, *, lead: bool) -> Finding:
    prose.need_words()
    places: dict[str, list[PlacedWord]] = {name: [] for name in prose.names}
    for word in prose.words:
        if (name := word.word.removesuffix("'s")) in places:
            places[name].append(word)
    told = [words for words in places.values() if len(words) >= _LEAST_MENTIONS]
    if not told:
        raise NothingToCheck(f"nobody is named {put_times(_LEAST_MENTIONS)}")
    most, last = max(told, key=len), max(told, key=lambda words: words[0].start)
    values = (_share_before(prose, most[0]), _share_before(prose, last[0]))
    shown = most if lead else last
    word = shown[0]
    name = prose.text[word.start : word.start + len(word.word.removesuffix("'s"))]
    times = put_times(len(shown)) + (", more than anybody" if lead else "")
    percent = f"{round(100 * values[0 if lead else 1])} %"
    said = f"{name}, named {times}, first comes after {percent} of the story"
    sentence = prose.sentence_at(word.start)
    return Finding(values, ((word.start, word.end),), (sentence.start, sentence.end), said)


def _share_before(prose: Prose, word: PlacedWord) -> float:
    """Share of the story's words that stand before one."""
    return sum(other.start < word.start for other in prose.words) / len(prose.words)


def _places(sentences: Sequence[Sentence]) -> tuple[Span, ...]:
    return tuple((sentence.start, sentence.end) for sentence in sentences)
