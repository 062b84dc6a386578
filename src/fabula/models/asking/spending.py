"""What asking costs: prices, what has been spent, and a budget that is not passed.

Costs are counted of tokens, as servers count them, not added up of rounded sums. A budget reckons
with the worst: what is being asked may cost all that it can, and so may what came to nothing after
it was sent. Whoever asks inside `with open_account(budget=2.5) as account:` is on that account,
however deep it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from fabula.core.errors import SettingError, UserError
from fabula.core.story import count_text
from fabula.models.asking.question import CostEstimate, Response

_MILLION = 1e6


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, read and written; None where nobody says."""

    read: float | None = None
    written: float | None = None

    @property
    def are_known(self) -> bool:
        """Whether costs can be told."""
        return self.read is not None and self.written is not None

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """Cost of tokens; what was not counted, or has no price, leaves it unknown."""
        if self.read is None or self.written is None or tokens_in is None or tokens_out is None:
            return None
        return (tokens_in * self.read + tokens_out * self.written) / _MILLION


@dataclass(eq=False)
class Account:
    """What was spent, and what may be.

    `reserved` is what questions that are being asked may cost at most, `risked` what tries without
    an answer, and answers without a count of tokens, may have cost: a question is asked only if
    all of that fits into the budget. With `is_dry` nothing is asked, and `estimate` says what would
    be; `foreseen` are the digests of the questions in it, which would be asked once.
    """

    budget: float | None = None
    is_dry: bool = False
    answered: int = 0
    recalled: int = 0
    refused: int = 0
    failed: int = 0
    unasked: int = 0
    uncounted: int = 0
    lost_tries: int = 0
    reserved: float = 0.0
    risked: float = 0.0
    estimate: CostEstimate = field(default_factory=CostEstimate)
    foreseen: set[str] = field(default_factory=set, repr=False)
    _tokens: Counter[tuple[Prices, bool]] = field(default_factory=Counter, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        """Refuse a budget that is none."""
        if self.budget is not None and not 0 <= self.budget < math.inf:
            raise SettingError(f"a budget of {self.budget} will not do", "give 0 or more")

    @property
    def tokens_in(self) -> int:
        """Tokens that were read for answers that came today."""
        return sum(count for (_, is_written), count in self._tokens.items() if not is_written)

    @property
    def tokens_out(self) -> int:
        """Tokens that were written."""
        return sum(count for (_, is_written), count in self._tokens.items() if is_written)

    @property
    def cost(self) -> float | None:
        """What the answers of today cost; None where a price or a count is missing."""
        is_known = all(prices.are_known for prices, _ in self._tokens) and not self.uncounted
        return self.spent if is_known else None

    @property
    def spent(self) -> float:
        """What is known to be spent."""
        return math.fsum(
            count * (prices.written if is_written else prices.read) / _MILLION  # type: ignore[operator]
            for (prices, is_written), count in self._tokens.items()
            if prices.are_known
        )

    @property
    def is_used_up(self) -> bool:
        """Whether questions were left unasked for want of money."""
        return self.unasked > 0

    def reserve(self, most: float | None) -> bool:
        """Put aside what a question may cost at most, if that is left."""
        with self._lock:
            if self.budget is not None:
                if most is None:
                    raise SettingError(
                        "a budget needs prices", "give price_in and price_out in the model's spec"
                    )
                if self.spent + self.risked + self.reserved + most > self.budget:
                    return False
            self.reserved += most or 0.0
            return True

    def settle(self, most: float | None, prices: Prices, response: Response) -> None:
        """Take in what came of a question instead of what was put aside for it."""
        with self._lock:
            self.reserved = max(self.reserved - (most or 0.0), 0.0)
            if response.status == "failed":
                self.failed += 1
                return
            self.answered += 1
            self.refused += response.status == "refused"
            if response.tokens_in is None or response.tokens_out is None:
                self.uncounted += 1
                self.risked += most or 0.0
            self._tokens[prices, False] += response.tokens_in or 0
            self._tokens[prices, True] += response.tokens_out or 0

    def add_recalled(self) -> None:
        """Count an answer from before."""
        with self._lock:
            self.recalled += 1

    def add_lost_try(self, most: float | None) -> None:
        """Count a try of which no answer came, and what a server may charge for it at most."""
        with self._lock:
            self.lost_tries += 1
            self.risked += most or 0.0


def need_all_asked(made: str) -> None:
    """Refuse to go on where money ran out: `made` of some of the answers would mislead."""
    opened = account.get()
    if opened is not None and opened.is_used_up:
        left = count_text(opened.unasked, "question")
        raise UserError(
            f"a budget of {opened.budget:g} does not suffice, {left} not asked: no {made}",
            "give a larger one: what was answered is not asked again",
        )


account: ContextVar[Account | None] = ContextVar("account", default=None)


@contextmanager
def open_account(budget: float | None = None, *, is_dry: bool = False) -> Iterator[Account]:
    """Let all that is asked inside go on one account."""
    opened = Account(budget, is_dry)
    token = account.set(opened)
    try:
        yield opened
    finally:
        account.reset(token)
