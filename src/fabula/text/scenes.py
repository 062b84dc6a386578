"""What a sentence shows, as tuples: objects, what they are like, and how they stand to each other.

The form is that of SPICE (Anderson et al., 2016): (girl), (girl, young), (girl, on, court). SPICE
parses with Stanford's scene-graph parser; here the tuples come of the dependencies that any parser
with spaCy's English labels gives, by the rules below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabula.core.model import ParsedSentence
from fabula.text.nouns import is_noun

SceneTuple = tuple[str, ...]

# Longer lists are no sentences of a story, and all pairs of their members too many.
_MOST_CONJUNCTS = 20
_CLAUSES = frozenset({"acl", "relcl"})
_FOLLOWING = frozenset({"conj", "xcomp", "advcl"})
# `on top of`, `in front of`: these nouns are parts of a preposition.
_PLACES = frozenset(
    {"back", "bottom", "center", "centre", "edge", "front", "middle", "side", "top"}
)  # fmt: skip


def find_tuples(sentences: Sequence[ParsedSentence]) -> frozenset[SceneTuple]:
    """Give the tuples of all sentences: of one word, objects; of two, attributes; of three,
    relations."""
    return frozenset(found for words in sentences for found in _Scene(words).find())


class _Scene:
    """The words of one sentence, and which hang on which."""

    def __init__(self, words: ParsedSentence) -> None:
        self.words = words
        self.hanging: list[list[int]] = [[] for _ in words]
        for place, word in enumerate(words):
            if word.head != place:
                self.hanging[word.head].append(place)

    def find(self) -> Iterator[SceneTuple]:
        """Give all tuples, some of them twice."""
        for place, word in enumerate(self.words):
            if self.is_object(place):
                yield (self.name(place),)
                yield from self.describe(place)
            if word.tag.startswith("VB"):
                yield from self.relate(place)

    def is_object(self, place: int) -> bool:
        """Whether a noun stands for itself, not for a part of another or of a preposition."""
        word = self.words[place]
        return is_noun(word) and word.relation != "compound" and not self.is_place(place)

    def is_place(self, place: int) -> bool:
        """Whether a noun is the middle of a preposition of several words."""
        word = self.words[place]
        lemma = word.lemma.lower()
        return word.relation == "pobj" and lemma in _PLACES and bool(self.below(place, "prep"))

    def name(self, place: int) -> str:
        """Write a word as it is compared: its lemma in lower case."""
        return self.words[place].lemma.lower()

    def below(self, place: int, *relations: str) -> list[int]:
        """Places of the words that hang on a word in one of some ways."""
        return [at for at in self.hanging[place] if self.words[at].relation in relations]

    def with_conjuncts(self, places: Sequence[int]) -> Iterator[int]:
        """Give words and those that `and` ties to them: `a man and a woman`."""
        for place in places:
            chain = [place]
            for at in chain:
                yield at
                chain += self.below(at, "conj")[: _MOST_CONJUNCTS - len(chain)]

    def objects(self, places: Sequence[int]) -> list[int]:
        """Give those of some words, and of their conjuncts, that are objects."""
        return [place for place in self.with_conjuncts(places) if self.is_object(place)]

    def describe(self, place: int) -> Iterator[SceneTuple]:
        """Give what stands with a noun: adjectives, numbers, parts of it, owners, places."""
        name = self.name(place)
        for at in self.with_conjuncts(self.below(place, "amod", "nummod", "compound")):
            yield name, self.name(at)
        for at in self.objects(self.below(place, "poss")):
            yield self.name(at), "have", name
        for relation, thing in self.prepositions(place):
            yield name, relation, self.name(thing)

    def prepositions(self, place: int) -> Iterator[tuple[str, int]]:
        """Give each preposition below a word, and the things that stand after it.

        One of several words is one relation: `in front of`, `out of`.
        """
        for at in self.below(place, "prep"):
            after = self.below(at, "pobj")
            ways = [(self.name(at), after)]
            for inner in self.below(at, "prep"):
                ways.append((f"{self.name(at)} {self.name(inner)}", self.below(inner, "pobj")))
            for middle in filter(self.is_place, after):
                for last in self.below(middle, "prep"):
                    words = " ".join(map(self.name, (at, middle, last)))
                    ways.append((words, self.below(last, "pobj")))
            for relation, places in ways:
                yield from ((relation, thing) for thing in self.objects(places))

    def relate(self, verb: int) -> Iterator[SceneTuple]:
        """Give what a verb says of its subjects: on what they act, what they are, where."""
        doers, done_to = self.find_doers(verb), self.objects(self.below(verb, "dobj"))
        passive = self.objects(self.below(verb, "nsubjpass"))
        subjects = doers or passive
        if doers and (targets := done_to or passive):
            yield from (
                (self.name(a), self.name(verb), self.name(b)) for a in doers for b in targets
            )
        elif self.name(verb) != "be":
            yield from ((self.name(subject), self.name(verb)) for subject in subjects)
        for subject in subjects:
            for at in self.with_conjuncts(self.below(verb, "acomp")):
                yield self.name(subject), self.name(at)
            for at in self.objects(self.below(verb, "attr")):
                yield self.name(subject), "be", self.name(at)
            for relation, thing in self.prepositions(verb):
                yield self.name(subject), relation, self.name(thing)

    def find_doers(self, verb: int) -> list[int]:
        """Who does it: whom `by` names, the subject, or whom a clause belongs to.

        A verb without either has the subject of the verb it follows: `stands and waves`.
        """
        while True:
            word = self.words[verb]
            agents = [at for by in self.below(verb, "agent") for at in self.below(by, "pobj")]
            if agents or self.below(verb, "nsubjpass"):
                return self.objects(agents)
            subjects = self.below(verb, "nsubj")
            if named := self.objects(subjects):
                return named
            if word.relation in _CLAUSES and is_noun(self.words[word.head]):
                return [word.head]
            follows = word.relation in _FOLLOWING and self.words[word.head].tag.startswith("VB")
            if subjects or not follows or word.head == verb:
                return []
            verb = word.head
