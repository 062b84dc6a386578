"""What a language model is asked, and what came back: the shapes that judges and backends share."""

from __future__ import annotations

import hashlib
import json
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

    def digest(self, signature: str) -> str:
        """Give what an answer is kept by: who is asked, and all of the question but its key."""
        asked = [signature, self.system, self.prompt, vars(self.wish), self.choices, self.schema]
        words = json.dumps(asked, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(words.encode("ascii")).hexdigest()


@dataclass(frozen=True)
class Spot:
    """A place of an answer where a choice may stand, and how likely each choice was there.

    `start` is its place in the text in characters; `written` the choice that stands there, or ""
    at the beginning of an answer that began otherwise.
    """

    start: int
    written: str
    probabilities: Mapping[str, float]


@dataclass(frozen=True)
class Response:
    """What came of a question. Nothing is guessed: what a server did not tell is None or empty.

    `probabilities` are those of the question's choices at the place where one of them was written,
    as far as they were told; they need not sum to one. Where several were, it is the last that is
    no end of a scale (the 5 of `4/5`); `spots` are all of them, and the beginning of the answer,
    for those who know which place they mean. `model` is what the server says answered. `cut` is an
    answer that ended at its token limit, `failed` has a `problem`. `is_recalled` is an answer from
    before, which costs nothing today: `cost` is what it was.
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
    spots: tuple[Spot, ...] = ()
    is_recalled: bool = False


@dataclass(frozen=True)
class CostEstimate:
    """What questions would take, before any is asked.

    `recalled` were answered before and cost nothing; tokens and costs are those of the others.
    Written tokens are as many as answers may have at `most`; `tokens_out` is by the mean of the
    answers so far, where there are any, and `cost` by that or by the most. `cost_most` is what a
    budget has to have so that nothing is left unasked.
    """

    questions: int = 0
    recalled: int = 0
    tokens_in: int = 0
    tokens_out_most: int = 0
    cost_most: float | None = 0.0
    tokens_out: int | None = 0
    cost: float | None = 0.0

    def __add__(self, other: CostEstimate) -> CostEstimate:
        """Take both together; what one of them does not know is not known."""
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        sums: list[Any] = [None if None in pair else sum(pair) for pair in pairs]
        return CostEstimate(*sums)


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

    def estimate(self, questions: Iterable[Question]) -> CostEstimate:
        """Say what questions would take; none is asked."""
        ...
