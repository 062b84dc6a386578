"""SPICE's idea on a small parser: do story and references speak of the same things?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Annotated, Literal

from fabula.core.card import Card
from fabula.core.errors import UserError
from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.metrics.meteor import open_wordnet
from fabula.models.reading.tagging import parse_text, tagger_trait
from fabula.text.scenes import SceneTuple, find_tuples

Kinds = Literal["all", "objects", "attributes", "relations"]
_SIZES = {"all": (1, 2, 3), "objects": (1,), "attributes": (2,), "relations": (3,)}


@dataclass(frozen=True)
class SpiceLite(StoryMetric):
    """Overlap of a story with its references in objects, attributes and relations.

    A text becomes tuples, such as (girl), (girl, young) and (girl, on, bench); those of all
    references are one set. This is not SPICE, which parses with Stanford's scene-graph parser.
    """

    card = Card(
        title="SPICE, on a small parser",
        label="SPICE-lite",
        family="model",
        direction="higher",
        low=0.0,
        high=1.0,
        needs=("reference",),
        aspects=("recall", "precision", "f"),
        assets=("spacy_small", "wordnet"),
        references="the tuples of all references together",
        paper="The idea: Anderson, Fernando, Johnson and Gould (2016). SPICE: Semantic "
        "propositional image caption evaluation. ECCV, 382–398.",
        formula="precision = share of the story's tuples that match one of the references'; recall "
        "the other way round; f = 2 · precision · recall / (precision + recall). Tuples match if "
        "they are as long and all their words are equal lemmas or share a WordNet synset",
        quirks=(
            "It is not SPICE: tuples come by rules of spaCy's small parser (asset `spacy_small`, "
            "extra `nlp`), so that its values do not compare with SPICE's, and its slips are its "
            "own.",
            "Verbs without an object are attributes and prepositions relations, as in SPICE's "
            "example: (girl, stand), (girl, on top of, court). Pronouns are no objects, and what "
            "they stand for is not looked for.",
            "synonyms=False compares lemmas alone and needs no WordNet.",
            "kinds='objects', 'attributes' or 'relations' gives the F of these alone.",
            "Of 600 photos of VIST, a caption scores higher beside two others of its photo than "
            "beside two of another photo in .89 [.87, .91] of the cases (ties half), without "
            "synonyms .88; ROUGE-L as RoViST has it .87, METEOR .94, WMD .95.",
            "A story without a tuple recalls nothing and has an f of 0; its precision is 0 / 0. "
            "References without one have no value.",
        ),
        cannot_see="Negation, tense, order, style and plot. In stories most is told by pronouns, "
        "of which it sees nothing; and what a picture shows only as far as the references say it.",
    )

    synonyms: Annotated[bool, Means("words that share a WordNet synset match")] = True
    kinds: Annotated[Kinds, Means("which tuples count")] = "all"

    def traits(self) -> dict[str, str]:
        """Which parser, which synonyms, and how references are joined."""
        try:
            parser = tagger_trait(parses=True)
        except UserError:
            parser = "missing"
        wordnet = {"wordnet": "3.0"} if self.synonyms else {}
        return {"parser": parser} | wordnet | {"refs": "union"}

    @cached_property
    def absence(self) -> str:
        """Say all that it lacks: the parser, WordNet, or both."""
        lacking = []
        for look in (lambda: tagger_trait(parses=True), *([open_wordnet] * self.synonyms)):
            try:
                look()
            except UserError as error:
                lacking.append(str(error))
        return "; ".join(lacking)

    def value(self, story: Story) -> Reading:
        """Recall, precision and f of the story's tuples."""
        sizes = _SIZES[self.kinds]
        ours = {one for one in text_tuples(story.text) if len(one) in sizes}
        parsed = chain.from_iterable(map(text_tuples, story.nonblank_references))
        theirs = {one for one in parsed if len(one) in sizes}
        what = "tuple" if self.kinds == "all" else self.kinds.removesuffix("s")
        if not theirs:
            raise Missing(Status.UNDEFINED, f"no {what} was found in the references")
        if not ours:
            note = f"no {what} was found in the story: no precision"
            return Reading((0.0, math.nan, 0.0), note=note)
        meanings = open_wordnet().synsets if self.synonyms else None
        precision = share_matched(ours, theirs, meanings)
        recall = share_matched(theirs, ours, meanings)
        f = 2 * precision * recall / (precision + recall) if recall else 0.0
        return Reading((recall, precision, f))


@lru_cache(maxsize=256)
def text_tuples(text: str) -> frozenset[SceneTuple]:
    """Give the tuples of a text, kept because stories share their references."""
    return find_tuples(parse_text(text))


Meanings = Callable[[str], frozenset[int]]


def share_matched(
    tuples: Iterable[SceneTuple], others: Iterable[SceneTuple], meanings: Meanings | None = None
) -> float:
    """Share of tuples that match one of the others, word for word or by a common meaning."""
    index = _Index(others, meanings)
    matched = [index.holds(one) for one in tuples]
    return sum(matched) / len(matched)


class _Index:
    """Tuples by their first words, and by what these may mean."""

    def __init__(self, tuples: Iterable[SceneTuple], meanings: Meanings | None) -> None:
        self.tuples = frozenset(tuples)
        self.meanings = meanings
        self.by_meaning: dict[int, set[SceneTuple]] = {}
        for one in self.tuples:
            for meaning in self._meanings(one[0]):
                self.by_meaning.setdefault(meaning, set()).add(one)
        self.by_word: dict[str, set[SceneTuple]] = {}
        for one in self.tuples:
            self.by_word.setdefault(one[0], set()).add(one)

    def holds(self, wanted: SceneTuple) -> bool:
        """Whether one of the tuples matches."""
        if wanted in self.tuples or self.meanings is None:
            return wanted in self.tuples
        near = [self.by_word.get(wanted[0], set())]
        near += [self.by_meaning.get(meaning, set()) for meaning in self._meanings(wanted[0])]
        return any(
            len(one) == len(wanted) and all(map(self._match, wanted[1:], one[1:]))
            for one in frozenset().union(*near)
        )

    def _match(self, word: str, other: str) -> bool:
        return word == other or not self._meanings(word).isdisjoint(self._meanings(other))

    def _meanings(self, word: str) -> frozenset[int]:
        return self.meanings(word) if self.meanings else frozenset()
