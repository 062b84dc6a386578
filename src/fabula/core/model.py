"""What models do for metrics: small protocols, and what comes back from them.

A backend offers one or more of them. Texts go in whole: a model with a bounded window reads long
texts by overlapping windows and says in `coverage` which share of the text it has read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

Span = tuple[int, int]
Box = tuple[float, float, float, float]


class ParsedWord(NamedTuple):
    """A word of a sentence as a parser reads it.

    `tag` is the Penn Treebank's (NN, NNS, VBD), `relation` the parser's name for what ties the
    word to that in place `head` of the sentence (its own place: the root); `start` and `stop` are
    characters of the text.
    """

    text: str
    lemma: str
    tag: str
    relation: str
    head: int
    start: int
    stop: int


ParsedSentence = tuple[ParsedWord, ...]


@dataclass(frozen=True)
class TokenStates:
    """A vector for every token of a text, by layer.

    `spans` are the characters that a token stands for; a token that the model added (a beginning,
    an end) stands for none: (0, 0). `states` are layers × tokens × width. A text without a token
    has no added ones either.
    """

    tokens: tuple[str, ...]
    spans: tuple[Span, ...]
    states: Array
    coverage: float = 1.0


@dataclass(frozen=True)
class TokenLogs:
    """The natural logarithm of the probability of every token, given what it was given.

    Tokens that the model added are left out. The log of a token that nothing stands before is NaN
    where the model has no sign for a beginning. `entropies` are those of the model's guesses at
    each token, in nats, where it gives them; `added` the logs of the signs that a tokeniser puts
    round a text, where a model was trained to write them.
    """

    tokens: tuple[str, ...]
    spans: tuple[Span, ...]
    logs: Array
    entropies: Array | None = None
    coverage: float = 1.0
    added: tuple[float, ...] = ()


@dataclass(frozen=True)
class MeanGuess:
    """What a model guesses on average at the gaps of a text: a probability for every token."""

    probabilities: Array
    coverage: float = 1.0


@dataclass(frozen=True)
class Answer:
    """The part of a text that answers a question, and how sure the model is of it."""

    text: str
    probability: float
    coverage: float = 1.0


@dataclass(frozen=True)
class TokenCount:
    """How many tokens a text has, and how many of them stand for what the model does not know."""

    tokens: int
    unknown: int

    @property
    def known(self) -> float:
        """Share of the tokens that are known; of no token all."""
        return (self.tokens - self.unknown) / self.tokens if self.tokens else 1.0


@dataclass(frozen=True)
class Picture:
    """A picture as one sees it: upright, in red, green and blue of eight bits.

    `pixels` are rows × columns × 3. `width` and `height` are those of the file, which boxes go by:
    of a large picture fewer pixels are kept. `digest` is the SHA-256 of the file, `notes` say what
    was left out of it.
    """

    name: str
    width: int
    height: int
    digest: str
    pixels: Array = field(repr=False, compare=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Region:
    """A part of a picture: left, top, width and height in its pixels, and what it shows.

    The label is empty, and the confidence NaN, where nobody says them.
    """

    box: Box
    label: str = ""
    confidence: float = math.nan


class Model(Protocol):
    """What every model says of itself."""

    @property
    def signature(self) -> str:
        """What its values depend on: backend, name, revision or digest, dtype, window."""
        ...


@runtime_checkable
class Tokeniser(Model, Protocol):
    """Cuts texts into the tokens that it reads."""

    def tokens(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Give the tokens of every text, without those that the model adds."""
        ...


@runtime_checkable
class CountsUnknown(Model, Protocol):
    """Has one sign for all that its vocabulary lacks, and says how much of a text that is."""

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and the unknown ones; nothing where all are known."""
        ...


@runtime_checkable
class Embedder(Tokeniser, Protocol):
    """Gives texts as vectors."""

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        ...

    @property
    def layers(self) -> int:
        """How many layers there are to choose from: 0 (the embedding of the words) to one less."""
        ...

    def states(self, texts: Sequence[str], layers: Sequence[int]) -> Iterator[TokenStates]:
        """Give the states of every text, in order, at the layers asked for."""
        ...

    def vectors(self, texts: Sequence[str]) -> Array:
        """Give one vector a text, of length one; NaN for a text without a token: (texts, width)."""
        ...


@runtime_checkable
class Truncating(Model, Protocol):
    """Cuts texts to so many tokens, for those who have to."""

    def truncate(self, texts: Sequence[str], count: int) -> list[str]:
        """Give the beginnings of texts that make so many tokens, added ones counted."""
        ...


@runtime_checkable
class Prefetching(Model, Protocol):
    """Can be told ahead which layers will be asked for, and gives them all in one pass."""

    def expect(self, layers: Sequence[int]) -> None:
        """Keep these layers of every text that is read from now on; forget earlier wishes."""
        ...


@runtime_checkable
class Likelihood(Model, Protocol):
    """Says how likely a text is, token by token, from left to right."""

    def logs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[TokenLogs]:
        """Give the logs of every second text given the first, which may be empty."""
        ...


@runtime_checkable
class MaskedLikelihood(Model, Protocol):
    """Says how likely every token of a text is, given all the others."""

    def masked_logs(self, texts: Sequence[str]) -> Iterator[TokenLogs]:
        """Give logs and entropies of every text, each token masked in turn."""
        ...


@runtime_checkable
class GapFiller(Tokeniser, Protocol):
    """Guesses what stands in the gaps of a text. Tokens are spelled as the tokeniser spells them.

    `room` is how many tokens a row may have.
    """

    @property
    def room(self) -> int:
        """Tokens that are read at once, those that the model adds left out."""
        ...

    def fill(self, rows: Sequence[Sequence[str | None]]) -> list[tuple[str, ...]]:
        """Give the likeliest token for every gap (None) of every row, left to right."""
        ...

    def mean_guesses(
        self, texts: Sequence[str], weights: Sequence[Sequence[float]], *, temperature: float = 1.0
    ) -> Iterator[MeanGuess]:
        """Mask every token in turn; give the mean of the guesses by the tokens' weights.

        Tokens without weight are not asked about; where none has any, all is NaN.
        """
        ...


@runtime_checkable
class WordVectors(Model, Protocol):
    """Gives words as vectors, each the same wherever it stands."""

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        ...

    def rows(self, words: Sequence[str]) -> Array:
        """Give a vector for every word, NaN for one that is not known: (words, width)."""
        ...


@runtime_checkable
class Answerer(Model, Protocol):
    """Answers questions on a text with a part of it."""

    def answers(self, pairs: Sequence[tuple[str, str]], *, apart: bool = False) -> Iterator[Answer]:
        """Answer every question from the text beside it; an empty answer is none.

        With `apart` the first window alone is read, and the first and the last token of an answer
        are chosen each by itself.
        """
        ...


@runtime_checkable
class Detector(Model, Protocol):
    """Finds things in pictures."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What it knows; nothing where the labels are anybody's."""
        ...

    def detect(self, pictures: Sequence[Picture], *, most: int = 10) -> list[list[Region]]:
        """Give the regions of every picture that it is surest of, best first."""
        ...


@runtime_checkable
class ImageEncoder(Model, Protocol):
    """Gives pictures, or parts of them, as vectors."""

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        ...

    def encode(self, crops: Sequence[Array]) -> Array:
        """Give one vector a crop (rows × columns × 3, bytes), as it comes: (crops, width)."""
        ...


@runtime_checkable
class JointEncoder(ImageEncoder, Protocol):
    """Gives pictures and words as vectors of one space, as CLIP does."""

    def encode_texts(self, texts: Sequence[str]) -> Array:
        """Give one vector a text, to compare with those of crops: (texts, width)."""
        ...


@runtime_checkable
class ImageClassifier(Model, Protocol):
    """Says which of the classes it knows a picture, or a part of one, shows."""

    @property
    def classes(self) -> tuple[str, ...]:
        """What it knows, in words: `cup`, or `tench, Tinca tinca`."""
        ...

    def classify(self, crops: Sequence[Array]) -> Array:
        """Give the probability of every class: (crops, classes)."""
        ...


@runtime_checkable
class Generator(Model, Protocol):
    """Writes on."""

    def generate(
        self,
        prompts: Sequence[str],
        *,
        max_tokens: int = 128,
        temperature: float = 0.8,
        top_p: float = 0.95,
        stop: Sequence[str] = (),
        seed: int = 0,
    ) -> list[str]:
        """Give what follows each prompt, without the prompt."""
        ...
