"""Sentences turned into their contrary: a not more or a not less, by simple rules of English."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from fabula.text.places import draw_places, part_sentences
from fabula.text.verbs import is_plain, plain_of_past, plain_of_third

_BE = frozenset("am is are was were".split())
_MODALS = frozenset("will would can could should must might may shall".split())
_HAVE = frozenset("have has had".split())
# Verbs that shrink with not; the others keep it apart.
_SHRINK = {
    **{verb: f"{verb}n't" for verb in "is are was were would could should must".split()},
    **{verb: f"{verb}n't" for verb in "do does did have has had".split()},
    "can": "can't",
    "will": "won't",
}
_SHRUNK = {"can't": "can", "won't": "will", "shan't": "shall", "cannot": "can"}

_SUBJECTS = frozenset("i you he she it we they".split())
_OTHER_SUBJECTS = frozenset("who which everyone everybody someone somebody this".split())
_DETERMINERS = frozenset(
    "the a an my your his her its our their this that these those some no any every each".split()
)
_STARTERS = frozenset(
    "then there now here so and but or once when where what why how while if as after before "
    "because though although until since for not never today yesterday tomorrow suddenly".split()
)
_BEFORE_ASKED = frozenset("who what why how where when which so then and but or only".split())
_BETWEEN = frozenset("also just still then always soon often once even only both all".split())
_AFTER_PAST = _DETERMINERS | frozenset(
    "to at in on into onto over under from for with by of off out up down back away around through "
    "across along past about against behind beside toward towards and but or as when while until "
    "if that him me us them it himself herself itself themselves again too".split()
)
_PARTICIPLE = re.compile(
    "been|done|gone|seen|come|become|had|made|said|told|left|lost|kept|held|heard|found|felt|got"
    "|sent|read|run|put|set|met|brought|bought|thought|taught|caught|known|grown|flown|shown|worn"
    "|torn|begun|sung|won|hung|stood|paid|always|just|already|only|once|long|ever|[a-z]+(?:ed|en)"
)
_SHORT = re.compile(
    r"(?:i[’']m|(?:you|we|they)[’']re|(?:he|she|it|that|there|who|what)[’']s|\w+[’']ve"
    r"|(?:i|you|he|she|it|we|they)[’'](?:d|ll))",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(r"\b(?:no|none|nothing|nobody|neither|nor|nowhere|no one)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:[’'][^\W\d_]+)*")
_NEGATED = re.compile(
    r"\b(?P<whole>can[’']t|won[’']t|shan[’']t|cannot)\b"
    rf"|\b(?P<shrunk>{'|'.join(_SHRINK)})n[’']t\b"
    rf"|\b(?P<apart>{'|'.join(sorted(_BE | _MODALS | _HAVE))}|do|does|did"
    r"|\w+[’'](?:m|re|ve|ll|d|s)) not\b"
    r"|\bnever (?P<after>[a-z])",
    re.IGNORECASE,
)


def negate(text: str, *, share: float = 0.3, seed: int = 0) -> str | None:
    """Turn a share of the sentences into their contrary: add a negation, or take one away.

    By rules for English alone; a sentence that none of them fits stays as it is. Most of what
    comes out is grammatical, not all.
    """
    parted = part_sentences(text)
    sentences = list(parted.sentences)
    turned = {
        place: other
        for place, sentence in enumerate(sentences)
        if (other := _negate_sentence(sentence)) != sentence
    }
    for place in draw_places(random.Random(seed), list(turned), share * len(sentences)):
        sentences[place] = turned[place]
    return parted.joined(sentences) if turned else None


def _negate_sentence(sentence: str) -> str:
    """Take the first negation away; where there is none, add one at the first verb."""
    affirmed = _NEGATED.sub(_without, sentence, count=1)
    return affirmed if affirmed != sentence else _deny(sentence)


def _without(match: re.Match[str]) -> str:
    if match["after"]:
        return _match_case(match[0], match["after"])
    if match["whole"]:
        return _match_case(match["whole"], _SHRUNK[match["whole"].lower().replace("’", "'")])
    return match["shrunk"] or match["apart"]


def _match_case(word: str, other: str) -> str:
    return other[:1].upper() + other[1:] if word[:1].isupper() else other


def _deny(sentence: str) -> str:
    """Add a negation at the first verb; a second one would take the first away."""
    if _NEGATIVE.search(sentence):
        return sentence
    words = _Words.of(sentence)
    for place, (start, end) in enumerate(words.spans):
        if written := _denial(words, place):
            return sentence[:start] + written + sentence[end:]
    return sentence


@dataclass(frozen=True)
class _Words:
    """Words of a sentence; neighbours are those parted by one blank alone."""

    sentence: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, sentence: str) -> _Words:
        return cls(sentence, tuple(match.span() for match in _WORD.finditer(sentence)))

    def at(self, place: int) -> str:
        start, end = self.spans[place]
        return self.sentence[start:end]

    def before(self, place: int) -> str:
        return self.at(place - 1) if self._touch(place - 1) else ""

    def after(self, place: int) -> str:
        return self.at(place + 1) if self._touch(place) else ""

    def _touch(self, place: int) -> bool:
        if not 0 <= place < len(self.spans) - 1:
            return False
        return self.sentence[self.spans[place][1] : self.spans[place + 1][0]].isspace()


def _denial(words: _Words, place: int) -> str | None:
    """Write the word at a place with a negation, if it is a verb that can take one."""
    word = words.at(place)
    small, after = word.lower(), words.after(place)
    if _is_asked(words, place):
        return _shrunk(word, words.sentence)
    if small in _BE or _SHORT.fullmatch(word):
        return f"{word} not"
    if word in _MODALS and words.before(place).lower() not in _DETERMINERS:
        return "cannot" if word == "can" else f"{word} not"
    if small in _HAVE and _PARTICIPLE.fullmatch(after):
        return f"{word} not"
    return _support(words, place)


def _is_asked(words: _Words, place: int) -> bool:
    """Whether an auxiliary stands before its subject: Was he, Can the king."""
    if words.at(place).lower() not in _SHRINK:
        return False
    after, before = words.after(place), words.before(place).lower()
    if after.lower() in _SUBJECTS:
        return not before or before in _BEFORE_ASKED
    return place == 0 and (after.lower() in _DETERMINERS or after[:1].isupper())


def _shrunk(word: str, sentence: str) -> str:
    mark = "’" if {"’", "“"} & set(sentence) else "'"
    return _match_case(word, _SHRINK[word.lower()].replace("'", mark))


def _support(words: _Words, place: int) -> str | None:
    """Write a main verb with do, does or did, where its subject stands before it."""
    word = words.at(place)
    if not word.islower():
        return None
    subject = place - 1
    if words.before(place).lower() in _BETWEEN or words.before(place).endswith("ly"):
        subject -= 1
    if not words.before(subject + 1):
        return None
    owner = words.at(subject).lower()
    if owner in ("he", "she", "it") and (plain := plain_of_third(word)):
        return f"does not {plain}"
    if owner in ("i", "we", "they", "you") and is_plain(word):
        return f"do not {word}"
    plain = plain_of_past(word)
    return f"did not {plain}" if plain and _is_subject(words, subject, place) else None


def _is_subject(words: _Words, subject: int, verb: int) -> bool:
    """Whether a word is a pronoun, a name, or a noun with its article."""
    word = words.at(subject)
    if word.lower() in _SUBJECTS | _OTHER_SUBJECTS:
        return True
    if word[:1].isupper():
        return word.lower() not in _STARTERS | _DETERMINERS and not word.endswith("ly")
    if word in _DETERMINERS or word in _AFTER_PAST:
        return False
    near = [words.before(subject).lower()]
    near += [words.before(subject - 1).lower()] if near[0] else []
    after = words.after(verb)
    free = not after or after in _AFTER_PAST or after.endswith("ly")
    return free and any(word in _DETERMINERS for word in near)
