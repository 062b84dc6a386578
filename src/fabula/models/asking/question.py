"""What a language model is asked, and what came back: the shapes that judges and backends share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from fabula.models.servers.wire import Wish

Status = Literal["answered", "refused", "cut", "failed"]


@dataclass(frozen=True)
class Question:
    """One question to a model; `key` names it among those that are asked together.

    `choices` are answers whose probabilities are wanted, where the model tells them: the numbers of
    a scale, A and B. `schema` is the JSON schema that an answer is to follow, where a server holds
    models to one; elsewhere the prompt alone asks for it.
    """

    key: str
    prompt: str
    system: str = ""
    wish: Wish = field(default_factory=lambda: Wish(max_tokens=512, temperature=0.0, top_p=1.0))
    choices: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Response:
    """What came of a question. Nothing is guessed: what a server did not tell is None or empty.

    `probabilities` are those of the question's choices at the place where one of them was written,
    as far as they were told; they need not sum to one. `model` is what the server says answered.
    `cut` is an answer that ended at its token limit, `failed` has a `problem`.
    """

    key: str
    text: str = ""
    status: Status = "answered"
    problem: str = ""
    probabilities: Mapping[str, float] = field(default_factory=dict)
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    model: str = ""


class Respondent(Protocol):
    """A language model that answers questions, many side by side where it can.

    Responses come as they are ready, in any order; each question has exactly one. What may pass
    (a limit, a lost connection) is tried again inside; what does not is a response that failed.
    """

    @property
    def signature(self) -> str:
        """Backend, model and what else changes an answer; no address and no key."""
        ...

    @property
    def window(self) -> int | None:
        """How many tokens question and answer may have together, where it is known."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has, or an estimate where only the server knows."""
        ...

    def ask(self, questions: Iterable[Question]) -> Iterator[Response]:
        """Ask; questions are taken as there is room for them."""
        ...
