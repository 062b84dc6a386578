"""Nouns of a story, by sentence: what a picture may show of it (RoViST; Wang et al., 2022).

Everything here reads words that a parser has tagged (`ParsedWord`); which parser is for others to
say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from fabula.core.model import ParsedSentence, ParsedWord

# VIST writes these for the names of people, places and groups.
PLACEHOLDERS = ("male", "female", "location", "organization")
_PLACEHOLDER = re.compile(rf"\[(\s*(?:{'|'.join(PLACEHOLDERS)})\s*)\]", re.IGNORECASE)
_NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})
# Small taggers take a lower-case `i` for a noun; the released code drops it, too.
_NO_NOUN = "i"


class Noun(NamedTuple):
    """A noun as it is looked for, the number of its sentence, and where it stands in the text."""

    text: str
    sentence: int
    start: int
    stop: int


@dataclass(frozen=True)
class NounRules:
    """How nouns are written once they are found.

    `lemmas` makes one of `dog` and `dogs`; `lower` one of `Beach` and `beach`; with `compounds` a
    noun goes with those that the parse ties to it from the left, so that a `fire truck` is looked
    for and not a fire.
    """

    lemmas: bool = True
    lower: bool = True
    compounds: bool = True


# The released code: nouns as they are written, each by itself.
RELEASED = NounRules(lemmas=False, lower=False, compounds=False)


def blank_brackets(text: str) -> str:
    """Put blanks for the brackets of `[male]` and its like: the bare words stay where they are."""
    return _PLACEHOLDER.sub(r" \1 ", text)


def find_placeholders(text: str) -> frozenset[int]:
    """Give the places where the words in such brackets begin."""
    return frozenset(
        found.end(1) - len(found.group(1).lstrip()) for found in _PLACEHOLDER.finditer(text)
    )


def find_nouns(
    sentences: Sequence[ParsedSentence],
    rules: NounRules | None = None,
    *,
    placeholders: frozenset[int] = frozenset(),
) -> list[Noun]:
    """Give the nouns of each sentence in their order, once a sentence; sentences may repeat them.

    Words that begin at `placeholders` stand for names and are nouns whatever the tagger says.
    """
    rules = rules or NounRules()
    nouns: list[Noun] = []
    for number, sentence in enumerate(sentences):
        places = [
            place
            for place, word in enumerate(sentence)
            if is_noun(word) or word.start in placeholders
        ]
        joined = _join_compounds(sentence, places) if rules.compounds else [[p] for p in places]
        unique: dict[str, Noun] = {}
        for group in joined:
            words = sentence[group[0] : group[-1] + 1]
            text = _write(words, rules)
            unique.setdefault(text, Noun(text, number, words[0].start, words[-1].stop))
        unique.pop(_NO_NOUN, None)
        nouns += unique.values()
    return nouns


def is_noun(word: ParsedWord) -> bool:
    """Whether the tag is one of the Penn Treebank's four for nouns, and there is a letter."""
    return word.tag in _NOUN_TAGS and any(map(str.isalpha, word.text))


def _join_compounds(sentence: ParsedSentence, places: Sequence[int]) -> list[list[int]]:
    """Places of nouns, each with those before it that the parse makes parts of it.

    Between the parts there is nothing, or a hyphen: `fire truck`, `t-shirt`.
    """
    groups: list[list[int]] = []
    for place in places:
        before = groups[-1][-1] if groups else -1
        between = [word.text for word in sentence[before + 1 : place]]
        is_part = before >= 0 and sentence[before].relation == "compound"
        if is_part and sentence[before].head >= place and between in ([], ["-"]):
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _write(words: Sequence[ParsedWord], rules: NounRules) -> str:
    """Write a noun of one or more words with a blank where the text has some between them."""
    # Only the last part of a compound bends: of `sports cars` the car is one, the sports stay.
    parts = [word.text for word in words]
    if rules.lemmas:
        parts[-1] = words[-1].lemma
    gaps = ["" if a.stop == b.start else " " for a, b in pairwise(words)]
    text = "".join(part + gap for part, gap in zip(parts, [*gaps, ""], strict=True))
    return text.lower() if rules.lower else text
