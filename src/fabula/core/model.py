"""What models do for metrics: four small protocols, and what comes back from them.

A backend offers one or more of them. Texts go in whole: a model with a bounded window reads long
texts by overlapping windows and says in `coverage` which share of the text it has read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

Span = tuple[int, int]


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
    each token, in nats, where it gives them.
    """

    tokens: tuple[str, ...]
    spans: tuple[Span, ...]
    logs: Array
    entropies: Array | None = None
    coverage: float = 1.0


class Model(Protocol):
    """What every model says of itself."""

    @property
    def signature(self) -> str:
        """What its values depend on: backend, name, revision or digest, dtype, window."""
        ...


@runtime_checkable
class Embedder(Model, Protocol):
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
