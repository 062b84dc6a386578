"""What a language model said of a story, checked before anybody reads it."""

from __future__ import annotations

import re

from fabula.learned.comments._lexicon import stem_list, stem_of, word_list
from fabula.learned.comments.composed import Band
from fabula.learned.comments.evidence import Evidence
from fabula.learned.comments.places import placed_words
from fabula.text.ngrams import ngrams

LEAST_WORDS, MOST_WORDS = 15, 50
_LEAST_SAID = 5
_EDITORIAL = ("editor", "praise", "blame")
# No sentence ends with these: the model was cut short.
_DANGLING = frozenset(
    "a an the and or but of to with for that which as by from into its their his her is are".split()
)

_QUOTED = re.compile(r"“([^”]*)”|\"([^\"]*)\"|‘([^’]*)’(?!\w)")
_EDGE = " \t\n.,;:!?…-–—"


def problem_with(comment: str, said: str, story: str, *, evidence: Evidence, band: Band) -> str:
    """Say what is wrong with a comment, of which `said` is the model's own part; "" if nothing.

    The model may use function words, an editor's words and those of the evidence. Whatever else
    it says would be a claim on what it was not shown.
    """
    count = len(placed_words(comment))
    if not LEAST_WORDS <= count <= MOST_WORDS:
        return f"{count} words"
    if rambling := _rambling(said):
        return rambling
    for quote in quotes_in(said):
        if quote.strip(_EDGE) not in story:
            return f"quotes “{quote}”, which the story does not say"
    if foreign := foreign_words(said, evidence):
        return f"speaks of “{foreign[0]}”, which is not in the evidence"
    return _against(said, band)


def quotes_in(text: str) -> list[str]:
    """Parts of a comment in quotation marks."""
    return ["".join(found) for found in _QUOTED.findall(text) if "".join(found).strip(_EDGE)]


def foreign_words(said: str, evidence: Evidence) -> list[str]:
    """Words that neither an editor nor the evidence would use, in order; names among them."""
    shown = {stem_of(word.word) for word in placed_words(evidence.quote)}
    known = shown.union({stem_of(evidence.aspect)}, *map(stem_list, _EDITORIAL))
    return [
        word.word
        for word in placed_words(said)
        if word.word not in word_list("stop") and stem_of(word.word.removesuffix("'s")) not in known
        if len(word.word) > 1
    ]


def first_sentence(said: str) -> str:
    """Give what stands before the first full stop or line end, with its blank before and a stop."""
    before = re.split(r"[.!?\n]|<\|", said, maxsplit=1)[0].rstrip(" ,;:-–—*")
    joint = "" if before.startswith((" ", "'", "’", ",")) else " "
    return f"{joint}{before}." if before.strip() else ""


def _rambling(said: str) -> str:
    """Say whether the model had nothing to say, did not come to an end, or went round."""
    words = [word.word for word in placed_words(said)]
    if len(words) < _LEAST_SAID:
        return "hardly anything was said"
    if words[-1] in _DANGLING:
        return "the sentence does not end"
    runs = ngrams(words, 3)
    return "goes round in circles" if len(set(runs)) < len(runs) else ""


def _against(said: str, band: Band) -> str:
    """Say whether words of praise or blame go against the rating."""
    words = {word.word for word in placed_words(said)}
    blame = sorted(words & word_list("blame"))
    if band == "high" and blame:
        return f"finds fault (“{blame[0]}”) with what is rated high"
    praise = sorted(words & word_list("praise"))
    if band == "low" and praise:
        return f"praises (“{praise[0]}”) what is rated low"
    if band == "low" and not blame and not any(word.endswith("n't") for word in words):
        return "finds no fault with what is rated low"
    return ""
