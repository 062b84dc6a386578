"""What judges ask for: an estimate before anything is asked, and the bill when all is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fabula.cli import echo
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.models.asking.question import CostEstimate
    from fabula.models.asking.spending import Account


@contextmanager
def open_run_account(
    budget: float | None, *, is_dry: bool = False, quiet: bool = False
) -> Iterator[Account]:
    """Let all that is asked inside go on one account; say at the end what is on it.

    An estimate is what was asked for, and goes to stdout; a bill to stderr, also that of a run
    that was stopped.
    """
    from fabula.models.asking.spending import open_account

    with open_account(budget, is_dry=is_dry) as account:
        try:
            yield account
        finally:
            if is_dry:
                for line in describe_estimate(account.estimate):
                    echo(line)
            elif not quiet:
                for line in describe_bill(account):
                    echo(line, err=True)


def describe_estimate(estimate: CostEstimate) -> list[str]:
    """Say in lines what questions would take."""
    new = estimate.questions - estimate.recalled
    known = f"of which {estimate.recalled:,} were answered before or are asked twice"
    lines = [
        f"questions    {estimate.questions:,}, {known}",
        f"tokens read  about {estimate.tokens_in:,}",
    ]
    usual = "" if estimate.tokens_out is None or not new else f"about {estimate.tokens_out:,}, "
    lines.append(f"written      {usual}at most {estimate.tokens_out_most:,}")
    if estimate.cost_most is None:
        lines.append("cost         unknown: give price_in and price_out in the model's spec")
    else:
        about = f"about {estimate.cost:,.4f}, " if new and estimate.cost is not None else ""
        lines.append(f"cost         {about}at most {estimate.cost_most:,.4f}")
    return [*lines, "nothing was asked"]


def describe_bill(account: Account) -> list[str]:
    """Say in lines what was asked and what it cost; nothing where nothing was."""
    asked = account.answered + account.failed + account.unasked
    if not asked and not account.recalled:
        return []
    parts = [count_text(account.answered, "answer")]
    if account.recalled:
        parts.append(f"{account.recalled:,} from before")
    if account.refused:
        parts.append(f"{account.refused:,} refused")
    if account.failed:
        parts.append(f"{account.failed:,} failed")
    parts.append(f"{account.tokens_in:,} tokens read, {account.tokens_out:,} written")
    parts.append("cost unknown" if account.cost is None else f"cost {account.cost:,.4f}")
    lines = [f"judges: {', '.join(parts)}"]
    if account.unasked:
        left = count_text(account.unasked, "question")
        spent = f"the budget of {account.budget:g} does not suffice: {left} not asked"
        if account.risked:
            risked = f"{account.risked:,.4f}"
            lines.append(f"up to {risked} may have gone on tries that came to nothing")
        lines.append(f"{spent}; the same command with a larger one goes on from there")
    return lines
