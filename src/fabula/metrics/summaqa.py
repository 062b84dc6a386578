"""SummaQA: can questions about the reference be answered from the story?"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Annotated, Literal

from fabula.core.card import Card
from fabula.core.errors import UserError
from fabula.core.model import Answer, Answerer
from fabula.core.score import Missing, Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.metrics.model_metric import ModelMetric
from fabula.models.reading.tagging import find_entities, tagger_trait
from fabula.text.sentences import sentence_spans

Finder = Literal["spacy", "capitals"]

GAP = "MASKED"
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
    names = find_entities(text, what="a reference") if finder == "spacy" else _capitals(text)
    return tuple(
        Cloze(text[first:start] + GAP + text[stop:last], text[start:stop])
        for (first, last), (start, stop) in names
    )


def finder_trait(finder: Finder) -> str:
    """Say what finds the names, for a signature; raise where it is not here."""
    if finder == "capitals":
        return finder
    return tagger_trait()


def squad_f1(answer: str, truth: str) -> float:
    """F of the words that both have, without case, marks and articles (Rajpurkar et al., 2016)."""
    ours, theirs = Counter(_plain_words(answer)), Counter(_plain_words(truth))
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def _plain_words(text: str) -> list[str]:
    return _ARTICLE.sub(" ", text.lower().translate(_NO_MARKS)).split()


Place = tuple[int, int]


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


# Questions × characters of the story that are read in about an hour by a large model.
_MOST_READ = 20_000_000


@dataclass(frozen=True)
class Summaqa(ModelMetric):
    """Names of the reference are hidden; a model looks for them in the story."""

    revision = 2
    card = Card(
        title="SummaQA",
        family="model",
        direction="higher",
        low=0.0,
        high=1.0,
        needs=("reference",),
        aspects=("probability", "f"),
        assets=("spacy_small",),
        references="the reference with the best F counts",
        paper="Scialom, Lamprier, Piwowarski and Staiano (2019). Answers Unite! Unsupervised "
        "Metrics for Reinforced Summarization Models. EMNLP-IJCNLP.",
        formula="every named entity of every sentence of the reference is replaced by MASKED and "
        "asked for; mean of p(first token) · p(last token) of the answers, and mean F1 of their "
        "words with the entity's (SQuAD's: no case, marks, articles)",
        compat="The story is cut where question and story make 384 tokens; softmaxes go over all "
        "384 places, padding too; first and last token of an answer are each the likeliest, and "
        "an answer that ends before it begins is empty; without an entity both values are 0.",
        quirks=(
            "The model (1.3 GB) comes from the hub at first use, names come from spaCy (extra "
            "`nlp`, asset `spacy_small`); without them every story says how to get them.",
            "By default the whole story is read, by windows that overlap, and the surest window "
            "answers, with a span of at most 30 tokens; without an entity there is no value.",
            "entities='capitals' needs no spaCy: names are words with a capital that begin no "
            "sentence and no speech.",
            "HANNA does not say which value its column is. It is most likely the probability: "
            "where a reference has a single name, the column holds no F1 of a few words (.7175 for "
            "prompt 9's human story). It is 0 for all stories of 4 prompts; today's spaCy finds "
            "no name in 3 of these references.",
            "HANNA's machine values pile up just below .11, whatever the question.",
        ),
        cannot_see="Anything without a name. A story that names the same people and tells another "
        "tale scores well; a faithful retelling with other names scores nothing.",
        published={"hanna": {"SummaQA": ("summaqa(compat=True)", "probability")}},
    )

    model: str = "huggingface('bert-large-uncased-whole-word-masking-finetuned-squad')"
    entities: Annotated[Finder, Means("what finds the names of the reference")] = "spacy"

    def traits(self) -> dict[str, str]:
        """Give the model's signature, and what finds names."""
        try:
            finder = finder_trait(self.entities)
        except UserError:
            finder = "missing"
        return super().traits() | {"entities": finder}

    @cached_property
    def absence(self) -> str:
        """Say all that it lacks: the model, what finds names, or both."""
        lacking = [super().absence]
        try:
            finder_trait(self.entities)
        except UserError as error:
            lacking.append(str(error))
        return "; ".join(filter(None, lacking))

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Answer the questions on all stories in one call."""
        asked = [
            [self._questions(story, reference) for reference in story.nonblank_references]
            for story in stories
        ]
        pairs = [
            (cloze.question, story.text)
            for story, sets in zip(stories, asked, strict=True)
            for questions in sets
            for cloze in (questions if isinstance(questions, tuple) else ())
        ]
        answers = self.model_as(Answerer).answers(pairs, apart=self.compat)
        return [
            self.best([self._reading(questions, answers) for questions in sets]) for sets in asked
        ]

    def _questions(self, story: Story, reference: str) -> tuple[Cloze, ...] | Reading:
        """Give the questions that a reference asks, or why there is no asking."""
        try:
            questions = clozes(reference, self.entities)
        except Missing as why:
            return self.missing(why.status, why.note)
        if not questions:
            if self.compat:
                return Reading((0.0, 0.0), note="the reference has no name to ask for")
            return self.missing(Status.UNDEFINED, "the reference has no name to ask for")
        if len(questions) * len(story.text) > _MOST_READ:
            size = f"{len(questions):,} questions × {len(story.text):,} characters"
            return self.missing(Status.TOO_LONG, f"{size}: over the limit of {_MOST_READ:,}")
        return questions

    def _reading(
        self, questions: tuple[Cloze, ...] | Reading, answers: Iterator[Answer]
    ) -> Reading:
        if isinstance(questions, Reading):
            return questions
        given = [(next(answers), cloze.answer) for cloze in questions]
        sure = sum(answer.probability for answer, _ in given) / len(given)
        right = sum(squad_f1(answer.text, truth) for answer, truth in given) / len(given)
        return Reading((sure, right), coverage=min(answer.coverage for answer, _ in given))
