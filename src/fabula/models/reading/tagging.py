"""English as spaCy's small model reads it: words with parts of speech, sentences, parses, names.

The package is the extra `nlp`, the model the asset `spacy_small`; where either is not here, a
`UserError` says how to get it. Places are characters of the text as it was given.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from fabula.core.errors import PackageMissing
from fabula.core.model import ParsedSentence, ParsedWord
from fabula.core.score import Missing, Status
from fabula.models.store.asset import get_asset
from fabula.models.store.folder import path_of

_ASSET = "spacy_small"
# spaCy reads so much in a few seconds; a run without a blank takes it the square of its length.
_MOST_CHARACTERS = 50_000
_LONGEST_RUN = 2_000
# What finds sentences and names, parts of speech and names, or lemmas and how words depend on
# each other: of the pipeline's parts each job leaves out those it does not need.
_FOR_SENTENCES = ("tagger", "attribute_ruler", "lemmatizer")
_FOR_TAGS = ("parser", "senter", "lemmatizer")
_FOR_PARSES = ("senter", "ner")
# Kinds of entities that are no names: numbers, times, sums.
_NO_NAMES = frozenset(
    {"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"}
)  # fmt: skip

Place = tuple[int, int]


class TaggedWord(NamedTuple):
    """A token and its part of speech in the words of Universal Dependencies: NOUN, PROPN, …"""

    start: int
    stop: int
    tag: str


class TaggedText(NamedTuple):
    """The tokens of a text, and where its names stand: of people, places, groups, works."""

    words: tuple[TaggedWord, ...]
    names: tuple[Place, ...]


def tagger_trait(*, tags: bool = False, parses: bool = False) -> str:
    """Say which model reads (for `tags`, for `parses`, or for entities), for a signature; raise
    where it is not here."""
    meta = _load(_FOR_PARSES if parses else _FOR_TAGS if tags else _FOR_SENTENCES).meta
    pinned = get_asset(_ASSET).tree_sha256[:12]
    return f"{meta['lang']}_{meta['name']}-{meta['version']},{_ASSET}@{pinned}"


def tag_text(text: str) -> TaggedText:
    """Give the parts of speech and the names of a text."""
    read = _read(text, _FOR_TAGS, "a text")
    words = tuple(
        TaggedWord(token.idx, token.idx + len(token), token.pos_)
        for token in read
        if not token.is_space
    )
    names = (name for name in read.ents if name.label_ not in _NO_NAMES)
    return TaggedText(words, tuple((name.start_char, name.end_char) for name in names))


def find_entities(text: str, *, what: str = "a text") -> list[tuple[Place, Place]]:
    """Sentence and place of every named entity, numbers and times too."""
    return [
        ((part.start_char, part.end_char), (name.start_char, name.end_char))
        for part in _read(text, _FOR_SENTENCES, what).sents
        for name in part.ents
    ]


def label_names(text: str, *, what: str = "a text") -> list[tuple[Place, str]]:
    """Place of every name and what it names: PERSON, GPE, ORG, …"""
    return [
        ((name.start_char, name.end_char), name.label_)
        for name in _read(text, _FOR_TAGS, what).ents
        if name.label_ not in _NO_NAMES
    ]


def parse_text(text: str, *, what: str = "a text") -> tuple[ParsedSentence, ...]:
    """Give the sentences of a text, each word with lemma, tag and what it depends on."""
    sentences = []
    for part in _read(text, _FOR_PARSES, what).sents:
        # Blanks are tokens to spaCy: a word that hangs on one counts as a root.
        words = [token for token in part if not token.is_space]
        places = {token.i: place for place, token in enumerate(words)}
        sentences.append(tuple(
            ParsedWord(
                token.text, token.lemma_, token.tag_, token.dep_,
                places.get(token.head.i, place), token.idx, token.idx + len(token),
            )
            for place, token in enumerate(words)
        ))  # fmt: skip
    return tuple(sentence for sentence in sentences if sentence)


def _read(text: str, without: tuple[str, ...], what: str) -> Any:
    if len(text) > _MOST_CHARACTERS:
        note = f"{len(text):,} characters of {what}: over the limit of {_MOST_CHARACTERS:,}"
        raise Missing(Status.TOO_LONG, note)
    longest = max(map(len, text.split()), default=0)
    if longest > _LONGEST_RUN:
        note = f"{longest:,} characters without a blank are more than the limit of {_LONGEST_RUN:,}"
        raise Missing(Status.TOO_LONG, note)
    # spaCy cannot spell halves of surrogate pairs; lengths stay.
    return _load(without)(text.encode("utf-8", "replace").decode("utf-8"))


def _load(without: tuple[str, ...]) -> Any:
    if find_spec("spacy") is None:
        raise PackageMissing("spacy", "nlp")
    return _pipeline(path_of(_ASSET), without)


@lru_cache(maxsize=3)
def _pipeline(folder: Path, without: tuple[str, ...]) -> Any:
    import spacy

    return spacy.load(folder, exclude=list(without))
