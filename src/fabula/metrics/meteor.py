"""METEOR: words matched by form, stem and sense, in as few chunks as can be."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from operator import mul
from pathlib import Path
from typing import Literal

from fabula.core.card import Card
from fabula.core.errors import PackageMissing
from fabula.core.metric import PairMetric, Value
from fabula.core.score import Missing, Status
from fabula.metrics._words import read_words
from fabula.models import AssetError, path_of
from fabula.text.wordnet import WordNet
from fabula.text.words import caption_words

_TOKEN = re.compile(r"n't\b|'(?:s|re|ve|ll|d|m)\b|\w+|[^\w\s]")
Tokens = Literal["marks", "captions"]
_WEIGHTS = (1.0, 0.6, 0.8)
_ALPHA, _BETA, _GAMMA, _DELTA = 0.85, 0.2, 0.6, 0.75


@dataclass(frozen=True)
class Meteor(PairMetric):
    """Words of a story that are in the reference too, as they are, by stem or as synonyms.

    Recall counts more than precision, content words more than function words, and many scattered
    chunks less than a few long ones (Denkowski and Lavie, 2014).
    """

    card = Card(
        title="METEOR",
        family="string",
        direction="higher",
        low=0.0,
        high=1.0,
        needs=("reference",),
        assets=("wordnet",),
        references="the best reference counts",
        paper="Denkowski and Lavie (2014). Meteor universal: Language specific translation "
        "evaluation for any target language. WMT, 376–380.",
        formula="(1 − 0.6 · (chunks / matches)^0.2) · P · R / (0.85 · P + 0.15 · R); a match "
        "counts 1 if exact, 0.6 by stem, 0.8 as synonym, times 0.75 for content and 0.25 for "
        "function words",
        compat="The same numbers: HANNA's column comes from the Java tool and is not reproduced "
        "exactly, see the quirks.",
        quirks=(
            "No paraphrase table. That of the Java tool (METEOR 1.5) also matches phrases learned "
            "from parallel text; on HANNA's 960 machine stories these values correlate with the "
            "tool's at .97 (`fabula verify` prints it).",
            "The Java tool aligns with a beam search, this one greedily.",
            "A story matched word for word in one chunk has no penalty, as in the tool.",
            "Punctuation marks are tokens; with tokenize='captions' there are none, as in the "
            "captioning toolkit on which RoViST's baselines stand.",
            "English only; needs the asset `wordnet` and the `nlp` extra.",
        ),
        cannot_see="Quality, plot, and phrases that say the same in other words.",
        published={"hanna": {"METEOR": ("meteor(compat=True)", "")}},
    )

    tokenize: Tokens = "marks"

    def traits(self) -> dict[str, str]:
        """Matchers, their resources, and how references are joined."""
        return {"match": "exact-stem-synonym", "wordnet": "3.0", "refs": "best"}

    def compare(self, text: str, reference: str) -> Value:
        """Score of a text beside one reference."""
        words, others = _tokens(text, self.tokenize), _tokens(reference, self.tokenize)
        if not words or not others:
            which = "story" if not words else "reference"
            raise Missing(Status.UNDEFINED, f"there is no word in the {which}")
        matches = align(words, _matcher(reference, self.tokenize, _wordnet().make_room()))
        return _score(words, others, matches) if matches else 0.0


def _score(words: Sequence[str], others: Sequence[str], matches: Sequence[Match]) -> float:
    chunks = count_chunks(matches)
    whole = chunks == 1 and len(matches) == len(words) == len(others)
    penalty = 0.0 if whole else _GAMMA * (chunks / len(matches)) ** _BETA
    places, other_places, kinds = zip(*matches, strict=True)
    credits = [_WEIGHTS[kind] for kind in kinds]
    precision = _share(_weights(words), places, credits)
    recall = _share(_weights(others), other_places, credits)
    mean = precision * recall / (_ALPHA * precision + (1 - _ALPHA) * recall)
    return float(mean * (1 - penalty))


def _share(weights: Sequence[float], places: Sequence[int], credits: Sequence[float]) -> float:
    """Share of a text's weight that is matched."""
    matched = map(mul, map(weights.__getitem__, places), credits)
    return float(sum(matched) / sum(weights))


def _weights(words: Sequence[str]) -> list[float]:
    """Weight of each word: content words count more than function words."""
    weight_of = _function_weights().get
    return [weight_of(word, _DELTA) for word in words]


@lru_cache(maxsize=64)
def _matcher(reference: str, rule: Tokens, forgotten: int) -> Matcher:
    """Index of a reference, kept because the stories of all systems share it.

    It relies on words that WordNet has met: once these are forgotten, it is made anew.
    """
    return Matcher(_tokens(reference, rule), _stemmer(), _wordnet().find_related)


@lru_cache(maxsize=256)
def _tokens(text: str, rule: Tokens) -> list[str]:
    if rule == "captions":
        return caption_words(text)
    return _TOKEN.findall(text.lower().replace("’", "'").replace("n't", " n't"))


@lru_cache(maxsize=1)
def _function_weights() -> dict[str, float]:
    return dict.fromkeys(read_words("meteor_function"), 1 - _DELTA)


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    try:
        import snowballstemmer
    except ImportError:
        note = str(PackageMissing("snowballstemmer", "nlp"))
        raise Missing(Status.MISSING_MODEL, note) from None
    return lru_cache(maxsize=200_000)(snowballstemmer.stemmer("english").stemWord)


def open_wordnet() -> WordNet:
    """Give WordNet, read once a process; without it an `AssetError` says how to get it."""
    return _read_wordnet(path_of("wordnet") / "corpora" / "wordnet")


@lru_cache(maxsize=1)
def _read_wordnet(folder: Path) -> WordNet:
    return WordNet(folder)


@lru_cache(maxsize=1)
def _wordnet() -> WordNet:
    try:
        return open_wordnet()
    except AssetError as error:
        # What else is missing is said at once: nobody wants to be sent twice.
        lacking = [] if find_spec("snowballstemmer") else [PackageMissing("snowballstemmer", "nlp")]
        note = "; and ".join(map(str, [error, *lacking]))
        raise Missing(Status.MISSING_MODEL, note) from None


EXACT, STEM, SYNONYM = range(3)
MOST_PAIRS = 2_000_000

_NONE: list[str] = []

Related = Callable[[str], set[str]]
Stem = Callable[[str], str]


# A word of the text, the word of the reference it stands for, and by which matcher.
Match = tuple[int, int, int]


class Matcher:
    """A reference, ready to be matched with many texts: exactly, by stem and by synonym."""

    def __init__(self, reference: Sequence[str], stem: Stem, related: Related) -> None:
        self.reference = reference
        self._stem, self._related = stem, related
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(reference):
            self.places.setdefault(word, []).append(place)
        self._vocabulary = set(self.places)
        self._by_stem: dict[str, list[str]] = {}
        for word in self.places:
            related(word)
            self._by_stem.setdefault(stem(word), []).append(word)
        self._others: dict[str, dict[str, int]] = {}

    def others(self, word: str) -> dict[str, int]:
        """Other words of the reference that a word matches, each by its best matcher."""
        others = self._others.get(word)
        if others is None:
            stems = self._by_stem.get(self._stem(word), _NONE)
            senses = self._related(word) & self._vocabulary
            others = dict.fromkeys(stems, STEM) if stems else {}
            if senses:
                others |= dict.fromkeys(senses, SYNONYM)
            if others:
                others.pop(word, None)
            self._others[word] = others
        return others


def align(text: Sequence[str], matcher: Matcher) -> list[Match]:
    """Align each word of the text with at most one of the reference, in few chunks.

    From left to right: go on with the chunk at hand; else begin where most words ahead are the
    same, an exact match before others and the nearest place first. (The Java tool searches with
    a beam of 40.)
    """
    _refuse_long(text, matcher)
    reference = [*matcher.reference, ""]
    free = {word: places.copy() for word, places in matcher.places.items()}
    used = bytearray(len(reference))
    used[-1] = True
    matches: list[Match] = []
    following = -1
    for here, word in enumerate(text):
        other, kind = reference[following], EXACT
        if used[following] or other != word:
            if starts := free.get(word):
                following, other = _best_start(here, starts, text, reference), word
            elif others := matcher.others(word):
                if used[following] or other not in others:
                    starts = sorted([place for word_left in others for place in free[word_left]])
                    following = _best_start(here, starts, text, reference)
                    other = reference[following]
                kind = others.get(other, EXACT)
            else:
                following = -1
            if following < 0:
                continue
        matches.append((here, following, kind))
        used[following] = True
        free[other].remove(following)
        following += 1
    return matches


def _best_start(here: int, starts: list[int], text: Sequence[str], reference: Sequence[str]) -> int:
    """Place to begin a chunk at; -1 where every match is taken."""
    if len(starts) < 2:
        return starts[0] if starts else -1
    ahead, reach = starts, 0
    # Longer and longer chunks, until none goes on; the reference ends in an empty word.
    while ahead:
        starts, reach = ahead, reach + 1
        if here + reach == len(text):
            break
        word = text[here + reach]
        ahead = [start for start in starts if reference[start + reach] == word]
    after = bisect_left(starts, here)
    if after == len(starts):
        return starts[-1]
    if after and here - starts[after - 1] <= starts[after] - here:
        return starts[after - 1]
    return starts[after]


def count_chunks(matches: Sequence[Match]) -> int:
    """Number of runs that are contiguous in both texts."""
    joins = sum(
        after == before + 1 and other_after == other + 1
        for (before, other, _), (after, other_after, _) in pairwise(matches)
    )
    return len(matches) - joins


def _refuse_long(text: Sequence[str], matcher: Matcher) -> None:
    if len(text) * len(matcher.reference) <= MOST_PAIRS:
        return
    pairs = sum(len(matcher.places.get(word, ())) for word in text)
    if pairs > MOST_PAIRS:
        note = f"{pairs:,} pairs of equal words are more than the limit of {MOST_PAIRS:,}"
        raise Missing(Status.TOO_LONG, note)
