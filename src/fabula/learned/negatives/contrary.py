"""Sentences turned into their contrary, as UNION does it and as English does."""

from __future__ import annotations

import random
import re

from fabula.learned.negatives.tags import Tagger, light_tag
from fabula.text.inflect import match_case, plain_forms
from fabula.text.negate import negate
from fabula.text.places import find_words

# Treebank texts part n't from its verb, which may have lost a letter.
_PARTED = re.compile(r"\b(\w+) n['’]t\b", re.IGNORECASE)
_SHORTENED = {"ca": "can", "wo": "will", "sha": "shall"}

_NEGATIONS = frozenset("no not never none nothing nobody nowhere neither nor n't".split())
_AUXILIARIES = frozenset(
    "am is are was were be been being will would can could shall should may might must do does did "
    "have has had".split()
)
_BEFORE = {"VB": "do not", "VBP": "do not", "VBD": "did not", "VBZ": "does not"}


def contrary(sentence: str) -> str | None:
    """Add a negation or take one away by the rules of `fabula.text.negate`; None if none fits.

    Texts whose n't is parted from its verb, as the corpora of the papers are, will do as well.
    """
    if _PARTED.search(sentence):
        return _PARTED.sub(_affirmed, sentence, count=1)
    return negate(sentence, share=1e-9)


def union_contrary(sentence: str, rng: random.Random, tag: Tagger = light_tag) -> str | None:
    """Follow UNION: a negation word goes; else not after an auxiliary; else do not before a verb.

    Words are tagged one by one, not in their sentence as the original does with NLTK.
    """
    spans = find_words(sentence)
    words = [sentence[start:end].replace("’", "'").lower() for start, end in spans]
    for word, (start, end) in zip(words, spans, strict=True):
        if word in _NEGATIONS or word.endswith("n't"):
            kept = _affirmative(sentence[start : end - 3]) if word.endswith("n't") else ""
            return _closed(sentence[:start] + kept, sentence[end:])
    for word, (_, end) in zip(words, spans, strict=True):
        if word in _AUXILIARIES:
            denial = rng.choice(("not", "n't"))
            return f"{sentence[:end]} {denial}{sentence[end:]}"
    for word, (start, end) in zip(words, spans, strict=True):
        if (name := tag(word)).startswith("VB"):
            return sentence[:start] + _denied(sentence[start:end], name) + sentence[end:]
    return None


def _affirmed(found: re.Match[str]) -> str:
    return _affirmative(found[1])


def _affirmative(verb: str) -> str:
    return match_case(verb, _SHORTENED.get(verb.lower(), verb.lower()))


def _closed(before: str, after: str) -> str:
    """Join what stood around a word, with one blank less."""
    return before.rstrip() + after if after[:1] in ("", " ", ".", ",") else before + after


def _denied(verb: str, tag: str) -> str:
    if tag not in _BEFORE:
        return f"not {verb}"
    form = {"VBD": "past", "VBZ": "third"}.get(tag, "plain")
    plain = next((one for one, found in plain_forms(verb.lower()) if found == form), verb)
    return f"{_BEFORE[tag]} {plain}"
