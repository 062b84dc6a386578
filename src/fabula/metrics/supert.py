"""SUPERT: how well a text's words are found among those of the document it should sum up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from fabula.core.card import Card, Need
from fabula.core.model import Embedder, Span, TokenStates
from fabula.core.score import Reading, Status
from fabula.core.settings import AtLeast, Means
from fabula.core.story import Story
from fabula.metrics._vectors import excess, largest_cosines
from fabula.metrics._words import stop_words, stop_words_digest
from fabula.metrics.model_metric import ModelMetric
from fabula.text.sentences import split_sentences

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class Supert(ModelMetric):
    """F of the best cosines between the words of a summary and a document's first sentences."""

    revision = 2
    card = Card(
        title="SUPERT",
        family="embedding",
        direction="higher",
        low=-1.0,
        high=1.0,
        uses=("prompt", "reference"),
        assets=("minilm",),
        references="with use='golden' the reference with the best value counts",
        paper="Gao, Zhao and Eger (2020). SUPERT: Towards New Frontiers in Unsupervised Evaluation "
        "Metrics for Multi-Document Summarization. ACL, 1347–1354.",
        formula="P = mean over the summary's words of the largest cosine to any word of the "
        "document's first `sentences` sentences; R the other way round; F = 2PR / (P + R), 0 "
        "unless both have one sign. Each sentence is encoded by itself; stop words and the tokens "
        "that the model adds are left out. use='SS': the story sums up the prompt; 'PS': the "
        "prompt sums up the story; 'golden': the story sums up the reference",
        compat="A token is a stop word by its own spelling, even where it begins a longer word.",
        quirks=(
            "It was made for summaries; HANNA lets the story or its prompt play the summary.",
            "The original leaves out the stop words of all languages of NLTK, which are not ours "
            "to ship; ours are English. Give them as a file, one word a line, in `stop_words`.",
            "Sentences are parted by our own rules; the original's by NLTK's.",
            "HANNA's columns are of bert-large-nli-stsb-mean-tokens. The default, MiniLM's last "
            "layer, agrees best with them on prompts 0 to 47; on the other 48 it correlates with "
            "SS at .828, with PS at .819 and with Golden at .689 (machine stories).",
        ),
        cannot_see="Whether the story is good: it likes what stays with the words of the prompt, "
        "and a story that copies it has the highest value.",
        published={
            "hanna": {
                "SUPERT-Golden": ("supert(use='golden', compat=True)", ""),
                "SUPERT-PS": ("supert(use='PS', compat=True)", ""),
                "SUPERT-SS": ("supert(compat=True)", ""),
            }
        },
    )

    model: str = "embedded('minilm')"
    use: Literal["SS", "PS", "golden"] = "SS"
    layer: Annotated[int, AtLeast(0)] = 6
    sentences: Annotated[int, AtLeast(1), Means("of the document")] = 15
    stop_words: Annotated[str, Means("'english', '' for none, or a file of words")] = "english"

    def check(self) -> None:
        """Spell the model in full and read the stop words: what cannot be read is refused."""
        super().check()
        _ = self._left_out

    def traits(self) -> dict[str, str]:
        """The model's signature and the stop words' digest."""
        return super().traits() | {"stop": stop_words_digest(self._left_out)}

    @property
    def needs(self) -> tuple[Need, ...]:
        """What plays the document or the summary beside the story."""
        return ("reference",) if self.use == "golden" else ("prompt",)

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Encode every different sentence once, then match story by story."""
        roles = [self._roles(story) for story in stories]
        parts = (
            part for pairs in roles for pair in pairs for part in (pair.summary, pair.document)
        )
        texts = list(dict.fromkeys(sentence for part in parts for sentence in part))
        states = self.model_as(Embedder).states(texts, [self.layer])
        content = {
            text: self._content(text, token_states)
            for text, token_states in zip(texts, states, strict=True)
        }
        return [self.best(self._match(pair, content) for pair in pairs) for pairs in roles]

    @cached_property
    def _left_out(self) -> frozenset[str]:
        return stop_words(self.stop_words)

    def _roles(self, story: Story) -> list[_Roles]:
        text, prompt = split_sentences(story.text), split_sentences(story.prompt or "")
        if self.use == "PS":
            document = text[: self.sentences]
            return [_Roles(prompt, document, sum(map(len, document)) / sum(map(len, text)))]
        if self.use == "SS":
            return [_Roles(text, prompt[: self.sentences])]
        references = [split_sentences(reference) for reference in story.nonblank_references]
        return [_Roles(text, reference[: self.sentences]) for reference in references]

    def _content(self, sentence: str, states: TokenStates) -> _Content:
        """Unit vectors of the tokens that count."""
        named = enumerate(zip(states.tokens, states.spans, strict=True))
        kept = [
            number
            for number, (token, span) in named
            if span[1] > span[0] and not self._stops(sentence, token, span)
        ]
        vectors = states.states[0][kept]
        lengths = np.sqrt(np.einsum("th,th->t", vectors, vectors))[:, None]
        return _Content(vectors / np.maximum(lengths, 1e-12), states.coverage)

    def _stops(self, sentence: str, token: str, span: Span) -> bool:
        """Whether a token is a stop word, and by default no piece of a longer word."""
        if self.compat:
            return token.lower() in self._left_out
        word = sentence[span[0] : span[1]].strip().lower()
        return word in self._left_out and not any(_goes_on(sentence, place) for place in span)

    def _match(self, roles: _Roles, content: dict[str, _Content]) -> Reading:
        summary = [content[sentence] for sentence in roles.summary]
        document = [content[sentence] for sentence in roles.document]
        counts = [sum(len(part.vectors) for part in side) for side in (summary, document)]
        if not all(counts):
            note = "there is nothing but stop words in one of the texts"
            return self.missing(Status.UNDEFINED, note)
        if note := excess(*counts):
            return self.missing(Status.TOO_LONG, note)
        left, right = (
            np.concatenate([part.vectors for part in side]) for side in (summary, document)
        )
        precision, recall = (float(cosines.mean()) for cosines in largest_cosines(left, right))
        # Of means that differ in their sign there is no harmonic one.
        f = 2 * precision * recall / (precision + recall) if precision * recall > 0 else 0.0
        read = min(part.coverage for part in (*summary, *document))
        return Reading((f,), coverage=roles.coverage * read)


@dataclass(frozen=True)
class _Roles:
    """Sentences of what plays the summary and of the document, and the share of the story read."""

    summary: list[str]
    document: list[str]
    coverage: float = 1.0


@dataclass(frozen=True)
class _Content:
    """Vectors of length one, and how much of the sentence was read."""

    vectors: Array
    coverage: float


def _goes_on(sentence: str, place: int) -> bool:
    """Whether a word goes on across a place between two characters."""
    return 0 < place < len(sentence) and sentence[place - 1 : place + 1].isalnum()
