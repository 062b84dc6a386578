"""Questions with a gap, made of the names in a text, and how well an answer fits."""

from __future__ import annotations

import re
import string
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from fabula.core.errors import PackageMissing
from fabula.core.score import Missing, Status
from fabula.models import get_asset, path_of
from fabula.text.sentences import sentence_spans

Finder = Literal["spacy", "capitals"]

GAP = "MASKED"
# spaCy reads so much in a few seconds; a run without a blank takes it the square of its length.
_MOST_CHARACTERS = 50_000
_LONGEST_RUN = 2_000
_WORD = re.compile(r"[^\W\d_]\w*")
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class Cloze:
    """A sentence with a gap, and what stood there."""

    question: str
    answer: str


@lru_cache(maxsize=256)
def clozes(text: str, finder: Finder) -> tuple[Cloze, ...]:
    """Hide every name of every sentence in turn."""
    found = _names_by_spacy(text) if finder == "spacy" else _capitals(text)
    return tuple(
        Cloze(text[first:start] + GAP + text[stop:last], text[start:stop])
        for (first, last), (start, stop) in found
    )


def finder_trait(finder: Finder) -> str:
    """Say what finds the names, for a signature; raise where it is not here."""
    if finder == "capitals":
        return finder
    meta, pinned = _spacy().meta, get_asset("spacy_small").tree_sha256[:12]
    return f"{meta['lang']}_{meta['name']}-{meta['version']},spacy_small@{pinned}"


def squad_f1(answer: str, truth: str) -> float:
    """F of the words that both have, without case, marks and articles (Rajpurkar et al., 2016)."""
    ours, theirs = Counter(_plain_words(answer)), Counter(_plain_words(truth))
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def _plain_words(text: str) -> list[str]:
    return _ARTICLE.sub(" ", text.lower().translate(_NO_MARKS)).split()


Place = tuple[int, int]


def _names_by_spacy(text: str) -> list[tuple[Place, Place]]:
    """Sentence and place of every named entity."""
    if len(text) > _MOST_CHARACTERS:
        note = f"{len(text):,} characters of a reference: over the limit of {_MOST_CHARACTERS:,}"
        raise Missing(Status.TOO_LONG, note)
    longest = max(map(len, text.split()), default=0)
    if longest > _LONGEST_RUN:
        note = f"{longest:,} characters without a blank are more than the limit of {_LONGEST_RUN:,}"
        raise Missing(Status.TOO_LONG, note)
    # spaCy cannot spell halves of surrogate pairs; lengths stay.
    read = _spacy()(text.encode("utf-8", "replace").decode("utf-8"))
    return [
        ((part.start_char, part.end_char), (name.start_char, name.end_char))
        for part in read.sents
        for name in part.ents
    ]


def _capitals(text: str) -> list[tuple[Place, Place]]:
    """Sentence and place of words with a capital that no sentence or speech begins with."""
    return [
        ((first, last), name)
        for first, last in sentence_spans(text)
        for name in _joined(text, [
            (first + word.start(), first + word.end())
            for word in list(_WORD.finditer(text[first:last]))[1:]
            if word.group()[0].isupper()
            and word.group() != "I"
            and text[first + word.start() - 1] not in "\"'“‘«"
        ])
    ]  # fmt: skip


def _joined(text: str, words: list[Place]) -> list[Place]:
    """Names of several words: those with one blank between them."""
    if not words:
        return []
    cuts = [at for at, (a, b) in enumerate(pairwise(words), 1) if text[a[1] : b[0]] != " "]
    bounds = [0, *cuts, len(words)]
    return [(words[start][0], words[stop - 1][1]) for start, stop in pairwise(bounds)]


def _spacy() -> Any:
    if find_spec("spacy") is None:
        raise PackageMissing("spacy", "nlp")
    return _pipeline(path_of("spacy_small"))


@lru_cache(maxsize=1)
def _pipeline(folder: Path) -> Any:
    import spacy

    return spacy.load(folder, exclude=["tagger", "attribute_ruler", "lemmatizer"])
