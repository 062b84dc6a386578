"""A respondent: what was answered before is not asked again, and no more is asked than is paid for.

Whatever answers (a server, a batch on one, a model in this process) is a `Backend`, and takes its
questions from a `Feed`, which knows the journal and the account.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Protocol

from fabula.models.asking.journal import Journal
from fabula.models.asking.question import CostEstimate, Question, Response
from fabula.models.asking.spending import Account, Prices, account
from fabula.models.servers.http import TryAgain

# Tokens by which servers set the turns of a conversation off from one another.
_TURNS = 16
# What servers may say to a model beside the question at most, and to hold it to a schema.
_MOST_TURNS = 64
_MOST_SCHEMA_WORDS = 512


class Backend(Protocol):
    """What answers questions; `place` tells servers apart whose models have one name."""

    @property
    def signature(self) -> str:
        """Backend, model and what else changes an answer; no address and no key."""
        ...

    @property
    def place(self) -> str:
        """Where it is, where that matters."""
        ...

    @property
    def window(self) -> int | None:
        """How many tokens question and answer may have together, where it is known."""
        ...

    @property
    def prices(self) -> Prices:
        """What tokens cost."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has, or an estimate where only the server knows."""
        ...

    def answer(self, feed: Feed) -> Iterator[Response]:
        """Answer all questions of a feed, in any order; each is given to `feed.keep` when it is
        there, by any thread, before it is given out."""
        ...


@dataclass(eq=False)
class Feed:
    """Questions for a backend: each is asked once, though several ask it, under its digest."""

    backend: Backend
    journal: Journal
    account: Account
    _questions: Iterator[Question]
    recalled: list[Response] = field(default_factory=list)
    # The question that there is no money for, unless that of others is given back.
    _waiting: tuple[str, Question] | None = None
    _asked: dict[str, list[str]] = field(default_factory=dict)
    _reserved: dict[str, tuple[Question, float | None]] = field(default_factory=dict)
    # By how many tokens the server has passed what was thought to be the most.
    excess: int = 0
    _lock: Any = field(default_factory=Lock)

    def take(self) -> Question | None:
        """Give the next question, if there is one and it can be paid for now."""
        while (found := self._waiting or self._find_next()) is not None:
            digest, question = found
            most = self.most_cost(question)
            if not self.account.reserve(most):
                self._waiting = found
                return None
            self._waiting = None
            with self._lock:
                self._asked[digest] = [question.key]
                self._reserved[digest] = question, most
            return replace(question, key=digest)
        return None

    def _find_next(self) -> tuple[str, Question] | None:
        """Go on to a question that nobody has answered and nobody is asking."""
        for question in self._questions:
            digest = question.digest(self.backend.signature)
            with self._lock:
                if digest in self._asked:
                    self._asked[digest].append(question.key)
                    continue
            if (known := self.journal.find(digest)) is not None:
                self.account.add_recalled()
                self.recalled.append(replace(known, key=question.key))
                continue
            return digest, question
        return None

    def most_cost(self, question: Question) -> float | None:
        """What a question may cost at most."""
        return self.backend.prices.cost(self._count_most(question), question.wish.max_tokens)

    def _count_most(self, question: Question) -> int:
        """Give how many tokens a server may count for a question at most.

        No tokeniser makes more of a text than it has bytes; what a server says of its own to the
        model is learned where it is more than usual.
        """
        schema = "" if question.schema is None else json.dumps(dict(question.schema))
        size = len((question.system + question.prompt + schema).encode(errors="replace"))
        return size + _MOST_TURNS + (_MOST_SCHEMA_WORDS if schema else 0) + self.excess

    def count_tokens(self, question: Question) -> int:
        """How many tokens are read for a question."""
        return self.backend.count_tokens(question.system + question.prompt) + _TURNS

    def lose_try(self, question: Question, failed: TryAgain) -> None:
        """Take in that a try came to nothing; who has answered with an error asks no money."""
        _, most = self._reserved[question.key]
        is_charged = failed.status is None and failed.is_sent
        self.account.add_lost_try(most if is_charged else 0.0)

    def keep(self, response: Response) -> None:
        """Take in a response, which has the digest of its question for a key."""
        question, most = self._reserved[response.key]
        self.journal.add(response.key, response)
        self.account.settle(most, self.backend.prices, response)
        if response.tokens_in:
            with self._lock:
                self.excess += max(response.tokens_in - self._count_most(question), 0)

    def give_out(self, response: Response) -> list[Response]:
        """Give a response to all who asked; those who ask later find it in the journal."""
        with self._lock:
            self._reserved.pop(response.key, None)
            first, *others = self._asked.pop(response.key)
        copies = [replace(response, key=key, is_recalled=True) for key in others]
        return [replace(response, key=first), *copies]

    def refuse_others(self) -> Iterator[Response]:
        """Say of every question that is left that there is no money for it."""
        left = [self._waiting] if self._waiting else []
        self._waiting = None
        while left or (left := [each for each in [self._find_next()] if each]):
            _, question = left.pop()
            self.account.unasked += 1
            spent, budget = self.account.spent, self.account.budget
            most = self.most_cost(question) or 0.0
            yield Response(
                question.key,
                status="failed",
                problem=f"not asked: {spent:.4g} of a budget of {budget:g} is spent, and this may "
                f"cost {most:.4g}",
            )


@dataclass(eq=False)
class Interview:
    """A respondent on a backend and a journal.

    The account is that of `open_account`, else one of its own; `account` is that of the last time.
    """

    backend: Backend
    journal: Journal
    account: Account = field(default_factory=Account)
    _excess: int = 0

    @property
    def signature(self) -> str:
        """Backend, model and what else changes an answer; no address and no key."""
        return self.backend.signature

    @property
    def window(self) -> int | None:
        """How many tokens question and answer may have together, where it is known."""
        return self.backend.window

    def count_tokens(self, text: str) -> int:
        """How many tokens a text has, or an estimate where only the server knows."""
        return self.backend.count_tokens(text)

    def ask(self, questions: Iterable[Question]) -> Iterator[Response]:
        """Ask; questions are taken as there is room for them."""
        self.account = account.get() or self.account
        if self.account.is_dry:
            yield from self._look_only(questions)
            return
        self.journal.refresh()
        feed = Feed(self.backend, self.journal, self.account, iter(questions), excess=self._excess)
        for response in self.backend.answer(feed):
            self._excess = feed.excess
            yield from _empty(feed.recalled)
            yield from feed.give_out(response)
        for unasked in feed.refuse_others():
            yield from _empty(feed.recalled)
            yield unasked
        yield from _empty(feed.recalled)

    def estimate(self, questions: Iterable[Question]) -> CostEstimate:
        """Say what questions would take; none is asked."""
        return sum(self._estimate_each(questions, set()), CostEstimate())

    def _estimate_each(
        self, questions: Iterable[Question], seen: set[str]
    ) -> Iterator[CostEstimate]:
        """Say of each question what it would take, beside those that were `seen`."""
        self.journal.refresh()
        feed = Feed(self.backend, self.journal, Account(), iter(()), excess=self._excess)
        mean, prices = self.journal.mean_written, self.backend.prices
        for question in questions:
            digest = question.digest(self.signature)
            if digest in seen or self.journal.find(digest) is not None:
                yield CostEstimate(1, 1)
                continue
            seen.add(digest)
            read, most = feed.count_tokens(question), question.wish.max_tokens
            usual = None if mean is None else min(round(mean), most)
            cost = prices.cost(read, most if usual is None else usual)
            yield CostEstimate(1, 0, read, most, feed.most_cost(question), usual, cost)

    def _look_only(self, questions: Iterable[Question]) -> Iterator[Response]:
        listed = list(questions)
        for question, estimate in zip(
            listed, self._estimate_each(listed, self.account.foreseen), strict=True
        ):
            self.account.estimate += estimate
            yield Response(question.key, status="failed", problem="not asked: only estimated")


def _empty(responses: list[Response]) -> Iterator[Response]:
    while responses:
        yield responses.pop(0)
