"""Parts of speech of words by themselves, in the tags of the Penn Treebank.

NLTK's tagger, which the papers use, needs data that are not at hand. Here a word has one tag,
whatever stands around it: by its shape (`light_tag`, the default), by how often WordNet's own
texts use it as which part (`wordnet_tagger`, better), or by what a tagger of one's own said most
often (`majority_tagger`; spaCy's `token.text, token.tag_` will do).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from fabula.core.errors import InputError
from fabula.text.inflect import Form, plain_forms
from fabula.text.verbs import is_plain, plain_of_past, plain_of_third

Tagger = Callable[[str], str]

FUNCTION_WORDS = frozenset(
    """
    a an the this that these those my your his her its our their mine yours hers ours theirs
    i you he she it we they me him us them myself yourself himself herself itself ourselves
    themselves who whom whose which what where when why how while if as than then so and or but nor
    not no never yes none nothing nobody neither either both all any some every each everyone
    everything everybody someone something somebody anyone anything one ones another other others
    such same am is are was were be been being do does did doing done have has had having will
    would can could shall should may might must ought to of in on at by for from with without about
    into onto over under up down out off above below between among through during before after
    since until till because though although unless near here there now just only also too very
    quite rather even still again ever always once much many more most less least few several own
    let upon along across against around behind beside besides beyond toward towards within
    ai ca wo sha don didn doesn isn wasn aren weren couldn wouldn shouldn hadn hasn haven won
    mr mrs ms dr ok okay oh like
    """.split()
)
_NO_ING = frozenset(
    "thing king ring wing spring string morning evening ceiling wedding building ending being "
    "feeling meeting painting sibling sling bring sing cling swing sting ding".split()
)
_NO_LY = frozenset("family only fly reply apply supply ugly lovely friendly lonely bully".split())
_ADJECTIVE = re.compile(r"..(?:ful|ous|ive|less|able|ible|ish|ic|ical)$")
_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=200_000)
def light_tag(word: str) -> str:
    """Tag a word by its capital and its ending; empty for function words and what is no word."""
    if not _WORD.fullmatch(word) or len(word) < 2 or word.lower() in FUNCTION_WORDS:
        return ""
    if word[0].isupper():
        return "NNP"
    return _verb_tag(word) or _other_tag(word)


def wordnet_tagger(folder: Path) -> Tagger:
    """Make a tagger of WordNet's folder; words it has no count of are tagged by `light_tag`."""
    counts = _part_counts(folder)

    @lru_cache(maxsize=200_000)
    def tag(word: str) -> str:
        light = light_tag(word)
        if light in ("", "NNP"):
            return light
        found = [
            (counts.get((plain, part), 0), name)
            for plain, form in plain_forms(word)
            for part, name in _TAGS[form].items()
        ]
        # Of equal counts the likelier form wins: the first.
        count, name = max(found, key=lambda pair: pair[0])
        return name if count else light

    return tag


def majority_tagger(tagged: Iterable[tuple[str, str]]) -> Tagger:
    """Make a tagger of words and their tags in running text: a word's most frequent tag counts."""
    counts: dict[str, Counter[str]] = {}
    for word, name in tagged:
        counts.setdefault(word, Counter())[name] += 1
    most = {word: max(sorted(found), key=found.__getitem__) for word, found in counts.items()}

    def tag(word: str) -> str:
        light = light_tag(word)
        return most.get(word, light) if light else ""

    return tag


def _verb_tag(word: str) -> str:
    if plain_of_past(word):
        return "VBD"
    if word.endswith("ing") and len(word) > 4 and word not in _NO_ING:
        return "VBG"
    if is_plain(word):
        return "VB"
    third = plain_of_third(word)
    return "VBZ" if third and is_plain(third) else ""


def _other_tag(word: str) -> str:
    if word.endswith("ly") and word not in _NO_LY:
        return "RB"
    if _ADJECTIVE.search(word) or word in _NO_LY - {"family", "fly", "reply", "supply", "bully"}:
        return "JJ"
    return "NNS" if word.endswith("s") and not word.endswith(("ss", "us", "is")) else "NN"


# Kinds of senses in WordNet's keys: noun, verb, adjective, adverb, adjective beside another.
_PARTS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
_TAGS: dict[Form, dict[str, str]] = {
    "plain": {"n": "NN", "v": "VB", "a": "JJ", "r": "RB"},
    "past": {"v": "VBD"},
    "third": {"v": "VBZ"},
    "plural": {"n": "NNS"},
    "ing": {"v": "VBG"},
    "more": {"a": "JJR"},
    "most": {"a": "JJS"},
}


def _part_counts(folder: Path) -> Counter[tuple[str, str]]:
    """Count how often a word is each part of speech in WordNet's tagged texts (cntlist.rev)."""
    counts: Counter[tuple[str, str]] = Counter()
    try:
        lines = (folder / "cntlist.rev").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        problem = f"{folder} is no folder of WordNet's files ({error.strerror})"
        raise InputError(problem, "give the one that holds cntlist.rev") from None
    for line in lines:
        key, _, count = line.split()
        lemma, _, sense = key.partition("%")
        counts[lemma, _PARTS[sense[0]]] += int(count)
    return counts
