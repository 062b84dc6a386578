"""What the stories that a reader learned from look like, and what is unlike them in a text.

Two questions: whether a text is a story in English prose at all, which goes by rules that hold for
every reader (`describe_other_writing`), and what is unusual in one for a certain reader.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fabula.core.story import count_text
from fabula.text.features import FEATURE_NAMES, FEATURES_VERSION, feature_row
from fabula.text.words import words

Domain = Mapping[str, Any]
Array = np.ndarray[Any, np.dtype[Any]]

VERSION = 1
_TAIL = 0.003  # share of the stories learned from that lies beyond each bound
_SURFACE_SHARE = 0.99  # of them that are nearer to the middle than what is called odd
_LEAST_STORIES = 50  # for bounds on the surface to mean anything
_LEAST_WORDS = 15  # to tell a language by its common words
_MOST_SPREADS = 6.0  # that one feature may add to the distance
_NORMAL_TAIL = 2.75  # standard deviations to the tail of a normal distribution
_NAMED = 1.5  # spreads from which a feature is worth a mention

_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile("[A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff]")
_PROSE_MARKS = frozenset(".,;:!?'\"-()…–—‘’“”«»¡¿*`~")
_COMMON = frozenset(
    "a about after again all an and any are as at be because been before but by can could did do "
    "don't down even for from get go had has have he her here him his how i i'm if in into is it "
    "it's its just know like me more my never no not now of off on one only or our out over she so "
    "some than that that's the their them then there these they this through time to up us was we "
    "were what when where which who will with would you your s t m re ve ll d n't".split()
)

# Of a person that a story tells of, or who tells it.
_PERSONS = frozenset(
    "i i'm i'd i've i'll me my mine myself you you're you've you'll your yours he he's he'd him "
    "his himself she she's she'd her hers herself they they're they'd them their theirs we we're "
    "we'd us our ours ourselves who who's someone somebody everyone nobody".split()
)
# Of what happened, and to whom: a story without "he" and "she" has these.
_TELLING = frozenset(
    "was were had did said asked went came saw looked made took stood sat felt knew thought man "
    "men woman women boy girl child children people mother father friend".split()
)
# Pairs of words that hardly stand side by side in English: "the of", "with was". The words that
# may come after an article or a preposition are many; those that may not are few.
_ARTICLES = frozenset("a an the my his its their our your".split())
_NOT_AFTER_ARTICLES = frozenset(
    "a an the and or but of to is was were are be been am has had have he she they we i it him "
    "them me us in on at by with for from that this as if so not do did my his its their our your "
    "her would could will can".split()
)
_PREPOSITIONS = frozenset("of from into with at".split())
_NOT_AFTER_PREPOSITIONS = frozenset(
    "is was were are am be been has had and or but of he she they we i did would could will "
    "can".split()
)
_BULLET = re.compile(r"(?:[-*•–+]|\(?\d+[.)]|\[[ x]\])\s")
_SPEAKER = re.compile(r"[A-Z][^:.!?]{0,30}: ")  # as in a play or a chat
# As a line of a chat begins: "[19:02] mara: ", "19:02 - ", "<mara> ", "mara: ".
_STAMP = re.compile(r"\W{0,2}(?:\d+[-/.]\d+[-/.]\d+,? )?\d{1,2}[:.]\d\d(?:[:.]\d\d)?\b")
_HANDLE = re.compile(r"(?:<[^<>\n]{1,24}>|[\w.'’-]{1,20}(?: [\w.'’-]{1,15})?:)(?=\s)")
# Of those who sell, who speak to “you” and of “us”. Stories have some of these words; several, and
# hardly anybody who does something, have none.
_SALES = frozenset(
    "offer offers discount discounts warranty guarantee guaranteed customer customers delivery "
    "shipping subscribe patented bestselling refund coupon checkout trial satisfaction terms brand "
    "brands product products quality affordable deal deals price prices available order ordering "
    "shop shops shopping store stores sale buy save free visit call today book booking upgrade "
    "discover luxury viewing collection exclusive join".split()
)
_ADDRESSED = frozenset(
    "you you're you've you'll your yours we we're we'd us our ours ourselves who who's".split()
)
_LINE_ENDS = frozenset(".!?\"”’'…)*")
# The bounds below were set so that of the stories of nine corpora fewer than one in a hundred
# are called other writing, all in all; see docs/commands/review.md for what they find.
_LEAST_STORY = 15  # words
_LEAST_COMMON = 0.27
_MOST_NUMBERS = 0.15
_MOST_SIGNS, _FEW_SIGNS = 0.3, 0.07
_LEAST_LINES, _SHORT_LINE, _OPEN_LINES = 4, 9, 0.5
_LEAST_SALES, _SALES_SHARE, _FEW_ACTORS = 3, 0.03, 0.04
_MANY_SALES, _LARGE_SALES_SHARE, _QUOTED_ACTORS = 6, 0.05, 0.09
_STAMPED, _HANDLED = 0.4, 0.7
_FEW_PERSONS, _NO_PERSONS, _LEAST_FOR_PERSONS = 0.02, 0.005, 60
# So many pairs that hardly stand side by side, and that share of those that might.
_BROKEN_PAIRS = ((3, 0.2), (2, 0.4))

# What to call a feature that is far above or far below the usual.
_WORDS = {
    "type_token_ratio": ("words that hardly return", "few different words"),
    "moving_type_token_ratio": ("words that hardly return", "words that return at once"),
    "sentence_length": ("very long sentences", "very short sentences"),
    "sentence_spread": ("sentences of very uneven length", "sentences of one length"),
    "quoted_share": ("hardly anything but speech", "no speech"),
    "repeated_trigrams": ("phrases said again and again", "no phrase that returns"),
    "log_paragraphs": ("very many paragraphs", "very few paragraphs"),
    "paragraph_length": ("very long paragraphs", "very short paragraphs"),
    "word_length": ("very long words", "very short words"),
    "long_words": ("many long words", "hardly a long word"),
    "ellipses": ("very many ellipses", "no ellipsis"),
    "exclamations": ("very many exclamation marks", "no exclamation mark"),
    "questions": ("very many question marks", "no question mark"),
    "commas": ("very many commas", "hardly a comma"),
    "first_person": ("very many of I and me", "no first person"),
}
_SURFACE = [FEATURE_NAMES.index(name) for name in _WORDS]
SURFACE_FEATURES = len(_SURFACE)  # that bounds are kept of


def describe_domain(texts: Sequence[str]) -> dict[str, Any]:
    """Describe stories by the bounds within which all but a few of them lie; plain JSON.

    Bounds leave out 0.3 % of the stories on each side. The surface is described from 50 stories on.
    """
    if not texts:
        return {}
    tokens = [words(text) for text in texts]
    sizes = list(map(len, tokens))
    rows = [_measure_shares(text, own) for text, own in zip(texts, tokens, strict=True)]
    return {
        "version": VERSION,
        "stories": len(texts),
        "words": [_low(sizes), float(np.median(sizes)), _high(sizes)],
        "latin": _low([row["latin"] for row in rows]),
        "common": _low([row["common"] for row in rows]),
        "numbers": _high([row["numbers"] for row in rows]),
        "signs": _high([row["signs"] for row in rows]),
        "surface": _describe_surface(texts) if len(texts) >= _LEAST_STORIES else None,
    }


def describe_oddities(text: str, domain: Domain) -> tuple[str, ...]:
    """Say in plain words what about a text is unlike the stories that were described."""
    if not domain:
        return ()
    tokens = words(text)
    low, _, high = domain["words"]
    if not tokens:
        return (f"no words; the reader learned from stories of {low:,.0f} to {high:,.0f} words",)
    warnings = []
    if not low <= len(tokens) <= high:
        size = f"{len(tokens):,} word{'' if len(tokens) == 1 else 's'}"
        span = f"stories of {low:,.0f} to {high:,.0f} words"
        warnings.append(f"{size}; the reader learned from {span}")
    if language := _find_foreign(_measure_shares(text, tokens), len(tokens), domain):
        return (*warnings, language)
    # Most features go with the length: of a text that is too short or too long they say no more.
    return tuple(warnings) or _find_odd_surface(text, domain)


def describe_other_writing(text: str) -> str:
    """Say in plain words why a text is hardly a story in English prose; "" where it may be one."""
    tokens = words(text)
    if not tokens:
        return "it has no words"
    shares, room = _measure_shares(text, tokens), 1 / math.sqrt(len(tokens))
    if shares["latin"] < 0.7:
        return f"{_percent(1 - shares['latin'])} of its letters are not Latin"
    if len(tokens) < _LEAST_STORY:
        return f"it is {count_text(len(tokens), 'word')} long"
    if chat := _describe_chat(text):
        return chat
    if shares["numbers"] - room / 2 > _MOST_NUMBERS:
        return f"{_percent(shares['numbers'])} of its words are numbers"
    persons = sum(word in _PERSONS for word in tokens) / len(tokens)
    if _is_code(shares, persons, room):
        return (
            f"it has {shares['signs']:.1f} signs a word that prose hardly has, as in code or markup"
        )
    if lines := _describe_lines(text):
        return lines
    if shares["common"] + 0.3 * room < _LEAST_COMMON:
        share = f"only {_percent(shares['common'])}" if shares["common"] else "none"
        return f"{share} of its words are common English words"
    return (
        _describe_order(tokens) or _describe_selling(tokens) or _describe_persons(persons, tokens)
    )


def _is_code(shares: Mapping[str, float], persons: float, room: float) -> bool:
    """Many signs, or some and hardly a person: stories in dialect or mark-up have persons."""
    if shares["signs"] >= _FEW_SIGNS and persons < _FEW_PERSONS:
        return shares["signs"] * _LEAST_STORY >= 1
    sure = shares["signs"] - room / 2
    return sure > 2 * _MOST_SIGNS or (sure > _MOST_SIGNS and shares["common"] < 0.42)


def _describe_lines(text: str) -> str:
    """Tell lists and verse: short lines, most of which end in no full stop."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < _LEAST_LINES:
        return ""
    bulleted = sum(bool(_BULLET.match(line)) for line in lines) / len(lines)
    open_lines = [line for line in lines if line[-1] not in _LINE_ENDS]
    unended = sum(not _SPEAKER.match(line) for line in open_lines) / len(lines)
    if np.median([len(line.split()) for line in lines]) > _SHORT_LINE:
        return ""
    if bulleted >= 0.5:
        return f"{_percent(bulleted)} of its lines are items of a list"
    if unended >= _OPEN_LINES:
        return "it is set in short lines, as verse or a list"
    return ""


def _describe_chat(text: str) -> str:
    """Tell a log of a chat: short lines, most of which begin with a time or with who speaks."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) < _LEAST_LINES:
        return ""
    stamped = sum(bool(_STAMP.match(line)) for line in lines) / len(lines)
    if stamped >= _STAMPED:
        return f"it is a log: {_percent(stamped)} of its lines begin with a time"
    handled = sum(bool(_HANDLE.match(line)) for line in lines) / len(lines)
    if handled >= _HANDLED and np.median([len(line.split()) for line in lines]) <= _SHORT_LINE:
        return f"it is a chat: {_percent(handled)} of its lines begin with who speaks"
    return ""


def _describe_selling(tokens: Sequence[str]) -> str:
    """Tell adverts: several words of those who sell, and hardly one of somebody who acts."""
    sales = [word for word in tokens if word in _SALES]
    kinds = list(dict.fromkeys(sales))
    acting = sum(word in _TELLING or word in _PERSONS - _ADDRESSED for word in tokens)
    if len(kinds) < _LEAST_SALES or len(sales) < _SALES_SHARE * len(tokens):
        return ""
    # Where a customer is quoted, or one is told of, somebody acts: then more must be for sale.
    is_full = len(kinds) >= _MANY_SALES and len(sales) >= _LARGE_SALES_SHARE * len(tokens)
    named = ", ".join(f"“{word}”" for word in kinds[:4])
    most = _QUOTED_ACTORS if is_full else _FEW_ACTORS
    return f"it reads as an advert ({named})" if acting < most * len(tokens) else ""


def _describe_order(tokens: Sequence[str]) -> str:
    """Tell words in a chance order by pairs that hardly stand side by side."""
    possible = broken = 0
    for word, after in pairwise(tokens):
        if word in _ARTICLES or word in _PREPOSITIONS:
            refused = _NOT_AFTER_ARTICLES if word in _ARTICLES else _NOT_AFTER_PREPOSITIONS
            possible += 1
            broken += after in refused
    if any(broken >= least and broken >= share * possible for least, share in _BROKEN_PAIRS):
        return "its words hardly follow one another as in English, as if in a chance order"
    return ""


def _describe_persons(persons: float, tokens: Sequence[str]) -> str:
    """Tell reports and contracts, in which nobody does anything."""
    telling = sum(word in _TELLING for word in tokens) / len(tokens)
    if len(tokens) < _LEAST_FOR_PERSONS or persons + telling >= _NO_PERSONS:
        return ""
    share = "no word" if not persons else "hardly a word"
    return f"it has {share} for a person (I, you, he, she, they, …), as a report or a contract"


def _measure_shares(text: str, tokens: Sequence[str]) -> dict[str, float]:
    """Shares that tell English prose from other writing."""
    letters, count = len(_LETTER.findall(text)), max(1, len(tokens))
    signs = sum(
        text.count(sign)
        for sign in set(text)
        if not (sign.isalnum() or sign.isspace() or sign in _PROSE_MARKS)
    )
    return {
        "latin": len(_LATIN.findall(text)) / letters if letters else 1.0,
        "common": sum(word in _COMMON for word in tokens) / count,
        "numbers": sum(word[0].isdigit() for word in tokens) / count,
        "signs": signs / count,
    }


def _find_foreign(shares: Mapping[str, float], count: int, domain: Domain) -> str:
    """Say why a text is hardly English prose, if so; few words are given some room for chance."""
    room = 1 / math.sqrt(count)
    if shares["latin"] + room < min(domain["latin"], 0.9):
        share = _percent(1 - shares["latin"])
        return f"{share} of its letters are not Latin; the reader knows English"
    if shares["numbers"] - room > domain["numbers"]:
        return f"{_percent(shares['numbers'])} of its words are numbers; the reader knows prose"
    if count >= _LEAST_WORDS and shares["common"] + room < domain["common"]:
        share = f"only {_percent(shares['common'])}" if shares["common"] else "none"
        return f"{share} of its words are common English words; the reader knows English"
    if shares["signs"] - room > domain["signs"]:
        share = f"{shares['signs']:.1f} signs a word that prose hardly has, as in code or markup"
        return f"{share}; the reader knows prose"
    return ""


def _find_odd_surface(text: str, domain: Domain) -> tuple[str, ...]:
    surface = domain.get("surface")
    if surface is None or surface["features_version"] != FEATURES_VERSION:
        return ()
    spreads = _measure_spreads(np.array([feature_row(text)])[:, _SURFACE], surface)[0]
    if np.sqrt((spreads**2).sum()) <= surface["distance"]:
        return ()
    names = list(_WORDS)
    far = [i for i in np.argsort(-np.abs(spreads))[:3] if abs(spreads[i]) >= _NAMED]
    said = ", ".join(dict.fromkeys(_WORDS[names[i]][int(spreads[i] < 0)] for i in far))
    share = f"unlike {_percent(surface['share'])} of the stories the reader learned from"
    return (f"its surface ({said}) is {share}" if said else f"its surface is {share}",)


def _describe_surface(texts: Sequence[str]) -> dict[str, Any]:
    rows = np.array([feature_row(text) for text in texts])[:, _SURFACE]
    bounds = {
        "low": [_low(column) for column in rows.T],
        "middle": [float(np.median(column)) for column in rows.T],
        "high": [_high(column) for column in rows.T],
    }
    distances = np.sqrt((_measure_spreads(rows, bounds) ** 2).sum(axis=1))
    distance = float(np.quantile(distances, _SURFACE_SHARE))
    version = FEATURES_VERSION
    return {"features_version": version, **bounds, "share": _SURFACE_SHARE, "distance": distance}


def _measure_spreads(rows: Array, bounds: Mapping[str, Any]) -> Array:
    """How far features lie from the middle: in standard deviations, were each side normal."""
    low, middle, high = (np.array(bounds[name]) for name in ("low", "middle", "high"))
    side = np.where(rows >= middle, high - middle, middle - low)
    # Where half of the stories have the lowest value of all, there is no side below.
    far = (rows - middle) / np.maximum(side, 0.02 * (high - low) + 1e-4) * _NORMAL_TAIL
    bounded: Array = np.clip(far, -_MOST_SPREADS, _MOST_SPREADS)
    return bounded


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _low(values: Sequence[float] | Array) -> float:
    """Give the value that all but a few of them reach: one of them."""
    return float(np.quantile(values, _TAIL, method="lower"))


def _high(values: Sequence[float] | Array) -> float:
    return float(np.quantile(values, 1 - _TAIL, method="higher"))
